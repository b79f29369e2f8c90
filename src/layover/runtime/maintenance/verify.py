"""The history checker: checks every law that can be checked from data, over a whole database, even while it is in use.

It writes nothing. Executions are checked one by one and logs page by page, so that its memory depends on the largest
execution and not on their number. A log only grows, and a head is read together with its length: so the two can be
compared whatever happens meanwhile. Pause points and commands are read after them, and count only if the head has not
changed by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from layover.core.engine.codec import UnknownSnapshot, decode_events, decode_state
from layover.errors import LayoverError
from layover.ports.errors import StoreUnavailable
from layover.ports.store import Inspectable
from layover.ports.view_records import ExecutionFilter, PointFilter
from layover.runtime.execution.replay import first_version, may_move, moves_in
from layover.runtime.maintenance.verify_between import check_between
from layover.runtime.maintenance.verify_log import BrokenLaw, Log
from layover.runtime.maintenance.verify_rows import check_commands, check_head, check_points, check_rest, check_terms
from layover.runtime.plans import Plans
from layover.runtime.queries.log_views import LogViews
from layover.runtime.queries.search_documents import read_nodes, terms_of_execution

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from layover.core.engine.state import ExecutionState
    from layover.core.plan import Plan
    from layover.ports.records import Entry, Head, PointRow, QueuedCommand
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow, Loaded

_EXECUTIONS_AT_ONCE = 100
_ENTRIES_AT_ONCE = 200
_POINTS_AT_ONCE = 200
_TRIES = 5


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """A broken law; without an execution it concerns the database as a whole."""

    code: str
    message: str
    execution_id: str = ""


class VerifyProgress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of the checker; `moving` executions changed too fast to check their points and commands."""

    executions: int = 0
    events: int = 0
    moving: int = 0
    total: int = 0


class _Beside(NamedTuple):
    """The rows beside a log, all read while the head was as it is in the row."""

    row: ExecutionRow
    points: list[PointRow]
    commands: list[QueuedCommand]


async def verify(
    store: Store, progress: Callable[[VerifyProgress], None] | None = None, plans: Plans | None = None
) -> AsyncIterator[Violation]:
    """Find all violations in a database; `progress` is called after every execution."""
    if isinstance(store, Inspectable):
        faults = await store.inspection.list_faults()
        for fault in faults:
            yield Violation(code=fault.code, message=fault.message, execution_id=fault.execution_id)
        if any(fault.code == "damaged" for fault in faults):
            return  # nothing that is read from it can be trusted
    plans = plans if plans is not None else Plans(store)
    done = VerifyProgress(total=sum((await store.queries.count_by_status()).values()))
    after: tuple[int, str] | None = None
    while rows := await store.queries.list_executions(ExecutionFilter(after=after, limit=_EXECUTIONS_AT_ONCE)):
        for row in rows:
            checking = _Checking(store, plans)
            for broken in await checking.check(row):
                yield Violation(code=broken.code, message=broken.message, execution_id=row.head.execution_id)
            done = VerifyProgress(
                executions=done.executions + 1,
                events=done.events + checking.events,
                moving=done.moving + checking.moving,
                total=done.total,
            )
            if progress is not None:
                progress(done)
        after = (rows[-1].info.created_at, rows[-1].head.execution_id)


async def violations(store: Store, plans: Plans | None = None) -> list[Violation]:
    """Return all violations."""
    return [violation async for violation in verify(store, plans=plans)]


