"""What a retry or a rewind would repeat, drop and supersede, as things stand: a plan, by which nothing changes.

The rules of the act itself are applied to the state, which is compared with what it was and then put back. So a plan
cannot disagree with the act. Only what the act does at once is compared: which nodes then follow depends on results
that are not there yet. One thing may end a scope at once: a call in it that was lost too often to be made again. What
is in that scope is then not repeated, and a result that stays until then is not dropped by the act.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.context_ids import context_id
from layover.core.definitions.node_types import ChildWorkflow, Send
from layover.core.engine.commands import Rewind
from layover.core.engine.decide import handle
from layover.core.engine.decision_context import DecisionContext
from layover.core.engine.events import ExecutionFailed, NodeRewound, PausePointCancelled, ScopeClosed
from layover.core.engine.evolve import evolve
from layover.core.engine.halting import has_rounds, is_given_up
from layover.core.engine.node_transitions import is_settled, scope_path

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from layover.core.engine.commands import Retry
    from layover.core.engine.events import AnyEvent, NodeStatus
    from layover.core.engine.state import ExecutionState, NodeState
    from layover.core.plan import PlannedNode

_NOT_REACHED: Final[frozenset[NodeStatus]] = frozenset({"idle", "skipped", "ready"})
_AT_ITS_BEGINNING: Final[frozenset[NodeStatus]] = frozenset({"idle", "ready", "queued", "scheduled", "running"})


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that are run again, results that are dropped, and open points that are superseded, by context id.

    The `calls` are the repeated nodes that had an effect outside before. A loop or parallel stands for all that was in
    rounds and branches that are done.
    """

    repeated: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


def repeats_of(
    state: ExecutionState, command: Retry | Rewind, now: int, called_before: Collection[str] = ()
) -> Repeats | None:
    """Return what a command would repeat; None if it would change nothing. The state stays as it was.

    Only the log knows the containers within which something was called, in rounds and branches that are done.
    """
    before, points = reached_nodes(state), dict(state.points.rows)
    calls = {name for name, node in before.items() if has_called(state, name, node)}
    context = DecisionContext(state, now)
    try:
        handle(context, command)
        if not context.events:
            return None
        act, rest = _split(command, context.events)
        again = {name for name, node in before.items() if _begins_again(state, name, node)}
        state.revert()
        for event in act:
            evolve(state, event, now)
        taken_back = {name for name, node in before.items() if _begins_again(state, name, node)}
        repeated = {name for name in again | taken_back if not _is_ended(name, rest)}
        cancelled = [event.point for event in context.events if isinstance(event, PausePointCancelled)]
        return Repeats(
            repeated=tuple(sorted(repeated)),
            dropped=tuple(sorted(name for name in taken_back if has_result(before[name]))),
            superseded=tuple(sorted(points[point].node for point in cancelled)),
            calls=tuple(sorted(calls.union(called_before).intersection(repeated))),
        )
    finally:
        state.revert()


def _split(command: Retry | Rewind, events: Sequence[AnyEvent]) -> tuple[Sequence[AnyEvent], Sequence[AnyEvent]]:
    """Return the events that take nodes back, and those of calls that were out when the execution was closed."""
    if not isinstance(command, Rewind):  # it keeps all results
        return (), events
    end = 1 + next(n for n, event in enumerate(events) if isinstance(event, NodeRewound))
    return events[:end], events[end:]


def _is_ended(name: str, events: Sequence[AnyEvent]) -> bool:
    """Return whether the execution was ended, or a scope around a node."""
    around = f"{name.partition(':')[2]}:"
    for event in events:
        match event:
            case ExecutionFailed():
                return True
            case ScopeClosed() if around.startswith(f"{scope_path(event.node, event.key)}:"):
                return True
            case _:
                pass
    return False


def reached_nodes(state: ExecutionState) -> dict[str, NodeState]:
    """Return the nodes that have been reached, those in halted scopes included."""
    found = dict(state.nodes.rows)
    for path, halted in state.halted.rows.items():
        found |= {context_id(path, id_): node for id_, node in halted.nodes.items()}
    return {name: node for name, node in found.items() if node.status not in _NOT_REACHED}


def has_called(state: ExecutionState, name: str, node: NodeState) -> bool:
    """Return whether a node has called a function, started a child or sent something; perhaps only begun to.

    A fork has results of calls that its origin has made.
    """
    planned = state.planned(name)
    if planned.role in ("call", "callback"):
        return bool(node.attempt) or node.closed_seq < 0
    return isinstance(planned.node, ChildWorkflow | Send) or (node.closed_seq < 0 and _may_call_within(planned))


def _may_call_within(planned: PlannedNode) -> bool:
    """Return whether there is a node in a container that has an effect outside."""
    return any(
        one.role in ("call", "callback") or isinstance(one.node, ChildWorkflow | Send) or _may_call_within(one)
        for body in planned.bodies.values()
        for one in body.nodes
    )


def has_result(node: NodeState) -> bool:
    """Return whether others may have read what a node gave: one that was given up gave nothing."""
    return is_settled(node) and not is_given_up(node)


def _begins_again(state: ExecutionState, name: str, before: NodeState) -> bool:
    """Return whether a node that was reached is taken back to its beginning, or its scope with it."""
    path = name.partition(":")[2]
    halted = state.halted.rows.get(path)
    if halted is not None:  # what it continues with is reopened as its container has room for it
        return halted.due and is_given_up(before) and not has_rounds(before)
    after = state.nodes.rows.get(name)
    return after != before and (after is None or after.status in _AT_ITS_BEGINNING)
