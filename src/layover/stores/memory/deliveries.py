"""Deliveries and destinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.delivery_records import (
    ClaimedDeliveries,
    DeliveryRow,
    DestinationCounts,
    DestinationRow,
    Settled,
)
from layover.stores import deliveries as shared
from layover.stores.checks import at_most, check_ids, check_texts
from layover.stores.deliveries import MOST_COUNTED, NEWEST_DELIVERY, NOT_SENT, DueDestination
from layover.stores.memory.appends import name_of
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.delivery_records import (
        DeliveryChange,
        DeliveryClaim,
        DeliveryFilter,
        DestinationSave,
        DestinationSaved,
        DestinationState,
        DueDestinations,
        Settlement,
    )
    from layover.ports.records import AuditRow, Message
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryDeliveries:
    """Deliveries in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def expand(
        self, message: Message, deliveries: Sequence[DeliveryRow], messages: Sequence[Message] = ()
    ) -> bool:
        """Insert deliveries in place of a message."""
        shared.check_deliveries(deliveries)
        check_ids(one.sender for one in (message, *messages))
        return expand(await self._session.turn(), message, deliveries, messages)

    async def read_due(self, now: int) -> DueDestinations:
        """Read which destinations have deliveries that are due."""
        return read_due(await self._session.turn(), now)

    async def claim(self, claim: DeliveryClaim) -> ClaimedDeliveries:
        """Claim due deliveries."""
        check_texts(claim.destination)
        return claim_due(await self._session.turn(), claim)

    async def settle(self, settlement: Settlement) -> Settled:
        """Write the outcome of an attempt."""
        check_ids([settlement.id])
        return settle(await self._session.turn(), settlement)

    async def change(self, change: DeliveryChange) -> DeliveryRow | None:
        """Change a delivery."""
        check_ids([change.id])
        return change_delivery(await self._session.turn(), change)

    async def find(self, delivery_id: str) -> DeliveryRow | None:
        """Find a delivery."""
        check_ids([delivery_id])
        return (await self._session.turn()).deliveries.get(delivery_id)

    async def list_deliveries(self, wanted: DeliveryFilter) -> list[DeliveryRow]:
        """List deliveries."""
        shared.check_filter(wanted)
        return list_deliveries(await self._session.turn(), wanted)

    async def count_sent(self, execution_id: str) -> int:
        """Count what was sent."""
        check_ids([execution_id])
        rows = (await self._session.turn()).deliveries.values()
        return sum(1 for row in rows if row.execution_id == execution_id and row.state == "sent")

    async def count_waiting(self, destination: str, most: int) -> int:
        """Count what waits for a sender."""
        rows = _first_of_lanes(await self._session.turn())
        return min(sum(1 for row in rows if row.destination == destination), at_most(most))

    async def count_by_destination(self) -> list[DestinationCounts]:
        """Count what is pending and dead."""
        return count_by_destination(await self._session.turn())

    async def delete_old(self, bodies_before: int, rows_before: int, most: int) -> int:
        """Empty bodies, and delete rows."""
        return delete_old(await self._session.turn(), bodies_before, rows_before, at_most(most))

    async def find_destination(self, name: str) -> DestinationRow | None:
        """Find a destination."""
        return (await self._session.turn()).destinations.get(name)

    async def list_destinations(self, after: str = "", limit: int = 100) -> list[DestinationRow]:
        """List destinations."""
        rows = (await self._session.turn()).destinations
        return [rows[name] for name in sorted(rows) if name > after][: at_most(limit)]

    async def save_destination(self, save: DestinationSave) -> DestinationSaved:
        """Save a destination."""
        check_texts(save.name)
        return save_destination(await self._session.turn(), save)

    async def set_destination_state(
        self, name: str, state: DestinationState, reason: str, at: int, audit: AuditRow | None = None
    ) -> DestinationRow:
        """Enable or disable a destination."""
        check_texts(name)
        db = await self._session.turn()
        row = db.destinations[name] = shared.in_state(_destination(db, name), state, reason, at)
        write_audit(db, audit)
        return row


def expand(
    db: MemoryDatabase, message: Message, deliveries: Sequence[DeliveryRow], messages: Sequence[Message]
) -> bool:
    """Insert deliveries in place of the message that they come from."""
    if _is_behind(db, message) or db.outbox.pop(name_of(message), None) is None:
        return False
    for row in deliveries:
        db.destinations[row.destination] = _destination(db, row.destination)
        db.deliveries.setdefault(row.id, row)
    _send(db, messages)
    return True


def _is_behind(db: MemoryDatabase, message: Message) -> bool:
    way = (message.sender, message.destination)
    return any((one.sender, one.destination) == way and one.n < message.n for one in db.outbox.values())


def read_due(db: MemoryDatabase, now: int) -> DueDestinations:
    """Read which destinations have deliveries that are due."""
    moments: dict[str, list[int]] = {}
    for row in _first_of_lanes(db):
        moments.setdefault(row.destination, []).append(row.due_at)
    found = [
        DueDestination(name, min(dues), min((at for at in dues if at > now), default=None), db.destinations.get(name))
        for name, dues in moments.items()
    ]
    return shared.due_destinations(found, now)


def claim_due(db: MemoryDatabase, claim: DeliveryClaim) -> ClaimedDeliveries:
    """Claim due deliveries to a destination, if it allows any."""
    row = db.destinations[claim.destination] = _destination(db, claim.destination)
    allowed = shared.allowed(row, claim)
    if not allowed.most:
        return ClaimedDeliveries(next_due=allowed.not_before)
    first = [one for one in _first_of_lanes(db) if one.destination == claim.destination]
    due = sorted((one for one in first if one.due_at <= claim.now), key=lambda one: (one.due_at, one.id))
    claimed = [shared.claimed(one, claim) for one in due[: allowed.most]]
    db.deliveries.update({one.id: one for one in claimed})
    row = db.destinations[row.name] = shared.claimed_from(row, claim, len(claimed))
    moments = [db.deliveries[one.id].due_at for one in first]
    next_due = shared.claim_again_at(row, claim, min(moments, default=None))
    return ClaimedDeliveries(deliveries=tuple(claimed), next_due=next_due)


