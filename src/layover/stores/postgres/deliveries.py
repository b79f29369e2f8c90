"""Deliveries and destinations.

Locks are taken in one order: destinations by name, then the event that a point waits for, then deliveries. What is
decided from a row is read after the lock. A lane belongs to a destination, so it changes under the lock of that one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import astuple

from layover.ports.delivery_records import ClaimedDeliveries, DestinationRow, Settled
from layover.stores import deliveries as shared
from layover.stores.checks import at_most, check_ids, check_texts
from layover.stores.deliveries import MOST_COUNTED, NEWEST_DELIVERY, NOT_SENT, DueDestination, destination_of
from layover.stores.postgres.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from layover.ports.delivery_records import (
        DeliveryChange,
        DeliveryClaim,
        DeliveryFilter,
        DeliveryRow,
        DestinationCounts,
        DestinationSave,
        DestinationSaved,
        DestinationState,
        DueDestinations,
        Settlement,
    )
    from layover.ports.records import AuditRow, Message
    from layover.stores.postgres.database import Row, StatementRunner
    from layover.stores.postgres.session import PostgresSession


class _Nothing(Exception):  # noqa: N818 - it says what there is to do
    """There is nothing to write. What was written only to be locked is taken back with the transaction."""


class PostgresDeliveries:
    """Deliveries of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def expand(
        self, message: Message, deliveries: Sequence[DeliveryRow], messages: Sequence[Message] = ()
    ) -> bool:
        """Insert deliveries and delete the message that they come from; nothing if the message is gone."""
        shared.check_deliveries(deliveries)
        check_ids(one.sender for one in (message, *messages))
        try:
            await self._session.db.transact(lambda tx: _expand(tx, message, deliveries, messages))
        except _Nothing:
            return False
        return True

    async def read_due(self, now: int) -> DueDestinations:
        """Read which destinations have deliveries that are due."""
        rows = await self._session.db.fetch("due_destinations", now)
        found = [
            DueDestination(name, first, later, destination_of(columns) if columns[0] is not None else None)
            for name, first, later, *columns in rows
        ]
        return shared.due_destinations(found, now)

    async def claim(self, claim: DeliveryClaim) -> ClaimedDeliveries:
        """Claim due deliveries to a destination, if it allows any."""
        check_texts(claim.destination)
        return await self._session.db.transact(lambda tx: _claim(tx, claim))

    async def settle(self, settlement: Settlement) -> Settled:
        """Write the outcome of an attempt, if the delivery is still that of its claim."""
        check_ids([settlement.id])
        try:
            return await self._session.db.transact(lambda tx: _settle(tx, settlement))
        except _Nothing:
            return Settled(passed=False)

    async def change(self, change: DeliveryChange) -> DeliveryRow | None:
        """Change a delivery, if it is in a state that allows it."""
        check_ids([change.id])
        try:
            return await self._session.db.transact(lambda tx: _change(tx, change))
        except _Nothing:
            return None

    async def find(self, delivery_id: str) -> DeliveryRow | None:
        """Find a delivery."""
        check_ids([delivery_id])
        return await _find(self._session.db, delivery_id)

    async def list_deliveries(self, wanted: DeliveryFilter) -> list[DeliveryRow]:
        """List deliveries, newest first, by the index that fits the filter best."""
        shared.check_filter(wanted)
        db = self._session.db
        after = wanted.after or NEWEST_DELIVERY
        usual = (list(shared.states_of(wanted)), *after, at_most(wanted.limit), wanted.point)
        if wanted.execution_id is not None:
            named = (wanted.destination, wanted.execution_id)
            rows = await db.fetch("list_deliveries_of_execution", *usual, *named)
        elif wanted.destination is not None:
            rows = await db.fetch("list_deliveries_of_destination", *usual, wanted.destination)
        else:
            rows = await db.fetch("list_deliveries", *usual)
        return [delivery_of(row) for row in rows]

    async def count_sent(self, execution_id: str) -> int:
        """Return how many deliveries of an execution were sent."""
        check_ids([execution_id])
        count: int = await self._session.db.fetchval("count_sent_deliveries", execution_id)
        return count

    async def count_by_destination(self) -> list[DestinationCounts]:
        """Count what is pending and dead, for every destination that has any."""
        return shared.counts_of(await self._session.db.fetch("count_deliveries_by_destination", MOST_COUNTED))

    async def delete_old(self, bodies_before: int, rows_before: int, most: int) -> int:
        """Empty bodies that are not needed any more, then delete rows that are old; the oldest first."""
        db = self._session.db
        emptied: int = await db.fetchval("empty_old_deliveries", bodies_before, at_most(most))
        deleted: int = await db.fetchval("delete_old_deliveries", rows_before, at_most(most))
        return emptied + deleted

    async def find_destination(self, name: str) -> DestinationRow | None:
        """Find what is known of a destination."""
        row = await self._session.db.fetchrow("destination_by_name", name)
        return destination_of(row) if row is not None else None

    async def list_destinations(self, after: str = "", limit: int = 100) -> list[DestinationRow]:
        """List what is known of destinations, by name, beginning after one."""
        return [destination_of(row) for row in await self._session.db.fetch("list_destinations", after, at_most(limit))]

    async def save_destination(self, save: DestinationSave) -> DestinationSaved:
        """Create, replace or delete a destination."""
        check_texts(save.name)
        return await self._session.db.transact(lambda tx: _save_destination(tx, save))

    async def set_destination_state(
        self, name: str, state: DestinationState, reason: str, at: int, audit: AuditRow | None = None
    ) -> DestinationRow:
        """Enable or disable a destination."""
        check_texts(name)

        async def work(tx: StatementRunner) -> DestinationRow:
            row = shared.in_state((await _locked(tx, [name]))[name], state, reason, at)
            await write_destinations(tx, [row])
            await write_audit(tx, audit)
            return row

        return await self._session.db.transact(work)


