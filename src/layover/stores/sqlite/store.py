"""The store: each method of the port is handed to the writer or to a reader."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Liveness
from layover.stores.checks import check_ids, check_texts, checked_appends
from layover.stores.ids import key
from layover.stores.instance_locks import InstanceLocks, Note, is_held
from layover.stores.limits import check_wish
from layover.stores.sqlite import (
    claims,
    database_copy,
    definitions,
    inspection,
    limits,
    locks,
    outbox,
    paging,
    queries,
    retention,
    signals,
)
from layover.stores.sqlite.access import SqliteAccess
from layover.stores.sqlite.admin import living_instances
from layover.stores.sqlite.appends import commit, commit_informed
from layover.stores.sqlite.commands import enqueue, take_answer
from layover.stores.sqlite.connection import BUSY_MS, connect, locks_beside, translated, write_ahead
from layover.stores.sqlite.migrations import check, migrate
from layover.stores.sqlite.readers import Readers
from layover.stores.sqlite.renewals import SqliteRenewals
from layover.stores.sqlite.writer import Writer
from layover.stores.steady_clock import SteadyClock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    import apsw

    from layover.core.engine.commands import Answer
    from layover.ports.access import Standing
    from layover.ports.moving import Batch, KeptSignal, Size, UsedRate, Whole
    from layover.ports.records import (
        Admission,
        Append,
        AuditEntry,
        Claim,
        Claims,
        Command,
        Enqueue,
        Enqueued,
        Entry,
        ExecutionFilter,
        ExecutionRow,
        Fault,
        Gauges,
        Head,
        Lease,
        Loaded,
        Message,
        Outbox,
        Outcome,
        PausedFilter,
        PointFilter,
        PointRow,
        Refusal,
        Reserved,
        Signal,
        Version,
        Wait,
        Wish,
    )

T = TypeVar("T")

_FEW = 4  # executions, or entries of a log, that are read at a glance; more could hold up the event loop
_SOME_HEADS = 50  # heads that are read at a glance; each takes microseconds
_BETWEEN_LOOKS = 0.5


class SqliteStore(SqliteAccess):
    """One database file."""

    lanes = 1  # there is one writer: a second group at the same time would only make both smaller

    def __init__(
        self,
        path: Path | str,
        *,
        busy_ms: int = BUSY_MS,
        between_looks: float = _BETWEEN_LOOKS,
        clock: Callable[[], int] | None = None,
    ) -> None:
        self.path = Path(path)
        self._busy_ms = busy_ms
        self._between_looks = between_looks
        self._clock = SteadyClock() if clock is None else clock
        self._noted = 0
        self._writer: Writer | None = None
        self._readers: Readers | None = None
        self._locks: InstanceLocks | None = None
        self._looked_at: float | None = None

    async def open(self, instance: str) -> None:
        """Open the file, migrate it, and take the lock of this instance."""
        if self._writer is not None:
            raise StoreError("The store is open already.", code="open")
        db = await asyncio.to_thread(self._prepare)
        self._writer = Writer(db, self.path)
        self._readers = Readers(self.path, self._busy_ms)
        self._locks = InstanceLocks(locks_beside(self.path), instance)
        try:
            await asyncio.to_thread(self._hold, self._locks)
            self._keep_up(self._locks)
            # No other instance has this name now, so its leases are from before it was restarted.
            await self._write(lambda db: claims.expire_leases(db, [instance], self._clock()))
        except BaseException:
            await self.close()
            raise

    async def open_to_read(self) -> None:
        """Open an up-to-date file to read from it. It is not changed, and no instance has to wait."""
        if self._readers is not None:
            raise StoreError("The store is open already.", code="open")
        if not self.path.is_file():
            raise StoreUnavailable(f"There is no database {self.path}.", code="missing")
        self._readers = Readers(self.path, self._busy_ms)
        try:
            await self._read(lambda db: check(db, self.path))
        except BaseException:
            await self.close()
            raise

    def _prepare(self) -> apsw.Connection:
        db = connect(self.path, busy_ms=self._busy_ms)
        try:
            with translated(self.path):
                migrate(db, self.path, self._clock())
            write_ahead(db, self.path, self._busy_ms)
        except BaseException:
            db.close()
            raise
        return db

    def _hold(self, locks: InstanceLocks) -> None:
        try:
            locks.hold(self._busy_ms / 1000)
        except OSError as error:
            message = f"No lock can be held beside {self.path}: {error.strerror}."
            raise StoreUnavailable(message, code="cannot_lock") from error

    async def close(self) -> None:
        """Finish the writes that wait and close the file."""
        if self._readers is not None:
            await self._readers.close()
            self._readers = None
        if self._writer is not None:
            await self._writer.stop()
            self._writer = None
        if self._locks is not None:
            self._locks.let_go()
            self._locks = None
        self._looked_at = None

    async def now(self) -> int:
        """Return the time of the machine, which all instances on a file share."""
        return self._clock()

    @property
    def clock_error(self) -> int:
        """By how much that time may be wrong: not at all, since it is the clock itself."""
        return 0

    async def check_shape(self) -> None:
        """Raise an error if the tables are not those of this release."""
        await self._read(lambda db: check(db, self.path))

    @property
    def transactions(self) -> int:
        """How many transactions were committed: many writes share one."""
        return self._writer.transactions if self._writer is not None else 0

    # The run plane

    def commit(self, appends: Sequence[Append]) -> Awaitable[list[Outcome]]:
        """Write appends."""
        checked = checked_appends(appends)
        return self._write(lambda db: commit(db, checked))

    async def commit_informed(self, append: Append, decide: Callable[[tuple[Command, ...]], Append]) -> Outcome:
        """Write an append; decide it again if it does not know all commands."""
        (checked,) = checked_appends([append])
        return await self._write(lambda db: commit_informed(db, checked, decide))

    async def claim(self, claim: Claim) -> Claims:
        """Claim executions that are due. Those of a dead instance are due at once."""
        check_ids(() if claim.execution_id is None else (claim.execution_id,))
        await self._look_for_dead(claim.now)
        taken = await self._write(lambda db: claims.claim(db, claim, self._is_leased))
        self._note(claim.lease_until)
        return taken

    async def renew(self, instance: str, leases: Sequence[Lease], until: int) -> list[str]:
        """Renew leases."""
        check_ids(lease.execution_id for lease in leases)
        lost = await self._write(lambda db: claims.renew(db, instance, leases, until))
        self._note(until)
        return lost

    def renewals(self) -> SqliteRenewals:
        """Return a way to renew leases from another thread, through the writer."""
        if self._writer is None:
            raise _not_open()
        return SqliteRenewals(self._writer, self._note)

    async def release(
        self,
        instance: str,
        leases: Sequence[Lease],
        wake_at: int | None,
        missing: tuple[str, ...] = (),
        held_at: int | None = None,
    ) -> None:
        """Release leases."""
        check_ids(lease.execution_id for lease in leases)
        await self._write(lambda db: claims.release(db, instance, leases, wake_at, missing, held_at))

    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read the snapshots and entries from which states are rebuilt."""
        if len(execution_ids) > _FEW:
            return await self._read(lambda db: queries.load(db, execution_ids))
        return await self._glance(lambda db: queries.load(db, execution_ids), statements=3 * len(execution_ids))

    async def commands(self, execution_id: str, after: int) -> list[Command]:
        """Read commands."""
        return await self._glance(lambda db: queries.commands_after(db, key(execution_id), after))

    async def is_taken(self, execution_id: str, source: str) -> bool:
        """Return whether there is a command from a source."""
        return await self._glance(lambda db: queries.is_taken(db, key(execution_id), source))

    async def heads(self, execution_ids: Sequence[str]) -> list[Head | None]:
        """Read heads."""
        ids = [key(id_) for id_ in execution_ids]
        if len(ids) > _SOME_HEADS:
            return await self._read(lambda db: queries.heads(db, ids))
        return await self._glance(lambda db: queries.heads(db, ids), statements=len(ids))

    async def unread(self, seen: Sequence[tuple[str, int]]) -> list[str]:
        """Return the executions that have unread commands, also of a process that has ended meanwhile."""
        return await self._read(lambda db: queries.unread(db, seen))

    async def enqueue(
        self, commands: Sequence[Enqueue], now: int, standing: Standing | None = None
    ) -> list[Enqueued | Refusal]:
        """Enqueue commands."""
        check_ids(command.execution_id for command in commands)
        return await self._write(lambda db: enqueue(db, commands, now, standing))

    async def answer(
        self, answer: Answer, source: str, now: int, wish: Claim | None = None, audit: AuditEntry | None = None
    ) -> Reserved | Refusal:
        """Take an answer."""
        check_texts(answer.point, source)
        return await self._write(lambda db: take_answer(db, answer, source, now, wish, audit))

    # Outboxes

    async def outbox(self, now: int, most: int) -> Outbox:
        """Read messages that are due."""
        return await self._read(lambda db: outbox.outbox(db, now, most))

    async def sent(self, messages: Sequence[Message]) -> None:
        """Delete messages that were delivered."""
        check_ids(message.sender for message in messages)
        await self._write(lambda db: outbox.delete_delivered(db, messages))

    async def postpone(self, message: Message, due_at: int) -> None:
        """Postpone a message."""
        check_ids([message.sender])
        await self._write(lambda db: outbox.postpone(db, message, due_at))

    async def outgoing(self, sender: str) -> list[Message]:
        """Read the messages of one execution."""
        check_ids([sender])
        return await self._read(lambda db: outbox.outgoing(db, sender))

    async def token(self, hash_: bytes) -> Wait | None:
        """Find the point that a token belongs to."""
        return await self._glance(lambda db: outbox.token(db, hash_))

    # Signals

    async def keep_signal(self, signal: Signal, audit: AuditEntry | None = None) -> bool:
        """Store a signal."""
        return await self._write(lambda db: signals.store_signal(db, signal, audit))

    async def waits(self, name: str, key: str) -> list[Wait]:
        """Read the pause points that wait for a signal."""
        return await self._read(lambda db: signals.waits(db, name, key))

    async def signals(self, name: str, key: str, since: int) -> list[Signal]:
        """Read signals."""
        return await self._read(lambda db: signals.signals(db, name, key, since))

    async def undispatched(self, before: int, most: int) -> list[Signal]:
        """Read signals that were not yet sent to all pause points that wait for them."""
        return await self._read(lambda db: signals.undispatched(db, before, most))

    async def dispatched(self, ids: Sequence[str]) -> None:
        """Record that signals were sent to all pause points that wait for them."""
        await self._write(lambda db: signals.mark_dispatched(db, ids))

    async def forget_signals(self, before: int, most: int) -> int:
        """Delete dispatched signals."""
        return await self._write(lambda db: signals.delete_old_signals(db, before, most))

    # Limits

    async def admit(self, wish: Wish, now: int) -> Admission:
        """Admit an execution, or give it a place in the queue."""
        check_ids([wish.execution_id])
        check_wish(wish)
        return await self._write(lambda db: limits.admit(db, wish, now))

    async def free(self, execution_id: str, now: int) -> list[str]:
        """Release the slot of an execution, or its place in the queue."""
        check_ids([execution_id])
        return await self._write(lambda db: limits.release_slot(db, execution_id, now))

    async def forget_rates(self, now: int) -> int:
        """Delete rates that are not used."""
        return await self._write(lambda db: limits.delete_unused_rates(db, now))

    async def admission(self, execution_id: str) -> Admission | None:
        """Return whether an execution is admitted, or its place in the queue."""
        check_ids([execution_id])
        return await self._glance(lambda db: limits.admission(db, execution_id), statements=3)

    # Retention

    async def expendable(self, before: int, most: int, workflow: str | None = None) -> list[str]:
        """Return executions that may be purged."""
        return await self._read(lambda db: retention.purgeable_executions(db, before, most, workflow))

    async def purge(self, execution_ids: Sequence[str], before: int | None = None) -> int:
        """Delete executions."""
        check_ids(execution_ids)
        return await self._write(lambda db: retention.purge(db, execution_ids, before))

    # Moving

    async def sizes(self, after: str, most: int) -> list[Size]:
        """Return the sizes of executions."""
        return await self._read(lambda db: database_copy.sizes(db, after, most))

    async def wholes(self, execution_ids: Sequence[str]) -> list[Whole]:
        """Read executions with everything that belongs to them."""
        return await self._read(lambda db: database_copy.read_executions(db, execution_ids))

    async def kept_signals(self, after: str, most: int) -> list[KeptSignal]:
        """Read all signals."""
        return await self._read(lambda db: database_copy.kept_signals(db, after, most))

    async def used_rates(self, after: str, most: int) -> list[UsedRate]:
        """Read until when rates are used."""
        return await self._read(lambda db: database_copy.used_rates(db, after, most))

    async def keep(self, batch: Batch) -> None:
        """Write a batch of another database."""
        await self._write(lambda db: database_copy.write_batch(db, batch))

    async def purge_weeks(self, before: int | None) -> int:  # noqa: ARG002 - there are none
        """Do nothing: there are no weekly partitions, since SQLite reuses the space of any deleted row."""
        return 0

    # Definitions

    async def save_version(
        self, workflow: str, hash_: str, document: bytes, now: int, audit: AuditEntry | None = None
    ) -> Version:
        """Save a definition."""
        return await self._write(lambda db: definitions.save(db, workflow, hash_, document, now, audit))

    async def version(self, hash_: str) -> Version | None:
        """Find a version by its hash."""
        return await self._glance(lambda db: definitions.version(db, hash_))

    async def latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""
        return await self._glance(lambda db: definitions.latest(db, workflow))

    async def versions(self, workflow: str | None = None) -> list[Version]:
        """List versions."""
        return await self._read(lambda db: definitions.versions(db, workflow))

    async def workflows(self, after: str = "", limit: int = 100) -> list[Version]:
        """List workflows."""
        return await self._read(lambda db: definitions.workflows(db, after, limit))

    # Views

    async def get(self, execution_id: str) -> ExecutionRow | None:
        """Find an execution."""
        return await self._glance(lambda db: queries.get(db, execution_id))

    async def page(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions."""
        return await self._read(lambda db: paging.page(db, wanted))

    async def paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        """List paused executions."""
        return await self._read(lambda db: queries.paused(db, wanted))

    async def history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read a log."""
        read = self._glance if limit <= _FEW else self._read
        return await read(lambda db: queries.history(db, execution_id, since, limit))

    async def points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points."""
        read = self._glance if wanted.execution_id is not None else self._read
        return await read(lambda db: queries.points(db, wanted))

    async def point(self, point_id: str) -> PointRow | None:
        """Find a pause point."""
        return await self._glance(lambda db: queries.point_by_id(db, point_id))

    async def counts(self) -> dict[str, int]:
        """Count executions by status."""
        return await self._read(queries.counts)

    async def gauges(self, now: int, before: int) -> Gauges:
        """Count executions by status, due ones, unread commands and long pauses."""
        return await self._read(lambda db: queries.gauges(db, now, before))

    async def liveness(self, instance: str) -> Liveness:
        """Return whether an instance is alive: then it holds its lock."""
        return Liveness(alive=is_held(locks_beside(self.path), instance) is True)

    async def others(self) -> list[str]:
        """Return the other instances that have the file open and drive executions."""
        if self._locks is None:
            raise _not_open()
        return living_instances(self.path, but=self._locks.instance)

    async def faults(self) -> list[Fault]:
        """Return damage to the file, and rows without an execution."""
        return await self._read(inspection.faults)

    # Locks

    async def lock(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take or renew a named lock."""
        return await self._write(lambda db: locks.take(db, name, holder, now, until))

    async def unlock(self, name: str, holder: str) -> None:
        """Release a named lock."""
        await self._write(lambda db: locks.release(db, name, holder))

    # Threads

    def _write(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        if self._writer is None:
            raise _not_open()
        return self._writer.write(work)

    def _read(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        if self._readers is None:
            raise _not_open()
        return self._readers.read(work)

    async def _glance(self, work: Callable[[apsw.Connection], T], *, statements: int = 1) -> T:
        if self._readers is None:
            raise _not_open()
        return await self._readers.glance(work, statements=statements)

    # Others on this machine

    def _keep_up(self, locks: InstanceLocks) -> None:
        """Take over the time of running instances: the system clock may have been set back since they started."""
        if isinstance(self._clock, SteadyClock):
            for note in locks.notes():
                self._clock.keep_up(note.ahead)

    def _note(self, leased_until: int) -> None:
        """Note until when our leases last, by the monotonic clock, for other instances; now and then is enough."""
        clock, locks = self._clock, self._locks
        if isinstance(clock, SteadyClock) and locks is not None:
            length = leased_until - clock()
            until = clock.running() + length
            if until - self._noted > length // 10:
                self._noted = until
                locks.note(Note(clock.ahead, until))

    def _is_leased(self, instance: str) -> bool:
        """Return whether an instance still has its leases, although they have expired by the time.

        Then the system clock was set forward. A stopped process holds its lock, too, but its leases end.
        """
        clock, locks = self._clock, self._locks
        if locks is None or not isinstance(clock, SteadyClock) or instance == locks.instance:
            return False
        note = locks.note_of(instance)
        return note is not None and note.leased_until > clock.running()

    async def _look_for_dead(self, now: int) -> None:
        """Expire the leases of dead instances; now and then is enough."""
        if self._locks is None or self._writer is None:
            raise _not_open()
        if self._looked_at is not None and monotonic() - self._looked_at < self._between_looks:
            return
        self._looked_at = monotonic()
        with self._locks.dead() as dead:
            self._writer.shared = not self._locks.alone
            if dead:
                await self._write(lambda db: claims.expire_leases(db, dead, now))


def _not_open() -> StoreUnavailable:
    return StoreUnavailable("The store is not open.", code="closed")
