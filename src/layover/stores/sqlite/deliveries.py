"""Deliveries and destinations. The writer holds the write lock, so nothing changes between read and write."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from layover.ports.delivery_records import ClaimedDeliveries, DeliveryRow, DestinationRow, Settled
from layover.stores import deliveries as shared
from layover.stores.checks import at_most, check_ids, check_texts
from layover.stores.deliveries import MOST_COUNTED, NEWEST_DELIVERY, NOT_SENT, DueDestination, destination_of
from layover.stores.ids import key, text
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.outbox import take_message
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from layover.ports.delivery_records import (
        DeliveryChange,
        DeliveryClaim,
        DeliveryFilter,
        DestinationCounts,
        DestinationSave,
        DestinationSaved,
        DestinationState,
        DueDestinations,
        Settlement,
    )
    from layover.ports.records import AuditRow, Message
    from layover.stores.sqlite.rows import Row
    from layover.stores.sqlite.session import SqliteSession

_COUNT_SENT = SQL["count_sent_deliveries"]
_FEW_SENT = 100  # deliveries that are counted at a glance; more could hold up the event loop


class SqliteDeliveries:
    """Deliveries of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def expand(
        self, message: Message, deliveries: Sequence[DeliveryRow], messages: Sequence[Message] = ()
    ) -> bool:
        """Insert deliveries in place of a message."""
        shared.check_deliveries(deliveries)
        check_ids(one.sender for one in (message, *messages))
        return await self._session.write(lambda db: expand(db, message, deliveries, messages))

    async def read_due(self, now: int) -> DueDestinations:
        """Read which destinations have deliveries that are due."""
        return await self._session.read(lambda db: read_due(db, now))

    async def claim(self, claim: DeliveryClaim) -> ClaimedDeliveries:
        """Claim due deliveries."""
        check_texts(claim.destination)
        return await self._session.write(lambda db: claim_due(db, claim))

    async def settle(self, settlement: Settlement) -> Settled:
        """Write the outcome of an attempt."""
        check_ids([settlement.id])
        return await self._session.write(lambda db: settle(db, settlement))

    async def change(self, change: DeliveryChange) -> DeliveryRow | None:
        """Change a delivery."""
        check_ids([change.id])
        return await self._session.write(lambda db: change_delivery(db, change))

    async def find(self, delivery_id: str) -> DeliveryRow | None:
        """Find a delivery."""
        check_ids([delivery_id])
        return await self._session.glance(lambda db: find(db, delivery_id))

    async def list_deliveries(self, wanted: DeliveryFilter) -> list[DeliveryRow]:
        """List deliveries."""
        return await self._session.read(lambda db: list_deliveries(db, wanted))

    async def count_sent(self, execution_id: str) -> int:
        """Count what was sent."""
        values = {"execution_id": key(execution_id), "most": _FEW_SENT}
        count: int = await self._session.glance(lambda db: db.execute(_COUNT_SENT, values).get)
        if count == _FEW_SENT:
            values["most"] = -1  # all of them
            count = await self._session.read(lambda db: db.execute(_COUNT_SENT, values).get)
        return count

    async def count_waiting(self, destination: str, most: int) -> int:
        """Count what waits for a sender."""
        values = {"destination": destination, "most": at_most(most)}
        count: int = await self._session.glance(lambda db: db.execute(SQL["count_waiting_deliveries"], values).get)
        return count

    async def count_by_destination(self) -> list[DestinationCounts]:
        """Count what is pending and dead."""
        values = {"most": MOST_COUNTED}
        return await self._session.read(
            lambda db: shared.counts_of(db.execute(SQL["count_deliveries_by_destination"], values))
        )

    async def delete_old(self, bodies_before: int, rows_before: int, most: int) -> int:
        """Empty bodies, and delete rows."""
        return await self._session.write(lambda db: delete_old(db, bodies_before, rows_before, most))

    async def find_destination(self, name: str) -> DestinationRow | None:
        """Find a destination."""
        return await self._session.glance(lambda db: find_destination(db, name))

    async def list_destinations(self, after: str = "", limit: int = 100) -> list[DestinationRow]:
        """List destinations."""
        values = {"after": after, "limit": at_most(limit)}
        return await self._session.read(
            lambda db: [destination_of(row) for row in db.execute(SQL["list_destinations"], values)]
        )

    async def save_destination(self, save: DestinationSave) -> DestinationSaved:
        """Save a destination."""
        check_texts(save.name)
        return await self._session.write(lambda db: save_destination(db, save))

    async def set_destination_state(
        self, name: str, state: DestinationState, reason: str, at: int, audit: AuditRow | None = None
    ) -> DestinationRow:
        """Enable or disable a destination."""
        check_texts(name)

        def work(db: apsw.Connection) -> DestinationRow:
            row = shared.in_state(_destination(db, name), state, reason, at)
            write_destination(db, row)
            write_audit(db, audit)
            return row

        return await self._session.write(work)