async def _locked(tx: StatementRunner, names: Collection[str]) -> dict[str, DestinationRow]:
    """Lock destinations; those that have no row get one, so that there is something to lock."""
    while True:
        rows = [destination_of(row) for row in await tx.fetch("lock_destinations", sorted(names))]
        if len(rows) == len(names):
            return {row.name: row for row in rows}
        missing = set(names) - {row.name for row in rows}
        await tx.fetch("create_destinations", sorted(missing))  # it may be deleted before it is locked: then again


async def _expand(
    tx: StatementRunner, message: Message, deliveries: Sequence[DeliveryRow], messages: Sequence[Message]
) -> None:
    names = {row.destination for row in deliveries}
    if names:
        await _locked(tx, names)
    if await tx.fetchrow("take_message", message.sender, message.destination, message.n) is None:
        raise _Nothing
    await insert_deliveries(tx, deliveries)
    await send(tx, messages)


async def insert_deliveries(tx: StatementRunner, deliveries: Sequence[DeliveryRow]) -> int:
    """Insert deliveries into their lanes; those that exist stay as they are. Return how many are new."""
    if not deliveries:
        return 0
    inserted = await tx.fetch("insert_deliveries", *_columns([astuple(row) for row in deliveries]))
    lanes = Counter((destination, lane) for destination, lane, state in inserted if lane and state == "pending")
    if lanes:
        rows = [(destination, lane, count + 1) for (destination, lane), count in sorted(lanes.items())]
        await tx.fetch("align_lanes", *_columns(rows))
    return len(inserted)


async def _claim(tx: StatementRunner, claim: DeliveryClaim) -> ClaimedDeliveries:
    was = (await _locked(tx, [claim.destination]))[claim.destination]
    allowed = shared.allowed(was, claim)
    if not allowed.most:
        return ClaimedDeliveries(next_due=allowed.not_before)
    rows = await tx.fetch("claim_deliveries", claim.destination, claim.now, allowed.most, claim.due_again)
    claimed = tuple(delivery_of(columns) for _, _, *columns in rows if columns[0] is not None)
    row = shared.claimed_from(was, claim, len(claimed))
    if row != was:
        await write_destinations(tx, [row])
    moments = [at for at in (rows[0][0], *(one.due_at for one in claimed)) if at is not None]
    return ClaimedDeliveries(deliveries=claimed, next_due=shared.claim_again_at(row, claim, min(moments, default=None)))


