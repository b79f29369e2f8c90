"""Explains why an execution waits: for what, since when, until when, and who can act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.definitions.durations import brief_duration
from layover.core.engine.in_doubt import CallPurpose, purpose_of
from layover.core.engine.signals import awaited_signals
from layover.core.engine.timing import wake_at
from layover.core.moments import Moment, moment
from layover.core.resume_waits import NO_END
from layover.model.executions import Why, WhyReason
from layover.runtime.execution.unknown_commands import kinds_in
from layover.runtime.queries.tracebacks import failed_child
from layover.runtime.results.failures import failure_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.core.engine.state import ExecutionState, NodeState, Point
    from layover.core.resume_waits import PauseEnd, ResumeWait
    from layover.errors import Failure
    from layover.ports.limit_records import Admission
    from layover.ports.records import Head, Liveness

MOST_REASONS = 100  # of one execution; the others are counted
_WORTH_TELLING = 2
_WORK_OF: Final[dict[CallPurpose, str]] = {"work": "", "probe": "The probe of ", "undo": "The undo of "}
_WAITING = frozenset({"queued", "running", "scheduled", "backoff", "incident"})


def why(  # noqa: PLR0913 - each is named where it is given
    head: Head,
    state: ExecutionState,
    now: int,
    *,
    admission: Admission | None = None,
    owner: Liveness | None = None,
    lacking: Callable[[str], str] | None = None,
    held_until: PauseEnd = NO_END,
) -> Why:
    """Explain what an execution is waiting for, as far as it knows itself; an owner that is not known lives.

    `lacking` says what calls of a node type wait for on the instance that would make them; nothing if it has no
    function for them. `held_until` is the end of the pause of its workflow, if that holds it.
    """
    facts = state.facts
    if facts.closed:
        return _of_end(state)
    names = sorted(name for name, node in state.nodes.rows.items() if node.status in _WAITING)
    points = sorted(state.points.rows.values(), key=lambda point: (point.opened_at, point.id))
    reasons = [
        *_of_operator(state, held_until),
        *_of_instances(head),
        *_of_commands(head, now),
        *_of_the_start(state, now, admission),
        *_of_nodes(names[:MOST_REASONS], head, state, now, owner, lacking),
        *map(reason_of, points[:MOST_REASONS]),
    ]
    left_out = max(len(names) - MOST_REASONS, 0) + max(len(points) - MOST_REASONS, 0)
    return summed_up(reasons[:MOST_REASONS], left_out + max(len(reasons) - MOST_REASONS, 0))


def _of_end(state: ExecutionState) -> Why:
    """Say that an execution waits for nothing, or what a failed one failed with."""
    facts = state.facts
    failure = failure_of(facts.error)
    if facts.closed != "failed" or failure is None:
        return Why(summary=f"It is {facts.closed} and waits for nothing.")
    where = f" at `{failure.context_id}` (attempt {failure.attempt})" if failure.context_id else ""
    text = f"It failed{where}: {failure.summary()}"
    reason = _reason(
        kind="failed",
        text=text,
        context_id=failure.context_id,
        execution=failed_child(state, failure.context_id) if failure.context_id else "",
        failure=failure,
    )
    return Why(summary=text, reasons=(reason,))


def summed_up(reasons: Sequence[WhyReason], left_out: int = 0) -> Why:
    """Return reasons with a sentence for all of them, which follows the first to where it comes from."""
    if not reasons:
        return Why(summary="It is about to go on.")
    first = reasons[0]
    told = [first.text]
    while first.because:
        first = first.because[0]
        told.append(first.text)
    others = len(reasons) - 1 + left_out
    more = f" (and {others} more)" if others else ""
    return Why(summary=f"{' '.join(told)}{more}", reasons=tuple(reasons), left_out=left_out)


def _reason(  # noqa: PLR0913 - each is a field of it
    *,
    kind: str,
    text: str,
    context_id: str = "",
    since: int | None = None,
    until: int | None = None,
    execution: str = "",
    point: str = "",
    failure: Failure | None = None,
) -> WhyReason:
    return WhyReason(
        kind=kind,
        text=text,
        context_id=context_id or None,
        since=Moment.maybe(since),
        until=Moment.maybe(until),
        execution=execution or None,
        point=point or None,
        failure=failure,
    )


def _of_operator(state: ExecutionState, held_until: PauseEnd) -> list[WhyReason]:
    facts = state.facts
    if facts.gate == "open":
        return []
    verb = "is being paused" if facts.gate == "pausing" else "was paused"
    text = f"It {verb}: {facts.paused_reason}"
    for goes_on, end in (("It goes on", facts.resume_end), ("The workflow goes on", held_until)):
        if end.at is not None:
            text = f"{text.rstrip('.')}. {goes_on} by itself at {moment(end.at)}."
        if end.on is not None:
            text = f"{text.rstrip('.')}. {goes_on} by itself when {signal_text(end.on)} arrives."
    until = [at for at in (wake_at(state), held_until.at) if at is not None]
    return [_reason(kind="operator", text=text, until=min(until, default=None))]


def signal_text(wait: ResumeWait) -> str:
    """Return which signal ends a pause, in words."""
    key = f" with the key `{wait.key}`" if wait.key else ""
    return f"the signal `{wait.signal}`{key}{' that passes its filter' if wait.filter else ''}"


def _of_instances(head: Head) -> list[WhyReason]:
    if head.takeovers < _WORTH_TELLING:
        return []
    return [_reason(kind="takeovers", text=f"It lost {head.takeovers} instances in a row while it was driven.")]


def _of_commands(head: Head, now: int) -> list[WhyReason]:
    kinds = kinds_in(head.missing)
    if kinds:
        text = f"It waits for an instance that understands the command `{kinds[0]}`: those that tried do not know it."
        until = head.wake_at if head.wake_at is not None and head.wake_at > now else None
        return [_reason(kind="command", text=text, since=head.missing_since, until=until)]
    unread = head.commands_seq - head.commands_done
    if not unread:
        return []
    noun = "command waits" if unread == 1 else "commands wait"
    return [_reason(kind="commands", text=f"{unread} {noun} for the next step.")]


def _of_the_start(state: ExecutionState, now: int, admission: Admission | None) -> list[WhyReason]:
    facts = state.facts
    if facts.started_at:
        return []
    is_delayed = facts.start_at is not None and facts.start_at > now
    if not facts.hold and not is_delayed and facts.gate != "open":
        return []  # it starts when it is released
    if not facts.hold or (admission is None and is_delayed):
        earliest = "" if facts.gate == "open" else " at the earliest"
        text = f"It starts at {moment(facts.start_at or facts.created_at)}{earliest}."
        return [_reason(kind="delay", text=text, since=facts.created_at, until=facts.start_at)]
    if admission is not None and admission.state == "waiting":
        holders = ", ".join(admission.holders)
        text = f"It is number {admission.position} in line for the limit `{admission.name}`, held by {holders}."
        return [_reason(kind="limit", text=text, since=facts.created_at, execution=(*admission.holders, "")[0])]
    if admission is not None and admission.state == "later":
        text = f"It may start later by the rate of `{admission.name}`."
        return [_reason(kind="rate", text=text, since=facts.created_at, until=admission.at)]
    text = "It is about to ask whether its limits let it start."
    return [_reason(kind="limit", text=text, since=facts.created_at, until=facts.start_at)]


def _of_nodes(
    names: Sequence[str],
    head: Head,
    state: ExecutionState,
    now: int,
    owner: Liveness | None,
    lacking: Callable[[str], str] | None,
) -> list[WhyReason]:
    found = []
    for name in names:
        node = state.node(name)
        if node.status == "queued":
            found.append(_of_queued(head, name, state.planned(name).calls, lacking))
            continue
        if node.status == "running":
            found.append(_of_call(head, state, name, now, owner))
            continue
        told = _of_node(state, name, node, now)
        if told is not None:
            found.append(told)
    return found


def _of_queued(head: Head, name: str, type_: str, lacking: Callable[[str], str] | None) -> WhyReason:
    lacks = lacking(type_) if lacking is not None else ""
    if type_ in head.missing and not lacks:
        text = f"`{name}` waits for an instance that has a function for `{type_}`."
        return _reason(kind="function", text=text, context_id=name, since=head.missing_since)
    return _reason(kind="place", text=f"`{name}` waits for {lacks or 'a place to run'}.", context_id=name)


def _of_call(head: Head, state: ExecutionState, name: str, now: int, owner: Liveness | None) -> WhyReason:
    if head.owner is None:
        return _reason(kind="recovery", text=f"`{name}` had started when its instance was lost.", context_id=name)
    lost = _loss(head, now, owner)
    if lost:
        is_over = head.wake_at is None or head.wake_at <= now
        when = "as soon as one looks for work" if is_over else f"at {moment(head.wake_at or now)} at the latest"
        text = f"`{name}` was running on {head.owner}, {lost}. Another instance takes it over {when}."
        return _reason(kind="recovery", text=text, context_id=name, until=head.wake_at)
    text = (
        f"{_WORK_OF[purpose_of(state, name)]}`{name}` is running on {head.owner} (attempt {state.node(name).attempt})."
    )
    return _reason(kind="call", text=text, context_id=name, until=state.timers.get(name))


def _loss(head: Head, now: int, owner: Liveness | None) -> str:
    """Return how it is known that the owner no longer drives an execution; nothing if it does."""
    if owner is None:
        return ""
    if not owner.alive:
        seen = owner.seen_at
        return "which is no longer running" if seen is None else f"which has not been heard of since {moment(seen)}"
    is_over = head.wake_at is not None and head.wake_at <= now
    return f"whose lease ended at {moment(head.wake_at or now)}" if is_over else ""


def _of_node(state: ExecutionState, name: str, node: NodeState, now: int) -> WhyReason | None:
    match node.status:
        case "scheduled":
            return _reason(kind="place", text=f"`{name}` waits for a place to run.", context_id=name)
        case "backoff":
            until = state.timers.get(name)
            wait = f" in {brief_duration(max(0, until - now))}" if until is not None else ""
            failures = attempts_failed(node)
            times = "once" if failures == 1 else f"{failures} times"
            what = f"{_WORK_OF[purpose_of(state, name)]}`{name}`"
            text = f"{what} failed {times} and is tried again{wait}: {_message(node)}"
            return _reason(kind="retry", text=text, context_id=name, until=until, failure=failure_of(node.error))
        case "incident":
            failure = failure_of(node.error)
            return _reason(kind="incident", text=incident_text(name, node), context_id=name, failure=failure)
        case _:
            return None


def attempts_failed(node: NodeState) -> int:
    """Return how many attempts of what is to be tried again have failed: of the call, or of the undo of a lost one."""
    return node.undo_failures or node.failures


def incident_text(name: str, node: NodeState) -> str:
    """Return what is to be said of a node that failed for good."""
    return f"`{name}` failed for good and waits for an operator: {_message(node)}"


def _message(node: NodeState) -> str:
    return node.error.message if node.error is not None else "no error was recorded"


def reason_of(point: Point) -> WhyReason:
    """Return what a point waits for."""
    return _reason(
        kind=point.kind,
        text=text_of(point),
        context_id=point.node,
        since=point.opened_at,
        until=point.final_at if point.is_revocable else point.deadline,
        execution=point.child,
        point=point.id,
    )


def text_of(point: Point) -> str:
    """Return what is to be said of a point."""
    if point.is_revocable:
        by = point.by or (point.decisions[-1].by if point.decisions else "")
        return f"The answer of {by or 'an unnamed user'} to `{point.node}` is applied at {moment(point.final_at)}; \
until then it can be taken back."
    if point.status == "answered":
        return f"The answer to `{point.node}` waits for its turn."
    match point.kind:
        case "timer":
            return f"`{point.node}` waits for time to pass."
        case "form" if point.doubt:
            return f"`{point.node}` waits for an operator, who says what became of its lost call{_problem(point)}."
        case "approval" | "form":
            return f"`{point.node}` waits for {_people(point)}{_failure(point)}."
        case "signal":
            return f"`{point.node}` waits for {_signals(point)}."
        case "callback":
            return f"`{point.node}` waits to be called back."
        case "delivery":
            return f"`{point.node}` waits until what it sends by {_destination(point)} is sent."
        case "child":
            return f"`{point.node}` waits for the execution {point.child}."


def _destination(point: Point) -> str:
    via = point.details.get("via")
    return f"`{via}`" if isinstance(via, str) else "a webhook"


def _problem(point: Point) -> str:
    """Return why an operator is asked about a lost call, if its probe or its undo gave a reason."""
    problem = point.details.get("problem")
    return f" ({problem.rstrip('.')})" if isinstance(problem, str) else ""


def _failure(point: Point) -> str:
    """Return why people are asked once more, if what followed their last answer failed."""
    failure = point.failure
    if failure is None:
        return ""
    message = failure.message.rstrip(".")
    return f", once more: after the last answer `{failure.context_id}` failed ({failure.code}: {message})"


def _signals(point: Point) -> str:
    wanted = [f"`{name}`{f' with key `{key}`' if key else ''}" for name, key in awaited_signals(point)]
    return f"the signal {wanted[0]}" if len(wanted) == 1 else f"signals: {', '.join(wanted)}"


def _people(point: Point) -> str:
    rules = point.rules
    names = [*rules.users, *(f"role {role}" for role in rules.roles)] if rules is not None else []
    need = f"{rules.need} of " if rules is not None and rules.need > 1 else ""
    verb = "a decision" if point.kind == "approval" else "an answer"
    return f"{verb} by {need}{', '.join(names)}" if names else f"{verb} by anybody"