class _Checking:
    """The check of one execution."""

    def __init__(self, store: Store, plans: Plans) -> None:
        self._store = store
        self._plans = plans
        self.events = 0
        self.moving = False

    async def check(self, row: ExecutionRow) -> list[BrokenLaw]:
        try:
            found = await self._check(row)
        except StoreUnavailable:
            raise
        except (LayoverError, msgspec.MsgspecError) as error:
            found = [BrokenLaw("unreadable", f"It cannot be read: {error}")]
        if found and await self._store.queries.find_execution(row.head.execution_id) is None:
            return []  # it was purged after it was listed
        return found

    async def _check(self, row: ExecutionRow) -> list[BrokenLaw]:
        beside = await self._read_beside(row)
        row = beside.row if beside is not None else row
        (loaded,) = await self._store.queries.load([row.head.execution_id])
        if loaded is None:
            return [BrokenLaw("unreadable", "Its rows are gone.")]
        snapshot = await self._snapshot(loaded)
        if isinstance(snapshot, BrokenLaw):
            return [snapshot]
        log = Log(row, await self._plans.of(await first_version(self._store, row)), snapshot)
        broken = await self._read_log(log, loaded, row.head)
        self.events = log.length
        if broken is not None:
            return [broken]
        return await self._compare(log, row, beside)

    async def _snapshot(self, loaded: Loaded) -> ExecutionState | BrokenLaw | None:
        """Return the state of a snapshot, by the version that it had then."""
        later = [one for entry in loaded.entries if may_move(entry) for one in moves_in(decode_events(entry.events))]
        return _snapshot(loaded, await self._plans.of(later[0].before if later else loaded.info.hash))

    async def _compare(self, log: Log, row: ExecutionRow, beside: _Beside | None) -> list[BrokenLaw]:
        now = await self._store.now()
        found = [*check_head(row, log), *check_rest(row.head, log.state, now)]
        if beside is None:
            self.moving = True
            return found
        found += check_commands(row.head, beside.commands)
        found += check_points(row.head, beside.points, beside.commands, log)
        found += await self._check_terms(row, log.state)
        between = [one async for one in check_between(self._store, row.head, log.state)]
        if between and await self._has_moved(row.head):
            self.moving = True
        else:
            found += between
        return list(dict.fromkeys(found))

    async def _check_terms(self, row: ExecutionRow, state: ExecutionState) -> list[BrokenLaw]:
        """Compare the search terms with those of the log, if they are said to be."""
        (stored,) = await self._store.search_terms.read([row.head.execution_id])
        if stored is None:
            return []
        nodes = await read_nodes(row, LogViews(self._store, 0), self._plans)
        return list(check_terms(row.head, stored, terms_of_execution(state, row, nodes)))

    async def _has_moved(self, head: Head) -> bool:
        """Return whether an execution has changed since its head was read."""
        row = await self._store.queries.find_execution(head.execution_id)
        return row is None or _position_of(row.head) != _position_of(head)

    async def _read_beside(self, row: ExecutionRow) -> _Beside | None:
        """Read points and commands together with their head; None if it keeps changing."""
        for _ in range(_TRIES):
            id_ = row.head.execution_id
            points, commands = await self._read_points(id_), await self._store.commands.list_after(id_, 0)
            now = await self._store.queries.find_execution(id_)
            if now is None:
                return None
            if _position_of(now.head) == _position_of(row.head):
                return _Beside(now, points, commands)
            row = now
        return None

    async def _read_points(self, execution_id: str) -> list[PointRow]:
        found: list[PointRow] = []
        after: tuple[int, str] | None = None
        wanted = PointFilter(execution_id=execution_id, limit=_POINTS_AT_ONCE)
        while page := await self._store.queries.list_points(msgspec.structs.replace(wanted, after=after)):
            found += page
            after = (page[-1].point.opened_at, page[-1].point.id)
        return found

    async def _read_log(self, log: Log, loaded: Loaded, head: Head) -> BrokenLaw | None:
        """Read a log up to the position of its head; the state is then the one that the head was written with."""
        async for entry in self._entries(log, loaded):
            if entry.seq > head.last_seq:
                return await self._check_continuation(log, head)
            if may_move(entry):
                await log.know_versions(entry, self._plans)
            if (broken := log.read(entry)) is not None:
                return broken
        if log.length != head.last_seq + 1:
            return BrokenLaw("log_end", f"Its log has {log.length} events; its head says {head.last_seq + 1}.")
        return log.end()

    async def _check_continuation(self, log: Log, head: Head) -> BrokenLaw | None:
        """Check whether a log may go on: its head must have moved as well."""
        now = await self._store.queries.find_execution(head.execution_id)
        if now is not None and now.head.last_seq > head.last_seq:
            return None if log.length == head.last_seq + 1 else BrokenLaw("log_end", "Its head was inside an append.")
        return BrokenLaw("log_end", f"Its log has events after {head.last_seq}, which is the last one by its head.")

    async def _entries(self, log: Log, loaded: Loaded) -> AsyncIterator[Entry]:
        if loaded.snapshot is None:  # then all of it is here
            for entry in loaded.entries:
                yield entry
            return
        id_ = loaded.head.execution_id
        while page := await self._store.queries.read_history(id_, log.length, _ENTRIES_AT_ONCE):
            for entry in page:
                yield entry


def _snapshot(loaded: Loaded, plan: Plan) -> ExecutionState | BrokenLaw | None:
    """Return the state of a snapshot; one of another release is skipped, as the engine does."""
    if loaded.snapshot is None:
        return None
    try:
        state = decode_state(loaded.snapshot, plan)
    except UnknownSnapshot:
        return None
    except LayoverError as error:
        return BrokenLaw("snapshot_unreadable", error.message)
    begins = loaded.entries[0].seq if loaded.entries else loaded.head.last_seq + 1
    if begins != state.counts["seq"]:
        message = f"Its snapshot covers {state.counts['seq']} events, and the log is read on from event {begins}."
        return BrokenLaw("snapshot_misplaced", message)
    return state


def _position_of(head: Head) -> tuple[object, ...]:
    """Return the fields that change whenever points or commands do."""
    return (head.last_seq, head.last_epoch, head.commands_seq, head.commands_done, head.status)
