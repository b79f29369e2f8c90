"""Deliveries and destinations.

Locks are taken in one order: destinations by name, then the event that a point waits for, then deliveries. What is
decided from a row is read after the lock. A lane belongs to a destination, so it changes under the lock of that one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import astuple

from layover.ports.delivery_records import ClaimedDeliveries, DestinationRow, Settled
from layover.stores import deliveries as shared
from layover.stores.checks import at_most, check_ids, check_texts
from layover.stores.deliveries import MOST_COUNTED, NEWEST_DELIVERY, DueDestination, destination_of
from layover.stores.postgres.audit import write_audit
from layover.stores.postgres.batcher import Batcher
from layover.stores.postgres.settlements import (
    Nothing,
    Settlements,
    change_delivery,
    columns,
    delivery_of,
    find_delivery,
    send,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

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
    from layover.stores.postgres.database import StatementRunner
    from layover.stores.postgres.session import PostgresSession


_MOST_TOGETHER: Final = 10  # deliveries of a message that is expanded together with others


class _Expansion(NamedTuple):
    """What is to be inserted in place of a message."""

    message: Message
    deliveries: Sequence[DeliveryRow]
    messages: Sequence[Message]


class PostgresDeliveries:
    """Deliveries of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._settlements = Settlements(session)
        self._expansions = Batcher(self._expand_all)

    def start_anew(self) -> None:
        """Begin with new batches: those of before may belong to an event loop that has ended."""
        self._settlements.start_anew()
        self._expansions = Batcher(self._expand_all)

    async def expand(
        self, message: Message, deliveries: Sequence[DeliveryRow], messages: Sequence[Message] = ()
    ) -> bool:
        """Insert deliveries in place of a message, together with those of other messages."""
        shared.check_deliveries(deliveries)
        check_ids(one.sender for one in (message, *messages))
        expansion = _Expansion(message, deliveries, messages)
        try:
            if len(deliveries) > _MOST_TOGETHER:
                return all(await self._expand_all([expansion]))
            return await self._expansions.ask(expansion)
        except Nothing:
            return False

    async def _expand_all(self, group: Sequence[_Expansion]) -> list[bool]:
        """Expand messages in one transaction, or none of them: then each is tried alone."""
        await self._session.db.transact(lambda tx: _expand(tx, group))
        return [True for _ in group]

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
        return await self._settlements.settle(settlement)

    async def change(self, change: DeliveryChange) -> DeliveryRow | None:
        """Change a delivery, if it is in a state that allows it."""
        check_ids([change.id])
        try:
            return await self._session.db.transact(lambda tx: change_delivery(tx, change))
        except Nothing:
            return None

    async def find(self, delivery_id: str) -> DeliveryRow | None:
        """Find a delivery."""
        check_ids([delivery_id])
        return await find_delivery(self._session.db, delivery_id)

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

    async def count_waiting(self, destination: str, most: int) -> int:
        """Return how many deliveries to a destination can be claimed once they are due; at most so many."""
        count: int = await self._session.db.fetchval("count_waiting_deliveries", destination, at_most(most))
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


async def _expand(tx: StatementRunner, group: Sequence[_Expansion]) -> None:
    names = {row.destination for one in group for row in one.deliveries}
    if names:
        await _locked(tx, names)
    given = [(one.message.sender, one.message.destination, one.message.n) for one in group]
    if len(await tx.fetch("take_messages", *columns(given))) < len(group):
        raise Nothing
    await insert_deliveries(tx, [row for one in group for row in one.deliveries])
    await send(tx, [message for one in group for message in one.messages])


async def insert_deliveries(tx: StatementRunner, deliveries: Sequence[DeliveryRow]) -> int:
    """Insert deliveries into their lanes; those that exist stay as they are. Return how many are new."""
    if not deliveries:
        return 0
    inserted = await tx.fetch("insert_deliveries", *columns([astuple(row) for row in deliveries]))
    lanes = Counter((destination, lane) for destination, lane, state in inserted if lane and state == "pending")
    if lanes:
        rows = [(destination, lane, count + 1) for (destination, lane), count in sorted(lanes.items())]
        await tx.fetch("align_lanes", *columns(rows))
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


async def write_destinations(db: StatementRunner, rows: Sequence[DestinationRow]) -> None:
    """Write destinations."""
    await db.fetch("save_destinations", *columns([astuple(row) for row in rows]))
