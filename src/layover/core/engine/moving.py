"""The decision to go on by another version of the workflow, and what that would mean: both by the same rules.

An execution can be moved if it would stand at a place of the other version that it could have come to: each node at
work has a counterpart of the same kind, and nothing that was reached comes behind something that was not. A node that
asks people by another form asks again. Everything else that waits goes on waiting: a timer keeps its moment, a child
its execution, a callback its token. Calls must have come to their end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import asdict

from layover.core.context_ids import context_id
from layover.core.definitions.node_types import AskingNode
from layover.core.engine import events as ev
from layover.core.engine.node_transitions import container_of, is_settled
from layover.core.engine.rewind import give_up
from layover.core.engine.version_map import carried_nodes, follows, scope_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from layover.core.definitions.model import Node
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState, NodeState
    from layover.core.engine.version_map import ScopePair
    from layover.core.plan import Plan, PlannedNode

MoveKind: TypeAlias = Literal[
    "same",  # what it waits for is as it was
    "changed",  # what it waits for has changed: people are asked again, by the new form
    "moved",  # what it waits for is at another place
    "gone",  # what it waits for is not there any more
]
MoveRefusal: TypeAlias = Literal[
    "", "same_version", "node_gone", "node_running", "order_changed", "container_changed", "scope_halted"
]

# Nothing of these changes what a node does.
_BESIDE: Final = frozenset({"id", "label", "description", "join", "position", "extra", "body", "branches"})


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """What another version would mean to an execution as it is; with a `code` it cannot be moved there.

    `nodes` are those at work, by their old context ids; the other ones are by the new.
    """

    kind: MoveKind = "same"
    code: MoveRefusal = ""
    reason: str = ""
    nodes: tuple[str, ...] = ()
    asked_again: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()


def outlook(state: ExecutionState, plan: Plan, names: Mapping[str, str]) -> Outlook:
    """Return what a version would mean to an open execution; nothing changes."""
    at_work = sorted(name for name, node in state.nodes.rows.items() if _is_at_work(node))
    found = Outlook(nodes=tuple(at_work))
    if plan.hash == state.facts.hash:
        return _refused(found, "same", "same_version", "It runs this version already.")
    pairs = scope_pairs(state, plan, names)
    for name in at_work:
        refused = _lost(state, pairs, name)
        if refused:
            return _refused(found, "gone", *refused)
    found = msgspec.structs.replace(found, kind=_kind(state, pairs, at_work))
    if state.halted.rows:
        inside = container_of(min(state.halted.rows))
        reason = f"A round or branch of `{inside}` has failed and is kept for a retry: retry it, or let it settle."
        return _refused(found, found.kind, "scope_halted", reason)
    if state.counts["calls"]:
        return _refused(found, found.kind, "node_running", "A call is out: try again when it has come to its end.")
    passed: list[str] = []
    for pair in pairs.values():
        order = _order_changed(state, pair, passed)
        if order:
            return _refused(found, "moved", "order_changed", order)
    return msgspec.structs.replace(
        found,
        asked_again=tuple(_asked_again(state, pairs, at_work)),
        ready=tuple(_ready(state, pairs, passed)),
        passed=tuple(sorted(passed)),
    )


def move(context: DecisionContext, command: cmd.Move) -> bool:
    """Decide a move; false if it cannot be made."""
    state = context.state
    plan = state.versions.get(command.hash)
    if plan is None:
        return False
    found = outlook(state, plan, command.names)
    if found.code:
        return False
    pairs = scope_pairs(state, plan, command.names)
    for name in found.nodes:
        id_, _, path = name.partition(":")
        if pairs[path].renamed(id_) in found.asked_again:
            give_up(context, state.points[state.node(name).point], _because(command), command.by)
    context.emit(
        ev.ExecutionMoved(
            hash=plan.hash,
            before=state.facts.hash,
            version=command.version,
            names=command.names,
            again=found.asked_again,
            ready=found.ready,
            passed=found.passed,
            reason=command.reason,
            by=command.by,
            key=command.key,
        )
    )
    return True


def _because(command: cmd.Move) -> str:
    return command.reason or f"moved to version {command.version}"


def _refused(found: Outlook, kind: MoveKind, code: MoveRefusal, reason: str) -> Outlook:
    return msgspec.structs.replace(found, kind=kind, code=code, reason=reason)


def _is_at_work(node: NodeState) -> bool:
    return node.status != "idle" and not is_settled(node)


def _is_reached(node: NodeState) -> bool:
    return node.status not in ("idle", "skipped")


def _counterpart(pair: ScopePair, id_: str) -> PlannedNode | None:
    name = pair.names.get(id_)
    return pair.new.by_id[name] if pair.new is not None and name is not None else None


def _lost(state: ExecutionState, pairs: Mapping[str, ScopePair], name: str) -> tuple[MoveRefusal, str] | None:
    """Return why a node at work has no place in the other version."""
    id_, _, path = name.partition(":")
    old, new = state.planned(name), _counterpart(pairs[path], id_)
    if new is None:
        return "node_gone", f"It is at `{name}`, and the other version has no such node: map it to one that it has."
    if type(new.node) is not type(old.node) or new.role != old.role:
        text = f"It is at `{name}`, a node of type `{old.node.type}`; `{new.id}` is of type `{new.node.type}` there."
        return "node_gone", text
    if old.bodies and (list(old.bodies) != list(new.bodies) or _differ(old.node, new.node)):
        return "container_changed", f"It is within `{name}`, whose branches or rounds are others in that version."
    return None


def _differ(old: Node, new: Node) -> bool:
    """Return whether two nodes do something else, apart from what is inside them."""
    before, after = asdict(old), asdict(new)
    return any(before[name] != after[name] for name in before.keys() - _BESIDE)


def _kind(state: ExecutionState, pairs: Mapping[str, ScopePair], at_work: list[str]) -> MoveKind:
    kind: MoveKind = "same"
    for name in at_work:
        id_, _, path = name.partition(":")
        pair = pairs[path]
        if pair.renamed(id_) != name:
            return "moved"
        new = _counterpart(pair, id_)
        if new is not None and not new.bodies and _differ(state.planned(name).node, new.node):
            kind = "changed"
    return kind


def _asked_again(state: ExecutionState, pairs: Mapping[str, ScopePair], at_work: list[str]) -> Iterator[str]:
    """Return the nodes that ask people by another form than the one that is shown now."""
    for name in at_work:
        id_, _, path = name.partition(":")
        old, new, point = state.planned(name).node, _counterpart(pairs[path], id_), state.node(name).point
        asks = isinstance(old, AskingNode) and point in state.points and state.points[point].status == "open"
        if asks and new is not None and _differ(old, new.node):
            yield context_id(pairs[path].new_path, new.id)


def _order_changed(state: ExecutionState, pair: ScopePair, passed: list[str]) -> str:
    """Return what was reached too early for the other version, if something was; note new nodes that are passed by."""
    graph = pair.new
    if graph is None:
        return ""
    carried = {one.planned.index: one for one in carried_nodes(pair, state.nodes.rows, ())}
    for one in carried.values():
        if one.before is None or not _is_reached(one.node):
            continue
        before = {pair.old.nodes[index].id for index in pair.old.by_id[one.before].sources}
        ahead, seen = [(one.planned, True)], {one.planned.index}
        for planned, is_own in ahead:  # grows while it is walked
            for index in planned.sources:
                source = carried[index]
                if source.before is None:
                    name = context_id(pair.new_path, source.planned.id)
                    if source.node.status != "skipped" and name not in passed:
                        passed.append(name)
                    if index not in seen:
                        seen.add(index)
                        ahead.append((source.planned, False))
                elif not is_settled(source.node) and not (is_own and source.before in before):
                    return (
                        f"`{one.before}` has been reached, and is behind `{source.before}` there, which has not ended."
                    )
    return ""


def _ready(state: ExecutionState, pairs: Mapping[str, ScopePair], passed: list[str]) -> Iterator[str]:
    """Return the nodes that follow what was done, and that nothing has reached so far."""
    for pair in pairs.values():
        if pair.new is None:
            continue
        for planned, _, node in carried_nodes(pair, state.nodes.rows, passed):
            if follows(pair.new, planned, node):
                yield context_id(pair.new_path, planned.id)
