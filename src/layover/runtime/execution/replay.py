"""Replay of logs in slices: the event loop gets a turn after every few milliseconds of work.

A log can have hundreds of thousands of events, and its reader must not hold up other executions. What cannot be divided
because it is one call into C (a long entry, a large snapshot) is decoded in a thread.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.engine.codec import decode_events, decode_state
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from layover.ports.errors import StoreError
from layover.runtime.execution.state_cache import CachedState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from layover.core.engine.events import AnyEvent
    from layover.core.plan import Plan
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow, Loaded

SLICE: Final = 250  # events between two turns of the event loop
_ENTRIES: Final = 100  # of a log that are read at once
_LARGE: Final = 262_144  # bytes that are not decoded on the event loop
_AT_ONCE: Final = 20_000  # events of logs that are loaded together


async def state_from(loaded: Loaded, plan: Plan) -> CachedState:
    """Replay a snapshot and the entries after it into a state."""
    size = sum(len(entry.events) for entry in loaded.entries) + len(loaded.snapshot or b"")
    state, snapshot_seq = ExecutionState(plan), -1
    if loaded.snapshot is not None:
        state = await _snapshot(loaded.snapshot, plan)
        snapshot_seq = state.counts["seq"] - 1
    folded = 0
    for entry in loaded.entries:
        events = await _decoded(entry.events)
        for start in range(0, len(events), SLICE):
            fold(state, [(entry.at, event) for event in events[start : start + SLICE]])
            folded += min(SLICE, len(events) - start)
            if folded >= SLICE:
                folded = 0
                await asyncio.sleep(0)
    found = state.counts["seq"] - 1
    if found != loaded.head.last_seq:
        raise StoreError(
            f"The log of {loaded.head.execution_id} has {found + 1} events; its head says {loaded.head.last_seq + 1}.",
            code="corrupt_log",
        )
    last_at = loaded.entries[-1].at if loaded.entries else 0
    return CachedState(state, loaded.head.last_seq, loaded.head.last_epoch, snapshot_seq, size, last_at)


class Slice(NamedTuple):
    """Some events with their numbers and times, and how many bytes of the log were decoded for them."""

    events: list[tuple[int, int, AnyEvent]]
    size: int


async def slices_of(store: Store, row: ExecutionRow) -> AsyncIterator[Slice]:
    """Return the events that an execution had when its row was read, in slices."""
    execution_id, last_seq = row.head.execution_id, row.head.last_seq
    pending: list[tuple[int, int, AnyEvent]] = []
    since = size = 0
    while since <= last_seq:
        entries = await store.queries.read_history(execution_id, since, _ENTRIES)
        if not entries:
            break
        for entry in entries:
            size += len(entry.events)
            for index, event in enumerate(await _decoded(entry.events)):
                if since <= entry.seq + index <= last_seq:
                    pending.append((entry.seq + index, entry.at, event))
                if len(pending) >= SLICE:
                    yield Slice(pending, size)
                    pending, size = [], 0
                    await asyncio.sleep(0)
        since = entries[-1].seq + entries[-1].count
    if pending:
        yield Slice(pending, size)


def batches(rows: Sequence[ExecutionRow]) -> Iterator[Sequence[ExecutionRow]]:
    """Divide executions so that those whose logs are loaded together do not have too many events, but at least one."""
    start = events = 0
    for index, row in enumerate(rows):
        events += row.head.last_seq + 1
        if events > _AT_ONCE and index > start:
            yield rows[start:index]
            start, events = index, row.head.last_seq + 1
    if start < len(rows):
        yield rows[start:]


async def _decoded(events: bytes) -> list[AnyEvent]:
    return decode_events(events) if len(events) < _LARGE else await asyncio.to_thread(decode_events, events)


async def _snapshot(snapshot: bytes, plan: Plan) -> ExecutionState:
    if len(snapshot) < _LARGE:
        return decode_state(snapshot, plan)
    return await asyncio.to_thread(decode_state, snapshot, plan)
