"""What must hold between executions: whatever one waits for is there, on its way, or has just arrived.

Others go on while this is read. What looks wrong counts only if the execution itself has not moved meanwhile: whatever
another one had to tell it is a command in its queue before it is gone from the other's outbox. Of parent and child
everything is read in the order in which a word goes from one to the other and back, so that none is missed on its way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine.signals import awaited_signals
from layover.ports.records import CLOSED
from layover.runtime.execution.append_builder import is_limited
from layover.runtime.execution.outbox_messages import ADMIT, FREE
from layover.runtime.maintenance.verify_log import Broken

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.core.engine.state import Execution, Point
    from layover.ports.records import Head
    from layover.ports.store import Store


async def check_between(store: Store, head: Head, state: Execution) -> AsyncIterator[Broken]:
    """Hold what an execution waits for against the others."""
    if head.commands_seq > head.commands_done:
        return  # it has yet to hear what has become of them
    async for broken in _check_limits(store, head.execution_id, state):
        yield broken
    for point in state.points.rows.values():
        if point.child:
            broken_child = await _check_child(store, state, point)
            if broken_child is not None:
                yield broken_child
        elif point.kind == "signal" and point.status == "open":
            for name, key in awaited_signals(point):
                if all(wait.point != point.id for wait in await store.waits(name, key)):
                    yield Broken("wait_missing", f"`{point.node}` waits for the signal `{name}`, and nobody knows.")


async def _check_child(store: Store, state: Execution, point: Point) -> Broken | None:
    parent = state.facts.id
    on_the_way = any(one.destination == point.child for one in await store.outgoing(parent))
    child = await store.get(point.child)
    if on_the_way:
        return None
    if child is None:
        return Broken("child_missing", f"`{point.node}` waits for {point.child}, which nobody will start.")
    if child.head.commands_seq > child.head.commands_done:
        return None  # it has yet to hear of something
    if any(one.destination == parent for one in await store.outgoing(point.child)):
        return None
    if child.head.status in CLOSED:
        return Broken("child_unheard", f"`{point.node}` waits for {point.child}, which is {child.head.status}.")
    if state.facts.gate == "pausing" and not point.held and child.head.status != "pausing":
        return Broken("child_unpaused", f"It waits for {point.child} to be paused, and no word of that is on its way.")
    return None


async def _check_limits(store: Store, execution_id: str, state: Execution) -> AsyncIterator[Broken]:
    if not is_limited(state):
        return
    kinds = {one.kind for one in await store.outgoing(execution_id)}
    kept = await store.admission(execution_id)
    if state.facts.closed and kept is not None and not kinds & {FREE, ADMIT}:
        yield Broken("slot_kept", f"It is {state.facts.closed}, and holds on to the limit `{kept.name}`.")
    limit = state.plan.definition.settings.concurrency
    is_next = kept is not None and kept.state == "waiting" and kept.position == 1
    # No more than ten are told; one with room before it would have been let in by whoever made the room.
    if limit is not None and kept is not None and is_next and len(kept.holders) < min(limit.limit, 10):
        yield Broken("stillness", f"It waits for the limit `{kept.name}`, which has room for it.")
    if not state.facts.closed and state.facts.hold and kept is None and ADMIT not in kinds:
        yield Broken("stillness", "It waits to be admitted, and nobody asks for it.")