def _first_of_lanes(db: MemoryDatabase) -> list[DeliveryRow]:
    """Return the pending deliveries that wait for no other one of their lane."""
    pending = [row for row in db.deliveries.values() if row.state == "pending"]
    first: dict[tuple[str, str], DeliveryRow] = {}
    for row in pending:
        known = first.setdefault((row.destination, row.lane), row)
        if row.lane and (row.n, row.id) < (known.n, known.id):
            first[row.destination, row.lane] = row
    return [row for row in pending if not row.lane or first[row.destination, row.lane] is row]


def settle(db: MemoryDatabase, given: Settlement) -> Settled:
    """Write the outcome of an attempt, if the delivery is still that of its claim."""
    row = db.deliveries.get(given.id)
    if row is None or row.state != "pending" or row.epoch != given.epoch:
        return Settled(passed=False)
    db.deliveries[row.id] = shared.settled(row, given)
    destination = _destination(db, row.destination)
    judged = db.destinations[row.destination] = shared.judged(destination, row, given)
    _send(db, given.messages)
    if judged.state != destination.state and given.on_disabled is not None:
        _send(db, [given.on_disabled])
    if row.awaited and given.state != "pending":
        _end_wait(db, row, given)
    return Settled(passed=True, destination=judged)


def change_delivery(db: MemoryDatabase, change: DeliveryChange) -> DeliveryRow | None:
    """Change a delivery, if it is in a state that allows it."""
    row = db.deliveries.get(change.id)
    changed = shared.changed(row, change) if row is not None else None
    if changed is None:
        return None
    db.deliveries[change.id] = changed
    if changed.awaited and changed.state != "pending":
        _end_wait(db, changed, change)
    write_audit(db, change.audit)
    return db.deliveries[change.id]


def _end_wait(db: MemoryDatabase, row: DeliveryRow, given: Settlement | DeliveryChange) -> None:
    """Write what a point waits for, once all of it is settled."""
    event = (row.execution_id, row.n)
    awaited = [one for one in db.deliveries.values() if one.awaited and (one.execution_id, one.n) == event]
    outcome = shared.outcome_of(
        given,
        some_pending=any(one.state == "pending" for one in awaited),
        some_not_sent=any(one.state in NOT_SENT for one in awaited),
    )
    if outcome is not None:
        db.deliveries.update({one.id: replace(one, awaited=False) for one in awaited})
        _send(db, [outcome])


def list_deliveries(db: MemoryDatabase, wanted: DeliveryFilter) -> list[DeliveryRow]:
    """List deliveries, newest first."""
    before = wanted.after or NEWEST_DELIVERY
    found = [
        row
        for row in db.deliveries.values()
        if (row.created_at, row.id) < before
        and wanted.state in (None, row.state)
        and wanted.destination in (None, row.destination)
        and wanted.execution_id in (None, row.execution_id)
        and wanted.point in (None, row.point)
    ]
    return sorted(found, key=_age, reverse=True)[: at_most(wanted.limit)]


def _age(row: DeliveryRow) -> tuple[int, str]:
    return row.created_at, row.id


def count_by_destination(db: MemoryDatabase) -> list[DestinationCounts]:
    """Count what is pending and dead, by destination."""
    states: dict[str, list[DeliveryRow]] = {}
    for row in db.deliveries.values():
        states.setdefault(row.destination, []).append(row)
    return shared.counts_of(
        (name, _count(rows, "pending"), _count(rows, "dead"), _oldest(rows)) for name, rows in sorted(states.items())
    )


def _count(rows: Iterable[DeliveryRow], state: str) -> int:
    return min(sum(1 for row in rows if row.state == state), MOST_COUNTED)


def _oldest(rows: Iterable[DeliveryRow]) -> int | None:
    return min((row.created_at for row in rows if row.state == "pending"), default=None)


def delete_old(db: MemoryDatabase, bodies_before: int, rows_before: int, most: int) -> int:
    """Empty bodies that are not needed any more, then delete rows that are old; the oldest first."""
    ended = [(row.settled_at, row.id) for row in db.deliveries.values() if row.settled_at is not None]
    kept = [name for name in ended if db.deliveries[name[1]].body and db.deliveries[name[1]].state != "dead"]
    emptied = sorted(name for name in kept if name[0] < bodies_before)[:most]
    for _, id_ in emptied:
        db.deliveries[id_] = replace(db.deliveries[id_], body=b"")
    deleted = sorted(name for name in ended if name[0] < rows_before)[:most]
    for _, id_ in deleted:
        del db.deliveries[id_]
    return len(emptied) + len(deleted)


def save_destination(db: MemoryDatabase, save: DestinationSave) -> DestinationSaved:
    """Create, replace or delete a destination."""
    saved = shared.saving(db.destinations.get(save.name), save)
    if saved.verdict == "saved":
        if saved.row is not None:
            db.destinations[save.name] = saved.row
        else:
            del db.destinations[save.name]
        write_audit(db, save.audit)
    return saved


def _destination(db: MemoryDatabase, name: str) -> DestinationRow:
    return db.destinations.get(name) or DestinationRow(name=name)


def _send(db: MemoryDatabase, messages: Iterable[Message]) -> None:
    for message in messages:
        db.outbox.setdefault(name_of(message), message)
