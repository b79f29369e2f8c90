"""Operates deliveries and destinations.

A delivery that is sent once more keeps its id, so that its receiver knows it. A destination of the settings or of a
program is changed there; it can be disabled here like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from layover.core.definitions.canonical import part_document
from layover.core.definitions.destinations import read_destination
from layover.errors import AlreadyExists, NotFound, WrongState
from layover.ports.delivery_records import DeliveryChange, DestinationSave
from layover.runtime.deliveries.wait_outcomes import failed_outcome, sent_outcome
from layover.runtime.results.deliveries import destination_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.model.deliveries import Destination, DestinationBody
    from layover.ports.delivery_records import DeliveryRow, DeliveryState, DestinationRow, DestinationState
    from layover.ports.records import AuditRow
    from layover.runtime.instance import Instance

SETTLED: Final[tuple[DeliveryState, ...]] = ("sent", "dead", "moot", "discarded")
_DISCARDABLE: Final[tuple[DeliveryState, ...]] = ("pending", "dead")


class Sending(Protocol):
    """What operations need of the sender: it is woken, and it tries."""

    def hint(self) -> None:
        """Look for due deliveries now."""

    async def send_test(self, destination: str, to: str | None) -> DeliveryRow:
        """Send a test once, and return what became of it; it is not stored."""


class Deliveries:
    """Operates deliveries and destinations."""

    def __init__(self, instance: Instance, sending: Sending) -> None:
        self._instance = instance
        self._store = instance.store
        self._sending = sending

    # Deliveries

    async def find(self, delivery_id: str) -> DeliveryRow:
        """Return a delivery; NotFound if there is none."""
        row = await self._store.deliveries.find(delivery_id)
        if row is None:
            raise NotFound("There is no such delivery.", code="unknown_delivery")
        return row

    async def redeliver(self, delivery_id: str, audit: AuditRow | None) -> DeliveryRow:
        """Send a settled delivery once more, with new attempts."""
        row = await self.find(delivery_id)
        if row.state == "pending":
            raise WrongState("The delivery is pending: it is sent when it is due.", row.state)
        if not row.body:
            raise _emptied(row)
        found = await self._store.deliveries.change(self._again(row, audit))
        if found is None:
            row = await self.find(delivery_id)
            raise WrongState(f"The delivery has changed meanwhile: it is {row.state}.", row.state)
        self._sending.hint()
        return found

    async def redeliver_all(self, rows: Sequence[DeliveryRow], audit: AuditRow | None) -> int:
        """Send settled deliveries once more; return how many, as some may have changed or are no longer kept."""
        count = 0
        for row in rows:
            if row.body and row.state != "pending":
                count += await self._store.deliveries.change(self._again(row, audit)) is not None
        if count:
            self._sending.hint()
        return count

    async def discard(self, delivery_id: str, audit: AuditRow | None) -> DeliveryRow:
        """Have a delivery never be sent; a node that waits for its outcome is told that it was given up."""
        row = await self.find(delivery_id)
        if row.state == "discarded":
            return row
        if row.state not in _DISCARDABLE:
            raise WrongState(f"The delivery is {row.state}: there is nothing to discard.", row.state)
        now = self._instance.clock.now()
        change = DeliveryChange(
            id=row.id,
            of=_DISCARDABLE,
            state="discarded",
            at=now,
            audit=audit,
            outcome=sent_outcome(row, now) if row.awaited else None,
            dead_outcome=failed_outcome(row, "discarded", "An operator discarded it.", now) if row.awaited else None,
        )
        found = await self._store.deliveries.change(change)
        if found is None:
            row = await self.find(delivery_id)
            raise WrongState(f"The delivery has changed meanwhile: it is {row.state}.", row.state)
        self._sending.hint()  # the next one of its lane may go
        self._instance.outbox_relay.post(())  # the outcome, if a node waits for it
        return found

    def _again(self, row: DeliveryRow, audit: AuditRow | None) -> DeliveryChange:
        return DeliveryChange(id=row.id, of=SETTLED, state="pending", at=self._instance.clock.now(), audit=audit)

    # Destinations

    async def list_destinations(self, after: str, limit: int) -> list[Destination]:
        """Return destinations by name, beginning after one."""
        managed = self._managed()
        rows = {row.name: row for row in await self._store.deliveries.list_destinations(after, limit)}
        names = sorted({*rows, *(name for name in managed if name > after)})[:limit]
        return [
            destination_of(name, rows[name] if name in rows else await self._row(name), managed.get(name))
            for name in names
        ]

    async def find_destination(self, name: str) -> Destination:
        """Return a destination; NotFound if there is none."""
        row, managed = await self._row(name), self._managed().get(name)
        if row is None and managed is None:
            raise _unknown(name)
        return destination_of(name, row, managed)

    async def create_destination(self, body: DestinationBody, audit: AuditRow | None) -> Destination:
        """Make a destination; AlreadyExists if its name is taken."""
        if body.name in self._managed():
            raise _taken(body.name)
        return await self._save(body, audit, create=True)

    async def replace_destination(self, name: str, body: DestinationBody, audit: AuditRow | None) -> Destination:
        """Replace a destination by another one of its name."""
        await self._check_owner(name)
        return await self._save(body, audit, create=False)

    async def delete_destination(self, name: str, audit: AuditRow | None) -> None:
        """Delete a destination; what is pending for it stays pending, for one of its name that may come."""
        await self._check_owner(name)
        save = DestinationSave(name=name, create=False, at=self._instance.clock.now(), audit=audit)
        if (await self._store.deliveries.save_destination(save)).verdict != "saved":
            raise _unknown(name)

    async def set_state(self, name: str, state: DestinationState, reason: str, audit: AuditRow | None) -> Destination:
        """Send to a destination again, or nothing."""
        managed = self._managed().get(name)
        if managed is None and await self._row(name) is None:
            raise _unknown(name)
        now = self._instance.clock.now()
        row = await self._store.deliveries.set_destination_state(name, state, reason, now, audit)
        self._sending.hint()
        return destination_of(name, row, managed)

    async def send_test(self, name: str, to: str | None, audit: AuditRow | None) -> DeliveryRow:
        """Send a test to a destination, once; the entry is written first, since something leaves the system."""
        await self.find_destination(name)
        if audit is not None:
            await self._store.audit.write(audit)
        return await self._sending.send_test(name, to)

    async def _save(self, body: DestinationBody, audit: AuditRow | None, *, create: bool) -> Destination:
        written = read_destination(definition_of(body))
        config = msgspec.json.encode({"name": body.name, **part_document(written)})
        now = self._instance.clock.now()
        save = DestinationSave(name=body.name, create=create, config=config, at=now, audit=audit)
        saved = await self._store.deliveries.save_destination(save)
        if saved.verdict == "taken":
            raise _taken(body.name)
        if saved.row is None:
            raise _unknown(body.name)
        self._sending.hint()  # something may wait for one of this name
        return destination_of(body.name, saved.row, None)

    def _managed(self) -> dict[str, dict[str, Any]]:
        """Return the destinations of the settings and the functions of the program, by name."""
        instance = self._instance
        found: dict[str, dict[str, Any]] = {
            name: part_document(written) for name, written in instance.settings.destinations.items()
        }
        return found | {name: {"kind": "function"} for name in instance.registry.notifiers}

    async def _check_owner(self, name: str) -> None:
        """Refuse to change what belongs to the settings or to a program."""
        row = await self._row(name)
        if name in self._managed() or (row is not None and not row.config):
            message = f"`{name}` belongs to the settings or to a program: change it there."
            raise WrongState(message, row.state if row is not None else "active", code="managed_by_settings")
        if row is None:
            raise _unknown(name)

    async def _row(self, name: str) -> DestinationRow | None:
        return await self._store.deliveries.find_destination(name)


def definition_of(body: DestinationBody) -> dict[str, Any]:
    """Return a destination as an author would write it: without its name, and without what is as by default."""
    written: dict[str, Any] = msgspec.to_builtins(body)
    default = {one.encode_name: one.default for one in msgspec.structs.fields(body)}
    return {
        name: value for name, value in written.items() if name != "name" and value not in (default[name], None, {}, [])
    }


def _emptied(row: DeliveryRow) -> WrongState:
    message = "What the delivery said is no longer kept, so it cannot be sent once more."
    return WrongState(message, row.state, code="delivery_emptied")


def _unknown(name: str) -> NotFound:
    return NotFound(f"There is no destination `{name[:100]}`.", code="unknown_destination")


def _taken(name: str) -> AlreadyExists:
    return AlreadyExists(f"There is a destination `{name}` already.", code="destination_exists")
