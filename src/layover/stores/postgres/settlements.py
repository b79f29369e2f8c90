"""The outcomes of attempts, and changes by operators: what they do to deliveries, breakers, and those who wait.

While one batch of outcomes is on its way to the server, the next gathers: deliveries to one destination are settled
under the lock of its row, so each that is settled alone would wait for all before it to be safe on a disk.

Locks are taken in the order that `deliveries` has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import astuple

from layover.ports.delivery_records import Settled
from layover.stores import deliveries as shared
from layover.stores.deliveries import NOT_SENT, destination_of
from layover.stores.postgres.audit import write_audit
from layover.stores.postgres.batcher import Batcher

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from layover.ports.delivery_records import DeliveryChange, DeliveryRow, DestinationRow, Settlement
    from layover.ports.records import Message
    from layover.stores.postgres.database import PostgresSchema, Row, StatementRunner
    from layover.stores.postgres.session import PostgresSession

_COLUMNS = 20  # of a delivery


class Nothing(Exception):  # noqa: N818 - it says what there is to do
    """There is nothing to write. What was written only to be locked is taken back with the transaction."""


class Settlements:
    """Outcomes of attempts, in batches."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self.start_anew()

    def start_anew(self) -> None:
        """Begin with new batches."""
        self._batcher = Batcher(self._settle_all)

    async def settle(self, given: Settlement) -> Settled:
        """Write the outcome of an attempt, if the delivery is still that of its claim."""
        settled = await self._batcher.ask(given)
        if settled is not None:
            return settled
        try:
            return await self._session.db.transact(lambda tx: _settle_alone(tx, given))
        except Nothing:
            return Settled(passed=False)

    def _settle_all(self, group: Sequence[Settlement]) -> Awaitable[list[Settled | None]]:
        return settle_all(self._session.db, group)


async def settle_all(db: PostgresSchema, group: Sequence[Settlement]) -> list[Settled | None]:
    """Settle deliveries together; None for those that have to be settled alone.

    Those are deliveries that somebody waits for, of destinations that were deleted, and a second one of a lane, since
    the first may have to let it lead.
    """
    if len({given.id for given in group}) < len(group):
        return [None for _ in group]
    return await db.transact(lambda tx: _settle_all(tx, group))


async def _settle_all(tx: StatementRunner, group: Sequence[Settlement]) -> list[Settled | None]:
    asked = [(given.id, given.state != "pending") for given in group]
    found = await tx.fetch("lock_deliveries", *columns(asked))
    rows = {row[0]: delivery_of(row[:_COLUMNS]) for row in found}
    known = {row[_COLUMNS]: destination_of(row[_COLUMNS:]) for row in found}
    written, answers = _Written(), list[Settled | None]()
    lanes = set[tuple[str, str]]()
    for given in group:
        row = rows.get(given.id)
        lane = (row.destination, row.lane) if row is not None and row.lane else None
        if row is None or lane in lanes:
            answers.append(None)
        elif row.state != "pending" or row.epoch != given.epoch:
            answers.append(Settled(passed=False))
        else:
            lanes |= {lane} if lane is not None else set()
            known[row.destination] = written.settle(row, known[row.destination], given)
            answers.append(Settled(passed=True, destination=known[row.destination]))
    await written.write(tx)
    return answers


class _Written:
    """What a transaction writes of outcomes, in one statement."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._rows: list[DeliveryRow] = []
        self._lanes: list[tuple[str, str]] = []
        self._destinations: dict[str, DestinationRow] = {}

    def settle(self, row: DeliveryRow, destination: DestinationRow, given: Settlement) -> DestinationRow:
        """Add the outcome of an attempt; return what has become of the destination."""
        self._rows.append(shared.settled(row, given))
        if row.lane and given.state != "pending":
            self._lanes.append((row.destination, row.lane))
        judged = shared.judged(destination, row, given)
        if judged != destination:
            self._destinations[judged.name] = judged
        self.messages += given.messages
        if judged.state != destination.state and given.on_disabled is not None:
            self.messages.append(given.on_disabled)
        return judged

    async def write(self, tx: StatementRunner) -> None:
        """Write it, under the locks of the destinations and the deliveries."""
        if not self._rows:
            return
        outcomes = [
            (row.id, row.state, row.reason, row.due_at, row.attempts, row.history, row.settled_at) for row in self._rows
        ]
        breakers = [
            (to.name, to.state, to.reason, to.failures, to.failing_since, to.open_until, to.opened, to.changed_at)
            for to in self._destinations.values()
        ]
        await tx.fetch("write_outcomes", *columns(outcomes), *columns(self._lanes, 2), *columns(breakers, 8))
        await send(tx, self.messages)


async def _settle_alone(tx: StatementRunner, given: Settlement) -> Settled:
    row, destination = await _locked(tx, given.id, given)
    if row.state != "pending" or row.epoch != given.epoch:
        raise Nothing
    written = _Written()
    judged = written.settle(row, destination, given)
    await written.write(tx)
    if row.awaited and given.state != "pending":
        await send(tx, await _end_wait(tx, row, given))
    return Settled(passed=True, destination=judged)


async def change_delivery(tx: StatementRunner, change: DeliveryChange) -> DeliveryRow | None:
    """Change a delivery, if it is in a state that allows it."""
    row, _ = await _locked(tx, change.id, change)
    changed = shared.changed(row, change)
    if changed is None:
        raise Nothing
    await _write(tx, row, changed)
    if changed.awaited and changed.state != "pending":
        await send(tx, await _end_wait(tx, changed, change))
    await write_audit(tx, change.audit)
    return await find_delivery(tx, change.id)


async def _locked(
    tx: StatementRunner, delivery_id: str, given: Settlement | DeliveryChange
) -> tuple[DeliveryRow, DestinationRow]:
    """Lock the destination of a delivery, its event if a point waits for it and it is over, and then the delivery."""
    while (found := await tx.fetchrow("lock_destination_of_delivery", delivery_id)) is None:
        name: str | None = await tx.fetchval("destination_of_delivery", delivery_id)
        if name is None:
            raise Nothing
        await tx.fetch("create_destinations", [name])  # it was deleted
    awaited, execution_id, n, *destination = found
    if awaited and given.state != "pending":
        await tx.fetch("lock_event", execution_id, n)
    row = await tx.fetchrow("lock_delivery", delivery_id)
    if row is None:
        raise Nothing
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


async def find_delivery(db: StatementRunner, delivery_id: str) -> DeliveryRow | None:
    """Find a delivery."""
    row = await db.fetchrow("delivery_by_id", delivery_id)
    return delivery_of(row) if row is not None else None


async def send(db: StatementRunner, messages: Sequence[Message]) -> None:
    """Write messages; those that are there already stay as they are."""
    if messages:
        await db.fetch("send_messages", *columns([astuple(message) for message in messages]))


def columns(rows: Sequence[Iterable[object]], width: int = 0) -> list[list[object]]:
    """Return the columns of rows; if there may be none, so many."""
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]


def delivery_of(row: Row | Sequence[Any]) -> DeliveryRow:
    """Return a delivery."""
    return shared.delivery_of(row[0], row[1], row)
