"""The store: most methods of the port are one statement, and so one round trip."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from layover.ports.commit_points import CommitPoint, announce_soon
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Claims, Liveness
from layover.stores.checks import check_ids, check_texts, checked_appends
from layover.stores.limits import check_wish
from layover.stores.postgres import (
    claims,
    database_copy,
    definitions,
    inspection,
    limits,
    locks,
    migrations,
    outbox,
    paging,
    queries,
    retention,
    signals,
    weekly_partitions,
)
from layover.stores.postgres.access import PostgresAccess
from layover.stores.postgres.address import read_address
from layover.stores.postgres.admin import SILENT_FOR, living
from layover.stores.postgres.answers import AnswerRequest, Answers
from layover.stores.postgres.appends import commit, commit_informed
from layover.stores.postgres.batcher import Batcher
from layover.stores.postgres.commands import enqueue, enqueue_while
from layover.stores.postgres.database import Database
from layover.stores.postgres.hints import NotifiedHints
from layover.stores.postgres.liveness import LocalInstances, is_dead_here
from layover.stores.postgres.renewals import PostgresRenewals
from layover.stores.postgres.server_clock import ServerClock, running

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from layover.core.engine.commands import Answer
    from layover.ports.access import Standing
    from layover.ports.hints import Hint
    from layover.ports.moving import Batch, KeptSignal, Size, UsedRate, Whole
    from layover.ports.records import (
        Admission,
        Append,
        AuditEntry,
        Claim,
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

_HEARTBEAT = 10  # seconds
_LOOKS, _BETWEEN_LOOKS = 40, 0.05  # for longer than a second, in seconds
_NEVER = 2**63 - 1
_GONE_AFTER = 30_000  # milliseconds without a word, and the name of an instance may be taken again

_log = logging.getLogger("layover.postgres")


class PostgresStore(PostgresAccess):
    """One schema of one database."""

    lanes = 2  # while the server commits one group, the next can be on its way

    def __init__(self, address: str, *, clock: Callable[[], int] | None = None) -> None:
        self.address = read_address(address)
        self._clock = clock
        self._opened: Database | None = None
        self._instance = ""
        self._server_clock = ServerClock()
        self._heartbeats: asyncio.Task[None] | None = None
        self._hints: NotifiedHints | None = None
        self._local_instances: LocalInstances | None = None
        self._answers: Answers | None = None
        self._loads: Batcher[Sequence[str], list[Loaded | None]] | None = None
        self._points: Batcher[PointFilter, list[PointRow]] | None = None

    async def open(self, instance: str) -> None:
        """Migrate the tables and register this instance."""
        if self._opened is not None:
            raise StoreError("The store is open already.", code="open")
        db = Database(self.address)
        try:
            await self._set_clock(db)
            now = await self.now()
            await migrations.migrate(self.address, now)
            await self._join(db)
            now = await self.now()
            await _register(db, instance, now)
            self._instance = instance
            # No other instance has this name now, so its leases are from before it was restarted.
            await db.fetch("expire_leases", [instance], now)
            await weekly_partitions.prepare(db, now)
        except BaseException:
            await db.close()
            raise
        self._opened = db
        self._hints = NotifiedHints(db, instance)
        self._local_instances = LocalInstances(db, instance)
        await self._local_instances.enter()
        self._heartbeats = asyncio.get_running_loop().create_task(self._send_heartbeats(db))

    async def open_to_read(self) -> None:
        """Open up-to-date tables to read from them. They are not changed, and no instance has to wait."""
        if self._opened is not None:
            raise StoreError("The store is open already.", code="open")
        db = Database(self.address)
        try:
            await self._set_clock(db)
            await migrations.check(db)
        except BaseException:
            await db.close()
            raise
        self._opened = db

    async def close(self) -> None:
        """Close all connections; every result that was returned is durable."""
        db, self._opened = self._opened, None
        self._answers = self._loads = self._points = None
        if db is None:
            return
        try:
            await self._leave(db)
        finally:  # also if the caller does not wait for a silent server
            await db.close()

    async def _leave(self, db: Database) -> None:
        """Unregister this instance."""
        hints, self._hints = self._hints, None
        heartbeats, self._heartbeats = self._heartbeats, None
        try:
            if hints is not None:
                await hints.close()
        finally:
            if self._local_instances is not None:
                self._local_instances.leave()
                self._local_instances = None
            if heartbeats is not None:
                heartbeats.cancel()
                await asyncio.gather(heartbeats, return_exceptions=True)
        if heartbeats is not None:
            with suppress(StoreError):  # then the name is free once the heartbeat is old
                await db.fetch("delete_instances", [self._instance])

    async def now(self) -> int:
        """Return the time of the server, which all instances share, without asking it."""
        return self._clock() if self._clock is not None else self._server_clock.now()

    @property
    def clock_error(self) -> int:
        """By how much that time may be wrong: half the round trip of the quickest reply."""
        return 0 if self._clock is not None else self._server_clock.error

    async def check_shape(self) -> None:
        """Raise an error if the tables are not those of this release."""
        await migrations.check(self._db)

    async def _set_clock(self, db: Database) -> None:
        asked_at = running()
        self._server_clock.hear(asked_at, await db.fetchval("server_time"))

    async def _join(self, db: Database) -> None:
        """Have the time of the instances that live.

        Where the server's clock does not tell it, they say it every second: what they said last may be old.
        """
        latest = await self._keep_up(db)
        for _ in range(_LOOKS if self._server_clock.goes_ahead and self._clock is None else 0):
            await asyncio.sleep(_BETWEEN_LOOKS)
            if await self._keep_up(db) != latest:
                return

    async def _keep_up(self, db: Database) -> int | None:
        """Have at least the time that instances had when they last said that they live; return that."""
        latest: int | None = await db.fetchval("latest_heartbeat")
        if latest is not None:
            self._server_clock.keep_up(latest)
        return latest

    async def _send_heartbeats(self, db: Database) -> None:
        """Send heartbeats until the task is cancelled."""
        while True:
            for _ in range(_HEARTBEAT):
                await asyncio.sleep(1)
                if self._server_clock.goes_ahead:
                    break  # an instance that starts now can take the time only from our heartbeat
            asked_at = running()
            try:
                self._server_clock.hear(asked_at, await db.fetchval("heartbeat", self._instance, await self.now()))
                await self._keep_up(db)
                await weekly_partitions.prepare(db, await self.now())
            except StoreError as error:
                _log.warning("heartbeat_failed error=%s", error.message)
            except Exception:  # noqa: BLE001 - an instance that says no more is taken for dead
                _log.exception("heartbeat_failed")

    def tell(self, hint: Hint) -> None:
        """Send a hint to other instances."""
        if self._hints is not None:
            self._hints.tell(hint)

    def listen(self, hear: Callable[[Hint], None]) -> None:
        """Call a function with each hint of another instance."""
        if self._hints is not None:
            self._hints.listen(hear)

    @property
    def _db(self) -> Database:
        if self._opened is None:
            raise StoreUnavailable("The store is not open.", code="closed")
        return self._opened

    @property
    def statements(self) -> int:
        """How many statements, or transactions of several statements, were sent."""
        return self._opened.statements if self._opened is not None else 0

    # The run plane

    def commit(self, appends: Sequence[Append]) -> Awaitable[list[Outcome]]:
        """Write appends."""
        checked = checked_appends(appends)
        return self._commit(checked)

    async def _commit(self, appends: Sequence[Append]) -> list[Outcome]:
        announce_soon(CommitPoint.ROWS_WRITTEN)  # after the statement was sent, before its result arrives
        return await commit(self._db, appends)

    async def commit_informed(self, append: Append, decide: Callable[[tuple[Command, ...]], Append]) -> Outcome:
        """Write an append; decide it again if it does not know all commands."""
        (checked,) = checked_appends([append])
        return await commit_informed(self._db, checked, decide)

    async def claim(self, claim: Claim) -> Claims:
        """Claim executions that are due."""
        check_ids(() if claim.execution_id is None else (claim.execution_id,))
        if self._local_instances is not None:
            await self._local_instances.look(claim.now)
        asked_at = running()
        found = await claims.claim(self._db, claim, self._takes_over_from(claim.lease_until - claim.now))
        await self._hear(asked_at, found.times)
        return found.claims

    def _takes_over_from(self, lease: int) -> int:
        """Return from which time of the server's clock on leases that are over are taken.

        When that clock was set, leases of instances which live are over by it: they get time to renew them.
        """
        if self._clock is not None:
            return 0  # nobody goes by the server's clock, whatever that does
        return _NEVER if self._server_clock.has_stepped(lease) else self._server_clock.least()

    async def _hear(self, asked_at: int, times: claims.Times) -> None:
        """Take over the times that a reply has brought along; what is new about them is for the others, too.

        They have it with their next claims and renewals. If they cannot be told now, they are with the next heartbeat.
        """
        clock = self._server_clock
        stepped_at = clock.stepped_at
        clock.hear(asked_at, times.server_time)
        if times.latest is not None:
            clock.keep_up(times.latest)
        if clock.stepped_at != stepped_at:
            with suppress(StoreError):  # what the reply was about is done
                await self._db.fetchval("heartbeat", self._instance, clock.now())

    async def renew(self, instance: str, leases: Sequence[Lease], until: int) -> list[str]:
        """Renew leases."""
        check_ids(lease.execution_id for lease in leases)
        asked_at = running()
        length = until - self._server_clock.now() if self._clock is None else None
        found = await claims.renew(self._db, instance, leases, until, length)
        if found.times is not None:
            await self._hear(asked_at, found.times)
        return found.lost

    def renewals(self) -> PostgresRenewals:
        """Return a way to renew from another thread, over a connection of its own."""
        return PostgresRenewals(self.address, self._server_clock.now if self._clock is None else None)

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
        await claims.release(self._db, instance, leases, wake_at, missing, held_at)

    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read the snapshots and entries from which states are rebuilt."""
        check_ids(execution_ids)
        db = self._db
        if self._loads is None:
            self._loads = Batcher(partial(queries.load_for_all, db))
        return await self._loads.ask(execution_ids)

    async def commands(self, execution_id: str, after: int) -> list[Command]:
        """Read commands."""
        check_ids([execution_id])
        return await queries.commands_after(self._db, execution_id, after)

    async def is_taken(self, execution_id: str, source: str) -> bool:
        """Return whether there is a command from a source."""
        check_ids([execution_id])
        return await queries.is_taken(self._db, execution_id, source)

    async def heads(self, execution_ids: Sequence[str]) -> list[Head | None]:
        """Read heads."""
        check_ids(execution_ids)
        return await queries.heads(self._db, execution_ids)

    async def unread(self, seen: Sequence[tuple[str, int]]) -> list[str]:
        """Return the executions that have unread commands."""
        check_ids(execution_id for execution_id, _ in seen)
        return await queries.unread(self._db, seen)

    async def enqueue(
        self, commands: Sequence[Enqueue], now: int, standing: Standing | None = None
    ) -> list[Enqueued | Refusal]:
        """Enqueue commands."""
        check_ids(command.execution_id for command in commands)
        db = self._db
        if standing is not None:
            return await enqueue_while(db, commands, now, standing)
        return await enqueue(db, commands, now)

    async def answer(
        self, answer: Answer, source: str, now: int, wish: Claim | None = None, audit: AuditEntry | None = None
    ) -> Reserved | Refusal:
        """Take an answer."""
        check_texts(answer.point, source)
        db = self._db
        if self._answers is None:
            self._answers = Answers(db)
        return await self._answers.take(AnswerRequest(answer, source, now, wish, audit))

    # Outboxes

    async def outbox(self, now: int, most: int) -> Outbox:
        """Read messages that are due."""
        return await outbox.outbox(self._db, now, most)

    async def sent(self, messages: Sequence[Message]) -> None:
        """Delete messages that were delivered."""
        check_ids(message.sender for message in messages)
        await outbox.delete_delivered(self._db, messages)

    async def postpone(self, message: Message, due_at: int) -> None:
        """Postpone a message."""
        check_ids([message.sender])
        await outbox.postpone(self._db, message, due_at)

    async def outgoing(self, sender: str) -> list[Message]:
        """Read the messages of one execution."""
        check_ids([sender])
        return await outbox.outgoing(self._db, sender)

    async def token(self, hash_: bytes) -> Wait | None:
        """Find the point that a token belongs to."""
        return await outbox.token(self._db, hash_)

    # Signals

    async def keep_signal(self, signal: Signal, audit: AuditEntry | None = None) -> bool:
        """Store a signal."""
        return await signals.store_signal(self._db, signal, audit)

    async def waits(self, name: str, key: str) -> list[Wait]:
        """Read the pause points that wait for a signal."""
        return await signals.waits(self._db, name, key)

    async def signals(self, name: str, key: str, since: int) -> list[Signal]:
        """Read signals."""
        return await signals.signals(self._db, name, key, since)

    async def undispatched(self, before: int, most: int) -> list[Signal]:
        """Read signals that were not yet sent to all pause points that wait for them."""
        return await signals.undispatched(self._db, before, most)

    async def dispatched(self, ids: Sequence[str]) -> None:
        """Record that signals were sent to all pause points that wait for them."""
        await signals.mark_dispatched(self._db, ids)

    async def forget_signals(self, before: int, most: int) -> int:
        """Delete dispatched signals."""
        return await signals.delete_old_signals(self._db, before, most)

    # Limits

    async def admit(self, wish: Wish, now: int) -> Admission:
        """Admit an execution, or give it a place in the queue."""
        check_ids([wish.execution_id])
        check_wish(wish)
        return await limits.admit(self._db, wish, now)

    async def free(self, execution_id: str, now: int) -> list[str]:
        """Release the slot of an execution, or its place in the queue."""
        check_ids([execution_id])
        return await limits.release_slot(self._db, execution_id, now)

    async def forget_rates(self, now: int) -> int:
        """Delete rates that are not used."""
        return await limits.delete_unused_rates(self._db, now)

    async def admission(self, execution_id: str) -> Admission | None:
        """Return whether an execution is admitted, or its place in the queue."""
        check_ids([execution_id])
        return await limits.admission(self._db, execution_id)

    # Retention

    async def expendable(self, before: int, most: int, workflow: str | None = None) -> list[str]:
        """Return executions that may be purged."""
        return await retention.purgeable_executions(self._db, before, most, workflow)

    async def purge(self, execution_ids: Sequence[str], before: int | None = None) -> int:
        """Delete executions."""
        check_ids(execution_ids)
        return await retention.purge(self._db, execution_ids, before)

    # Moving

    async def sizes(self, after: str, most: int) -> list[Size]:
        """Return the sizes of executions."""
        return await database_copy.sizes(self._db, after, most)

    async def wholes(self, execution_ids: Sequence[str]) -> list[Whole]:
        """Read executions with everything that belongs to them."""
        return await database_copy.read_executions(self._db, execution_ids)

    async def kept_signals(self, after: str, most: int) -> list[KeptSignal]:
        """Read all signals."""
        return await database_copy.kept_signals(self._db, after, most)

    async def used_rates(self, after: str, most: int) -> list[UsedRate]:
        """Read until when rates are used."""
        return await database_copy.used_rates(self._db, after, most)

    async def keep(self, batch: Batch) -> None:
        """Write a batch of another database."""
        await database_copy.write_batch(self._db, batch)

    async def purge_weeks(self, before: int | None) -> int:
        """Purge whole weeks, and drop empty partitions."""
        count = await weekly_partitions.purge_weeks(self._db, before) if before is not None else 0
        await weekly_partitions.drop_empty(self._db, await self.now())
        return count

    # Definitions

    async def save_version(
        self, workflow: str, hash_: str, document: bytes, now: int, audit: AuditEntry | None = None
    ) -> Version:
        """Save a definition."""
        return await definitions.save(self._db, workflow, hash_, document, now, audit)

    async def version(self, hash_: str) -> Version | None:
        """Find a version by its hash."""
        return await definitions.version(self._db, hash_)

    async def latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""
        return await definitions.latest(self._db, workflow)

    async def versions(self, workflow: str | None = None) -> list[Version]:
        """List versions."""
        return await definitions.versions(self._db, workflow)

    async def workflows(self, after: str = "", limit: int = 100) -> list[Version]:
        """List workflows."""
        return await definitions.workflows(self._db, after, limit)

    # Views

    async def get(self, execution_id: str) -> ExecutionRow | None:
        """Find an execution."""
        check_ids([execution_id])
        return await queries.get(self._db, execution_id)

    async def page(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions."""
        return await paging.page(self._db, wanted)

    async def paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        """List paused executions."""
        return await queries.paused(self._db, wanted)

    async def history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read a log."""
        check_ids([execution_id])
        return await queries.history(self._db, execution_id, since, limit)

    async def points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points."""
        db = self._db
        if wanted.execution_id is None:
            return await queries.points(db, wanted)
        check_ids([wanted.execution_id])
        if self._points is None:
            self._points = Batcher(partial(queries.points_of_executions, db))
        return await self._points.ask(wanted)

    async def point(self, point_id: str) -> PointRow | None:
        """Find a pause point."""
        return await queries.point_by_id(self._db, point_id)

    async def counts(self) -> dict[str, int]:
        """Count executions by status."""
        return await queries.counts(self._db)

    async def gauges(self, now: int, before: int) -> Gauges:
        """Count executions by status, due ones, unread commands and long pauses."""
        return await queries.gauges(self._db, now, before)

    async def liveness(self, instance: str) -> Liveness:
        """Return whether an instance is alive: it sends heartbeats, and on this machine it holds a lock."""
        db = self._db
        seen_at = await db.fetchval("heartbeat_of_instance", instance)
        silent = seen_at is None or seen_at <= await self.now() - SILENT_FOR
        return Liveness(alive=not silent and not is_dead_here(db.address, instance), seen_at=seen_at)

    async def others(self) -> list[str]:
        """Return the other instances that drive executions and sent a heartbeat not long ago."""
        names = await living(self._db)
        return [name for name in names if name != self._instance and not is_dead_here(self._db.address, name)]

    async def faults(self) -> list[Fault]:
        """Return rows without an execution."""
        return await inspection.faults(self._db)

    # Locks

    async def lock(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take or renew a named lock."""
        return await locks.take(self._db, name, holder, now, until)

    async def unlock(self, name: str, holder: str) -> None:
        """Release a named lock."""
        await locks.release(self._db, name, holder)


async def _register(db: Database, instance: str, now: int) -> None:
    if await db.fetchval("register_instance", instance, now, now - _GONE_AFTER) is None:
        raise StoreUnavailable(f"An instance {instance} is running already.", code="instance_taken")