async def _settle(tx: StatementRunner, given: Settlement) -> Settled:
    row, destination = await _locked_delivery(tx, given.id, given)
    if row.state != "pending" or row.epoch != given.epoch:
        raise _Nothing
    await _write(tx, row, shared.settled(row, given))
    judged = shared.judged(destination, row, given)
    if judged != destination:
        await write_destinations(tx, [judged])
    messages = list(given.messages)
    if judged.state != destination.state and given.on_disabled is not None:
        messages.append(given.on_disabled)
    if row.awaited and given.state != "pending":
        messages += await _end_wait(tx, row, given)
    await send(tx, messages)
    return Settled(passed=True, destination=judged)


async def _change(tx: StatementRunner, change: DeliveryChange) -> DeliveryRow | None:
    row, _ = await _locked_delivery(tx, change.id, change)
    changed = shared.changed(row, change)
    if changed is None:
        raise _Nothing
    await _write(tx, row, changed)
    if changed.awaited and changed.state != "pending":
        await send(tx, await _end_wait(tx, changed, change))
    await write_audit(tx, change.audit)
    return await _find(tx, change.id)


async def _locked_delivery(
    tx: StatementRunner, delivery_id: str, given: Settlement | DeliveryChange
) -> tuple[DeliveryRow, DestinationRow]:
    """Lock the destination of a delivery, its event if a point waits for it and it is over, and then the delivery."""
    while (found := await tx.fetchrow("lock_destination_of_delivery", delivery_id)) is None:
        name: str | None = await tx.fetchval("destination_of_delivery", delivery_id)
        if name is None:
            raise _Nothing
        await tx.fetch("create_destinations", [name])  # it was deleted
    awaited, execution_id, n, *destination = found
    if awaited and given.state != "pending":
        await tx.fetch("lock_event", execution_id, n)
    row = await tx.fetchrow("lock_delivery", delivery_id)
    if row is None:
        raise _Nothing
    return delivery_of(row), destination_of(destination)


async def _write(tx: StatementRunner, was: DeliveryRow, row: DeliveryRow) -> None:
    """Write what has changed of a delivery, and let the next one of its lane follow, or wait."""
    outcome = (row.state, row.reason, row.due_at, row.epoch, row.attempts, row.history, row.settled_at)
    await tx.fetch("write_delivery", row.id, *outcome)
    if row.state != was.state and row.lane:
        await tx.fetch("align_lanes", [row.destination], [row.lane], [2])


async def _end_wait(tx: StatementRunner, row: DeliveryRow, given: Settlement | DeliveryChange) -> list[Message]:
    """Return what a point waits for, once all of it is settled; then it waits no longer."""
    awaited = await tx.fetch("awaited_deliveries", row.execution_id, row.n)
    states = {state for _, state in awaited}
    outcome = shared.outcome_of(given, some_pending="pending" in states, some_not_sent=not states.isdisjoint(NOT_SENT))
    if outcome is None:
        return []
    await tx.fetch("end_wait_for_deliveries", [id_ for id_, _ in awaited])
    return [outcome]


async def _save_destination(tx: StatementRunner, save: DestinationSave) -> DestinationSaved:
    known: DestinationRow | None
    if save.create:
        known = (await _locked(tx, [save.name]))[save.name]
    else:
        row = next(iter(await tx.fetch("lock_destinations", [save.name])), None)
        known = destination_of(row) if row is not None else None
    saved = shared.saving(known, save)
    if saved.verdict == "saved" and saved.row is not None:
        await write_destinations(tx, [saved.row])
        await write_audit(tx, save.audit)
    elif saved.verdict == "saved":
        await tx.fetch("delete_destination", save.name)
        await write_audit(tx, save.audit)
    return saved


async def _find(db: StatementRunner, delivery_id: str) -> DeliveryRow | None:
    row = await db.fetchrow("delivery_by_id", delivery_id)
    return delivery_of(row) if row is not None else None


async def write_destinations(db: StatementRunner, rows: Sequence[DestinationRow]) -> None:
    """Write destinations."""
    await db.fetch("save_destinations", *_columns([astuple(row) for row in rows]))


async def send(db: StatementRunner, messages: Sequence[Message]) -> None:
    """Write messages into the outbox; one that is there already stays."""
    if messages:
        await db.fetch("send_messages", *_columns([astuple(message) for message in messages]))


def _columns(rows: Sequence[Iterable[object]]) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)]


def delivery_of(row: Row | list[Any]) -> DeliveryRow:
    """Return a delivery."""
    return shared.delivery_of(row[0], row[1], row)
