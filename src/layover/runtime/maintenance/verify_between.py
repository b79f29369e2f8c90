"""Laws between executions: whatever one waits for exists, is on its way, or has just arrived.

Other executions go on while this is read. A finding counts only if the execution itself has not moved meanwhile: a
message to it is a command in its queue before it is gone from the sender's outbox. Parent and child are read in the
order in which a message goes from one to the other and back, so that none is missed on its way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine.signals import awaited_signals
from layover.ports.records import CLOSED
from layover.runtime.execution.append_builder import is_limited
from layover.runtime.execution.outbox_messages import ADMIT, FREE
from layover.runtime.maintenance.verify_log import BrokenLaw

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.core.engine.state import ExecutionState, Point
    from layover.ports.records import Head
    from layover.ports.store import Store


async def check_between(store: Store, head: Head, state: ExecutionState) -> AsyncIterator[BrokenLaw]:
    """Check the waits of an execution against the others."""
    if head.commands_seq > head.commands_done:
        return  # it has unread commands about them
    async for broken in _check_limits(store, head.execution_id, state):
        yield broken
    for point in state.points.rows.values():
        if point.child:
            broken_child = await _check_child(store, state, point)
            if broken_child is not None:
                yield broken_child
        elif point.kind == "signal" and point.status == "open":
            for name, key in awaited_signals(point):
                if all(wait.point != point.id for wait in await store.signals.list_waits(name, key)):
                    yield BrokenLaw(
                        "wait_missing", f"`{point.node}` waits for the signal `{name}`, but has no wait row."
                    )


async def _check_child(store: Store, state: ExecutionState, point: Point) -> BrokenLaw | None:
    parent = state.facts.id
    on_the_way = any(one.destination == point.child for one in await store.outbox.list_undelivered(parent))
    child = await store.queries.find_execution(point.child)
    if on_the_way:
        return None
    if child is None:
        return BrokenLaw("child_missing", f"`{point.node}` waits for {point.child}, which will never start.")
    if child.head.commands_seq > child.head.commands_done:
        return None  # it has unread commands
    if any(one.destination == parent for one in await store.outbox.list_undelivered(point.child)):
        return None
    if child.head.status in CLOSED:
        return BrokenLaw("child_unheard", f"`{point.node}` waits for {point.child}, which is {child.head.status}.")
    if state.facts.gate == "pausing" and not point.held and child.head.status != "pausing":
        return BrokenLaw(
            "child_unpaused", f"It waits for {point.child} to be paused, and no confirmation is on its way."
        )
    return None


async def _check_limits(store: Store, execution_id: str, state: ExecutionState) -> AsyncIterator[BrokenLaw]:
    if not is_limited(state):
        return
    kinds = {one.kind for one in await store.outbox.list_undelivered(execution_id)}
    kept = await store.limits.find_admission(execution_id)
    if state.facts.closed and kept is not None and not kinds & {FREE, ADMIT}:
        yield BrokenLaw("slot_kept", f"It is {state.facts.closed}, but still holds a slot of the limit `{kept.name}`.")
    limit = state.plan.definition.settings.concurrency
    is_next = kept is not None and kept.state == "waiting" and kept.position == 1
    # No more than ten are reported; one with room before it would have been admitted when the room was made.
    if limit is not None and kept is not None and is_next and len(kept.holders) < min(limit.limit, 10):
        yield BrokenLaw("stillness", f"It waits for the limit `{kept.name}`, which has room for it.")
    if not state.facts.closed and state.facts.hold and kept is None and ADMIT not in kinds:
        yield BrokenLaw("stillness", "It waits to be admitted, and nothing requests that.")