def expand(
    db: apsw.Connection, message: Message, deliveries: Sequence[DeliveryRow], messages: Sequence[Message]
) -> bool:
    """Insert deliveries in place of the message that they come from."""
    if not take_message(db, message):
        return False
    for name in sorted({row.destination for row in deliveries}):
        if find_destination(db, name) is None:
            write_destination(db, DestinationRow(name=name))
    insert_deliveries(db, deliveries)
    send(db, messages)
    return True


def insert_deliveries(db: apsw.Connection, deliveries: Iterable[DeliveryRow]) -> int:
    """Insert deliveries into their lanes; those that exist stay as they are. Return how many are new."""
    lanes: Counter[tuple[str, str]] = Counter()
    inserted = 0
    for row in deliveries:
        db.execute(SQL["insert_deliveries"], delivery_values(row))
        inserted += db.changes()
        if db.changes() == 1 and row.state == "pending":
            lanes[row.destination, row.lane] += 1
    for (destination, lane), count in lanes.items():
        _align(db, destination, lane, count + 1)
    return inserted


def _align(db: apsw.Connection, destination: str, lane: str, most: int) -> None:
    if lane:
        db.execute(SQL["align_lanes"], {"destination": destination, "lane": lane, "most": most})


def read_due(db: apsw.Connection, now: int) -> DueDestinations:
    """Read which destinations have deliveries that are due."""
    found = [
        DueDestination(name, first, later, destination_of(columns) if columns[0] is not None else None)
        for name, first, later, *columns in db.execute(SQL["due_destinations"], {"now": now})
    ]
    return shared.due_destinations(found, now)


def claim_due(db: apsw.Connection, claim: DeliveryClaim) -> ClaimedDeliveries:
    """Claim due deliveries to a destination, if it allows any."""
    was = find_destination(db, claim.destination)
    row = was or DestinationRow(name=claim.destination)
    allowed = shared.allowed(row, claim)
    claimed: list[DeliveryRow] = []
    if allowed.most:
        values = {"destination": claim.destination, "now": claim.now, "most": allowed.most}
        due = [delivery_of(one) for one in db.execute(SQL["due_deliveries"], values)]
        claimed = [shared.claimed(one, claim) for one in due]
        db.executemany(SQL["claim_deliveries"], [_claim_values(one) for one in claimed])
    row = shared.claimed_from(row, claim, len(claimed))
    if row != was:
        write_destination(db, row)
    if not allowed.most:
        return ClaimedDeliveries(next_due=allowed.not_before)
    next_due = db.execute(SQL["next_delivery_due_at"], {"destination": claim.destination}).get
    return ClaimedDeliveries(deliveries=tuple(claimed), next_due=shared.claim_again_at(row, claim, next_due))


def _claim_values(row: DeliveryRow) -> dict[str, apsw.SQLiteValue]:
    return {"id": key(row.id), "epoch": row.epoch, "attempts": row.attempts, "due_at": row.due_at}


def settle(db: apsw.Connection, given: Settlement) -> Settled:
    """Write the outcome of an attempt, if the delivery is still that of its claim."""
    row = find(db, given.id)
    if row is None or row.state != "pending" or row.epoch != given.epoch:
        return Settled(passed=False)
    _write(db, row, shared.settled(row, given))
    was = find_destination(db, row.destination)  # it may have been deleted
    destination = was or DestinationRow(name=row.destination)
    judged = shared.judged(destination, row, given)
    if judged != was:
        write_destination(db, judged)
    send(db, given.messages)
    if judged.state != destination.state and given.on_disabled is not None:
        send(db, [given.on_disabled])
    if row.awaited and given.state != "pending":
        _end_wait(db, row, given)
    return Settled(passed=True, destination=judged)


def change_delivery(db: apsw.Connection, change: DeliveryChange) -> DeliveryRow | None:
    """Change a delivery, if it is in a state that allows it."""
    row = find(db, change.id)
    changed = shared.changed(row, change) if row is not None else None
    if row is None or changed is None:
        return None
    _write(db, row, changed)
    if changed.awaited and changed.state != "pending":
        _end_wait(db, changed, change)
    write_audit(db, change.audit)
    return find(db, change.id)


