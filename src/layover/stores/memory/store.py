"""The store: each method of the port runs at once, one after the other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Liveness
from layover.stores.checks import check_ids, check_texts, checked_appends
from layover.stores.limits import check_wish
from layover.stores.memory import (
    claims,
    database_copy,
    definitions,
    limits,
    outbox,
    queries,
    retention,
    signals,
)
from layover.stores.memory.access import MemoryAccess
from layover.stores.memory.appends import commit, commit_informed
from layover.stores.memory.commands import enqueue, take_answer
from layover.stores.memory.database import MemoryDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


class MemoryStore(MemoryAccess):
    """The store of one instance; several may share a database."""

    lanes = 1

    def __init__(self, database: MemoryDatabase | None = None) -> None:
        self.database = database if database is not None else MemoryDatabase()
        self._instance: str | None = None

    async def open(self, instance: str) -> None:
        """Open the database for an instance. Executions that it drove before it was restarted are due at once."""
        if self._instance is not None:
            raise StoreError("The store is open already.", code="open")
        if instance in self.database.instances:
            raise StoreUnavailable(f"An instance {instance} is running already.", code="instance_taken")
        self.database.instances.add(instance)
        self._instance = instance
        claims.expire_leases(self.database, instance, self.database.clock())

    async def close(self) -> None:
        """Close the store; the database stays."""
        self.database.instances.discard(self._instance or "")
        self._instance = None

    async def now(self) -> int:
        """Return the time of the clock that all instances share."""
        return self.database.clock()

    @property
    def clock_error(self) -> int:
        """By how much that time may be wrong: not at all, since it is the clock itself."""
        return 0

    async def check_shape(self) -> None:
        """Raise an error if the tables are not those of this release."""
        await self._turn()

    async def _turn(self) -> MemoryDatabase:
        """Let other tasks run first, as waiting for a disk would; what follows runs without a break."""
        if self._instance is None:
            raise StoreUnavailable("The store is not open.", code="closed")
        await asyncio.sleep(0)
        return self.database

    # The run plane

    async def commit(self, appends: Sequence[Append]) -> list[Outcome]:
        """Write appends."""
        checked = checked_appends(appends)
        return commit(await self._turn(), checked)

    async def commit_informed(self, append: Append, decide: Callable[[tuple[Command, ...]], Append]) -> Outcome:
        """Write an append; decide it again if it does not know all commands."""
        (checked,) = checked_appends([append])
        return commit_informed(await self._turn(), checked, decide)

    async def claim(self, claim: Claim) -> Claims:
        """Claim executions that are due."""
        check_ids(() if claim.execution_id is None else (claim.execution_id,))
        return claims.claim(await self._turn(), claim)

    async def renew(self, instance: str, leases: Sequence[Lease], until: int) -> list[str]:
        """Renew leases."""
        check_ids(lease.execution_id for lease in leases)
        return claims.renew(await self._turn(), instance, leases, until)

    def renewals(self) -> None:
        """Return nothing: no other process can take over an execution."""

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
        claims.release(await self._turn(), instance, leases, wake_at, missing, held_at)

    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read the snapshots and entries from which states are rebuilt."""
        return queries.load(await self._turn(), execution_ids)

    async def commands(self, execution_id: str, after: int) -> list[Command]:
        """Read commands."""
        return queries.commands(await self._turn(), execution_id, after)

    async def is_taken(self, execution_id: str, source: str) -> bool:
        """Return whether there is a command from a source."""
        return queries.is_taken(await self._turn(), execution_id, source)

    async def heads(self, execution_ids: Sequence[str]) -> list[Head | None]:
        """Read heads."""
        return queries.heads(await self._turn(), execution_ids)

    async def unread(self, seen: Sequence[tuple[str, int]]) -> list[str]:
        """Return the executions that have unread commands."""
        return queries.unread(await self._turn(), seen)

    async def enqueue(
        self, commands: Sequence[Enqueue], now: int, standing: Standing | None = None
    ) -> list[Enqueued | Refusal]:
        """Enqueue commands."""
        check_ids(command.execution_id for command in commands)
        return enqueue(await self._turn(), commands, now, standing)

    async def answer(
        self, answer: Answer, source: str, now: int, wish: Claim | None = None, audit: AuditEntry | None = None
    ) -> Reserved | Refusal:
        """Take an answer."""
        check_texts(answer.point, source)
        return take_answer(await self._turn(), answer, source, now, wish, audit)

    # Outboxes

    async def outbox(self, now: int, most: int) -> Outbox:
        """Read messages that are due."""
        return outbox.outbox(await self._turn(), now, most)

    async def sent(self, messages: Sequence[Message]) -> None:
        """Delete messages that were delivered."""
        check_ids(message.sender for message in messages)
        outbox.sent(await self._turn(), messages)

    async def postpone(self, message: Message, due_at: int) -> None:
        """Postpone a message."""
        check_ids([message.sender])
        outbox.postpone(await self._turn(), message, due_at)

    async def outgoing(self, sender: str) -> list[Message]:
        """Read the messages of one execution."""
        check_ids([sender])
        return outbox.outgoing(await self._turn(), sender)

    async def token(self, hash_: bytes) -> Wait | None:
        """Find the point that a token belongs to."""
        return (await self._turn()).tokens.get(hash_)

    # Signals

    async def keep_signal(self, signal: Signal, audit: AuditEntry | None = None) -> bool:
        """Store a signal."""
        return signals.store_signal(await self._turn(), signal, audit)

    async def waits(self, name: str, key: str) -> list[Wait]:
        """Read the pause points that wait for a signal."""
        return signals.waits(await self._turn(), name, key)

    async def signals(self, name: str, key: str, since: int) -> list[Signal]:
        """Read signals."""
        return signals.signals(await self._turn(), name, key, since)

    async def undispatched(self, before: int, most: int) -> list[Signal]:
        """Read signals that were not yet sent to all pause points that wait for them."""
        return signals.undispatched(await self._turn(), before, most)

    async def dispatched(self, ids: Sequence[str]) -> None:
        """Record that signals were sent to all pause points that wait for them."""
        signals.mark_dispatched(await self._turn(), ids)

    async def forget_signals(self, before: int, most: int) -> int:
        """Delete dispatched signals."""
        return signals.delete_old_signals(await self._turn(), before, most)

    # Limits

    async def admit(self, wish: Wish, now: int) -> Admission:
        """Admit an execution, or give it a place in the queue."""
        check_ids([wish.execution_id])
        check_wish(wish)
        return limits.admit(await self._turn(), wish, now)

    async def free(self, execution_id: str, now: int) -> list[str]:
        """Release the slot of an execution, or its place in the queue."""
        check_ids([execution_id])
        return limits.free(await self._turn(), execution_id, now)

    async def forget_rates(self, now: int) -> int:
        """Delete rates that are not used."""
        return limits.delete_unused_rates(await self._turn(), now)

    async def admission(self, execution_id: str) -> Admission | None:
        """Return whether an execution is admitted, or its place in the queue."""
        check_ids([execution_id])
        return limits.admission(await self._turn(), execution_id)

    # Retention

    async def expendable(self, before: int, most: int, workflow: str | None = None) -> list[str]:
        """Return executions that may be purged."""
        return retention.purgeable_executions(await self._turn(), before, most, workflow)

    async def purge_weeks(self, before: int | None) -> int:  # noqa: ARG002 - there are none
        """Do nothing: there are no weekly partitions."""
        await self._turn()
        return 0

    async def purge(self, execution_ids: Sequence[str], before: int | None = None) -> int:
        """Delete executions."""
        check_ids(execution_ids)
        return retention.purge(await self._turn(), execution_ids, before)

    # Moving

    async def sizes(self, after: str, most: int) -> list[Size]:
        """Return the sizes of executions."""
        return database_copy.sizes(await self._turn(), after, most)

    async def wholes(self, execution_ids: Sequence[str]) -> list[Whole]:
        """Read executions with everything that belongs to them."""
        return database_copy.read_executions(await self._turn(), execution_ids)

    async def kept_signals(self, after: str, most: int) -> list[KeptSignal]:
        """Read all signals."""
        return database_copy.kept_signals(await self._turn(), after, most)

    async def used_rates(self, after: str, most: int) -> list[UsedRate]:
        """Read until when rates are used."""
        return database_copy.used_rates(await self._turn(), after, most)

    async def keep(self, batch: Batch) -> None:
        """Write a batch of another database."""
        database_copy.write_batch(await self._turn(), batch)

    # Definitions

    async def save_version(
        self, workflow: str, hash_: str, document: bytes, now: int, audit: AuditEntry | None = None
    ) -> Version:
        """Save a definition."""
        return definitions.save(await self._turn(), workflow, hash_, document, now, audit)

    async def version(self, hash_: str) -> Version | None:
        """Find a version by its hash."""
        return definitions.version(await self._turn(), hash_)

    async def latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""
        return definitions.latest(await self._turn(), workflow)

    async def versions(self, workflow: str | None = None) -> list[Version]:
        """List versions."""
        return definitions.versions(await self._turn(), workflow)

    async def workflows(self, after: str = "", limit: int = 100) -> list[Version]:
        """List workflows."""
        return definitions.workflows(await self._turn(), after, limit)

    # Views

    async def get(self, execution_id: str) -> ExecutionRow | None:
        """Find an execution."""
        return queries.get(await self._turn(), execution_id)

    async def page(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions."""
        return queries.page(await self._turn(), wanted)

    async def paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        """List paused executions."""
        return queries.paused(await self._turn(), wanted)

    async def history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read a log."""
        return queries.history(await self._turn(), execution_id, since, limit)

    async def points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points."""
        return queries.points(await self._turn(), wanted)

    async def point(self, point_id: str) -> PointRow | None:
        """Find a pause point."""
        return (await self._turn()).points.get(point_id)

    async def counts(self) -> dict[str, int]:
        """Count executions by status."""
        return queries.counts(await self._turn())

    async def gauges(self, now: int, before: int) -> Gauges:
        """Count executions by status, due ones, unread commands and long pauses."""
        return queries.gauges(await self._turn(), now, before)

    async def liveness(self, instance: str) -> Liveness:
        """Return whether an instance is alive: all of them are in this process."""
        return Liveness(alive=bool(instance))

    async def others(self) -> list[str]:
        """Return the other instances that have the database open."""
        return sorted((await self._turn()).instances - {self._instance})

    # Locks

    async def lock(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take or renew a named lock."""
        locks = (await self._turn()).locks
        held_by, held_until = locks.get(name, (holder, until))
        if held_by != holder and held_until > now:
            return False
        locks[name] = (holder, until)
        return True

    async def unlock(self, name: str, holder: str) -> None:
        """Release a named lock."""
        locks = (await self._turn()).locks
        if name in locks and locks[name][0] == holder:
            del locks[name]
