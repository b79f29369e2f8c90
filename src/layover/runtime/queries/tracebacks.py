"""Finds the traceback of a failure: it is in the log, at the event with which its node failed.

Tracebacks are not part of the state, so that they cost nothing but their place in the log until they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.node_types import ChildWorkflow
from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.core.engine.state import ExecutionState, NodeState
    from layover.ports.store import Store
    from layover.runtime.queries.log_views import LogView
    from layover.tracebacks import Traceback


async def stored_traceback(
    store: Store, state: ExecutionState, context_id: str, read_log: Callable[[], Awaitable[LogView]]
) -> Traceback | None:
    """Return the traceback with which a node failed last, if it has one.

    A retry that is cancelled repeats the error alone: only then the whole log is read.
    """
    node = _node(state, context_id)
    if node is None or node.error is None:
        return None
    seq, before = node.closed_seq, None
    for entry in await store.queries.read_history(state.facts.id, seq - 1, 2):
        for number, event in enumerate(decode_events(entry.events), entry.seq):
            if number == seq and isinstance(event, ev.NodeFailed | ev.NodeUndoFailed):
                if event.traceback is None and isinstance(before, ev.RetryCancelled):
                    return next(
                        (one.traceback for one in (await read_log()).nodes if one.context_id == context_id), None
                    )
                return event.traceback
            before = event
    return None


def failed_child(state: ExecutionState, context_id: str) -> str:
    """Return the execution whose failure a node has handed on; empty if its node starts none."""
    node = _node(state, context_id)
    if node is None or node.error is None or not isinstance(state.planned(context_id).node, ChildWorkflow):
        return ""
    return state.child_id(context_id, node.attempt)


def _node(state: ExecutionState, context_id: str) -> NodeState | None:
    """Return a node, also one in a scope that failed with it."""
    found = state.nodes.get(context_id)
    if found is None:
        name, _, path = context_id.partition(":")
        halted = state.halted.get(path)
        found = halted.nodes.get(name) if halted is not None else None
    return found
