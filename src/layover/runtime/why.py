"""Why an execution stands still: what it waits for, since when, until when, and who can do something about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import Execution, NodeState, Point
    from layover.ports.records import Head

_WORTH_TELLING = 2


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is waited for."""

    kind: str
    text: str
    context_id: str = ""
    until: int | None = None
    execution: str = ""


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, and a sentence."""

    summary: str
    reasons: tuple[Reason, ...] = ()


def why(head: Head, state: Execution, now: int, can_run: Callable[[str], bool] = bool) -> Why:
    """Explain what an execution is waiting for."""
    facts = state.facts
    if facts.closed:
        return Why(summary=f"It is {facts.closed}: nothing is waited for.")
    reasons = [
        *_of_operator(state),
        *_of_instances(head),
        *_of_commands(head),
        *_of_nodes(head, state, now, can_run),
        *_of_points(state),
    ]
    if not reasons:
        return Why(summary="It is about to go on.")
    first = reasons[0].text
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return Why(summary=f"{first}{more}", reasons=tuple(reasons))


def _of_operator(state: Execution) -> list[Reason]:
    facts = state.facts
    if facts.gate == "open":
        return []
    longest = state.plan.definition.settings.max_pause
    until = facts.paused_at + longest if isinstance(longest, int) else None
    verb = "is being paused" if facts.gate == "pausing" else "was paused"
    return [Reason(kind="operator", text=f"It {verb}: {facts.paused_reason}", until=until)]


def _of_instances(head: Head) -> list[Reason]:
    if head.takeovers < _WORTH_TELLING:
        return []
    return [Reason(kind="takeovers", text=f"It lost {head.takeovers} instances in a row while it was driven.")]


def _of_commands(head: Head) -> list[Reason]:
    unread = head.commands_seq - head.commands_done
    if not unread:
        return []
    noun = "command waits" if unread == 1 else "commands wait"
    return [Reason(kind="commands", text=f"{unread} {noun} for the next step.")]


def _of_nodes(head: Head, state: Execution, now: int, can_run: Callable[[str], bool]) -> list[Reason]:
    found = []
    for name, node in sorted(state.nodes.rows.items()):
        type_ = state.planned(name).node.type
        if node.status == "queued" and not can_run(type_):
            text = f"`{name}` waits for an instance that has a function for `{type_}`; this one has none."
            found.append(Reason(kind="function", text=text, context_id=name))
            continue
        told = _of_node(head, state, name, node, now)
        if told is not None:
            found.append(told)
    return found


def _of_node(head: Head, state: Execution, name: str, node: NodeState, now: int) -> Reason | None:
    match node.status:
        case "running":
            if head.owner is None:
                return Reason(
                    kind="recovery", text=f"`{name}` had started when its instance was lost.", context_id=name
                )
            text = f"`{name}` is running on {head.owner} (attempt {node.attempt})."
            return Reason(kind="call", text=text, context_id=name, until=state.timers.get(name))
        case "queued" | "scheduled":
            return Reason(kind="place", text=f"`{name}` waits for a place to run.", context_id=name)
        case "backoff":
            until = state.timers.get(name)
            wait = f" in {max(0, until - now)} ms" if until is not None else ""
            text = f"`{name}` failed {node.failures} times and is tried again{wait}: {_message(node)}"
            return Reason(kind="retry", text=text, context_id=name, until=until)
        case "incident":
            text = f"`{name}` failed for good and waits for an operator: {_message(node)}"
            return Reason(kind="incident", text=text, context_id=name)
        case _:
            return None


def _message(node: NodeState) -> str:
    return node.error.message if node.error is not None else "no error was recorded"


def _of_points(state: Execution) -> list[Reason]:
    points = sorted(state.points.rows.values(), key=lambda point: (point.opened_at, point.id))
    return [
        Reason(
            kind=point.kind,
            text=_text_of(point),
            context_id=point.node,
            until=point.deadline,
            execution=point.child,
        )
        for point in points
    ]


def _text_of(point: Point) -> str:
    if point.status == "answered":
        return f"The answer to `{point.node}` waits for its turn."
    match point.kind:
        case "timer":
            return f"`{point.node}` waits for time to pass."
        case "approval" | "form":
            return f"`{point.node}` waits for {_people(point)}."
        case "signal":
            return f"`{point.node}` waits for a signal."
        case "callback":
            return f"`{point.node}` waits to be called back."
        case "child":
            return f"`{point.node}` waits for the execution {point.child}."


def _people(point: Point) -> str:
    rules = point.rules
    names = [*rules.users, *(f"role {role}" for role in rules.roles)] if rules is not None else []
    need = f"{rules.need} of " if rules is not None and rules.need > 1 else ""
    verb = "a decision" if point.kind == "approval" else "an answer"
    return f"{verb} by {need}{', '.join(names)}" if names else f"{verb} by anybody"