def _write(db: apsw.Connection, was: DeliveryRow, row: DeliveryRow) -> None:
    """Write what has changed of a delivery, and let the next one of its lane follow, or wait."""
    values = {
        "id": key(row.id),
        "state": row.state,
        "reason": row.reason,
        "due_at": row.due_at,
        "epoch": row.epoch,
        "attempts": row.attempts,
        "history": row.history,
        "settled_at": row.settled_at,
    }
    db.execute(SQL["write_delivery"], values)
    if row.state != was.state:
        _align(db, row.destination, row.lane, 2)


def _end_wait(db: apsw.Connection, row: DeliveryRow, given: Settlement | DeliveryChange) -> None:
    """Write what a point waits for, once all of it is settled."""
    execution_id = key(row.execution_id) if row.execution_id is not None else None
    awaited = db.execute(SQL["awaited_deliveries"], {"execution_id": execution_id, "n": row.n}).fetchall()
    states = {state for _, state in awaited}
    outcome = shared.outcome_of(given, some_pending="pending" in states, some_not_sent=not states.isdisjoint(NOT_SENT))
    if outcome is not None:
        db.executemany(SQL["end_wait_for_deliveries"], [{"id": id_} for id_, _ in awaited])
        send(db, [outcome])


def find(db: apsw.Connection, delivery_id: str) -> DeliveryRow | None:
    """Find a delivery."""
    row = db.execute(SQL["delivery_by_id"], {"id": key(delivery_id)}).fetchone()
    return delivery_of(row) if row is not None else None


def list_deliveries(db: apsw.Connection, wanted: DeliveryFilter) -> list[DeliveryRow]:
    """List deliveries, newest first."""
    after_at, after_id = wanted.after or NEWEST_DELIVERY
    limit = at_most(wanted.limit)
    values = {
        "destination": wanted.destination,
        "execution_id": key(wanted.execution_id) if wanted.execution_id is not None else None,
        "point": wanted.point,
        "after_at": after_at,
        "after_id": key(after_id),
        "limit": limit,
    }
    if wanted.execution_id is not None:
        statement = SQL["list_deliveries_of_execution"]
    elif wanted.destination is not None:
        statement = SQL["list_deliveries_of_destination"]
    else:
        statement = SQL["list_deliveries"]
    found = [
        delivery_of(row)
        for state in shared.states_of(wanted)
        for row in db.execute(statement, {**values, "state": state})
    ]
    return sorted(found, key=lambda row: (row.created_at, row.id), reverse=True)[:limit]


def delete_old(db: apsw.Connection, bodies_before: int, rows_before: int, most: int) -> int:
    """Empty bodies that are not needed any more, then delete rows that are old; the oldest first."""
    db.execute(SQL["empty_old_deliveries"], {"before": bodies_before, "most": at_most(most)})
    emptied = db.changes()
    db.execute(SQL["delete_old_deliveries"], {"before": rows_before, "most": at_most(most)})
    return emptied + db.changes()


def find_destination(db: apsw.Connection, name: str) -> DestinationRow | None:
    """Find a destination."""
    row = db.execute(SQL["destination_by_name"], {"name": name}).fetchone()
    return destination_of(row) if row is not None else None


def _destination(db: apsw.Connection, name: str) -> DestinationRow:
    return find_destination(db, name) or DestinationRow(name=name)


def write_destination(db: apsw.Connection, row: DestinationRow) -> None:
    """Write a destination."""
    db.execute(SQL["save_destinations"], asdict(row))


def save_destination(db: apsw.Connection, save: DestinationSave) -> DestinationSaved:
    """Create, replace or delete a destination."""
    saved = shared.saving(find_destination(db, save.name), save)
    if saved.verdict == "saved":
        if saved.row is not None:
            write_destination(db, saved.row)
        else:
            db.execute(SQL["delete_destination"], {"name": save.name})
        write_audit(db, save.audit)
    return saved


def send(db: apsw.Connection, messages: Iterable[Message]) -> int:
    """Write messages into the outbox; one that is there already stays. Return how many are new."""
    inserted = 0
    for one in messages:
        db.execute(SQL["insert_messages"], {**asdict(one), "sender": key(one.sender)})
        inserted += db.changes()
    return inserted


def delivery_of(row: Row) -> DeliveryRow:
    """Return a delivery."""
    return shared.delivery_of(text(row[0]), text(row[1]) if row[1] is not None else None, row)


def delivery_values(row: DeliveryRow) -> dict[str, apsw.SQLiteValue]:
    """Return the columns of a delivery."""
    execution_id = key(row.execution_id) if row.execution_id is not None else None
    return {**asdict(row), "id": key(row.id), "execution_id": execution_id}
