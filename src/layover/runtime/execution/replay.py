"""Replay of logs in slices: the event loop gets a turn after every few milliseconds of work.

A log can have hundreds of thousands of events, and its reader must not hold up other executions. What cannot be divided
because it is one call into C (a long entry, a large snapshot) is decoded in a thread.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from layover.core.engine.codec import decode_events, decode_state
from layover.core.engine.events import ExecutionCreated, ExecutionMoved
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from layover.ports.errors import StoreError
from layover.runtime.execution.state_cache import CachedState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from layover.core.engine.events import AnyEvent
    from layover.core.plan import Plan
    from layover.ports.records import Entry
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow, Loaded

_MOVED: Final = b'"execution_moved"'
SLICE: Final = 250  # events between two turns of the event loop
_ENTRIES: Final = 100  # of a log that are read at once
_LARGE: Final = 262_144  # bytes that are not decoded on the event loop
_AT_ONCE: Final = 20_000  # events of logs that are loaded together


class Versions(Protocol):
    """Finds the plan of a version."""

    async def of(self, hash_: str) -> Plan:
        """Return the plan of a version, by its hash."""


async def state_from(loaded: Loaded, plans: Versions) -> CachedState:
    """Replay a snapshot and the entries after it into a state."""
    size = sum(len(entry.events) for entry in loaded.entries) + len(loaded.snapshot or b"")
    moves = [event for entry in loaded.entries if may_move(entry) for event in moves_in(await _decoded(entry.events))]
    plan = await plans.of(moves[0].before if moves else loaded.info.hash)
    state, snapshot_seq = ExecutionState(plan), -1
    if loaded.snapshot is not None:
        state = await _snapshot(loaded.snapshot, plan)
        snapshot_seq = state.counts["seq"] - 1
    await know_versions(state, moves, plans)
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


def may_move(entry: Entry) -> bool:
    """Return whether an entry of a log may hold a move: most do not, and need not be decoded twice."""
    try:
        return _MOVED in entry.events
    except TypeError:  # a damaged database holds text: whatever reads the entry says so
        return False


def moves_in(events: Sequence[AnyEvent]) -> list[ExecutionMoved]:
    """Return the moves to other versions among events."""
    return [event for event in events if type(event) is ExecutionMoved]


async def know_versions(state: ExecutionState, moves: Sequence[ExecutionMoved], plans: Versions) -> None:
    """Let a state know the versions to which it moves: they have to be there before the events are applied."""
    for event in moves:
        state.know(await plans.of(event.hash))


async def first_version(store: Store, row: ExecutionRow) -> str:
    """Return the hash of the version by which an execution began; it may have moved since."""
    entries = await store.queries.read_history(row.head.execution_id, 0, 1)
    return (version_of(decode_events(entries[0].events)[0]) if entries else None) or row.info.hash


def version_of(first: AnyEvent) -> str | None:
    """Return the hash of the version by which an execution began, as the first event of its log says."""
    return first.hash if isinstance(first, ExecutionCreated) else None


class Slice(NamedTuple):
    """Some events with their numbers and times, and how many bytes of the log were decoded for them."""

    events: list[tuple[int, int, AnyEvent]]
    size: int


def whole_log(loaded: Loaded) -> Sequence[Entry]:
    """Return all entries of a log, if all were loaded; none, if it was loaded from a snapshot on."""
    return loaded.entries if loaded.snapshot is None else ()


async def slices_of(store: Store, row: ExecutionRow, known: Sequence[Entry] = ()) -> AsyncIterator[Slice]:
    """Return the events that an execution had when its row was read, in slices; its first entries may be known."""
    execution_id, last_seq = row.head.execution_id, row.head.last_seq
    pending: list[tuple[int, int, AnyEvent]] = []
    since = size = 0
    while since <= last_seq:
        entries = known or await store.queries.read_history(execution_id, since, _ENTRIES)
        known = ()
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
