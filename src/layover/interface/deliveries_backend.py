"""What the door needs of a backend to reach people and systems: destinations, deliveries, the directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.model.deliveries import Delivery, Destination, DestinationBody, Redelivered, WhichDeliveries
    from layover.model.people import Person, PersonBody
    from layover.model.shared import Page


class DestinationsBackend(Protocol):
    """Where deliveries go."""

    async def list(self, limit: int, cursor: str | None) -> Page[Destination]:
        """Return a page of destinations by name."""

    async def get(self, name: str) -> Destination:
        """Return a destination."""

    async def create(self, body: DestinationBody, idempotency_key: str | None) -> Destination:
        """Make a destination."""

    async def update(self, name: str, body: DestinationBody) -> Destination:
        """Replace a destination that does not belong to the settings or a program."""

    async def delete(self, name: str) -> None:
        """Delete a destination that does not belong to the settings or a program; what is pending stays pending."""

    async def test(self, name: str, to: str | None) -> Delivery:
        """Send a test to a destination, and return it once it was tried."""

    async def enable(self, name: str, idempotency_key: str | None) -> Destination:
        """Send to a destination again."""

    async def disable(self, name: str, reason: str, idempotency_key: str | None) -> Destination:
        """Send nothing to a destination; what is for it stays pending."""


class DeliveriesBackend(Protocol):
    """What was sent, and what is yet to be."""

    async def list(
        self,
        state: str | None,
        destination: str | None,
        execution_id: str | None,
        limit: int,
        cursor: str | None,
    ) -> Page[Delivery]:
        """Return a page of deliveries, the newest first."""

    async def get(self, delivery_id: str) -> Delivery:
        """Return a delivery."""

    async def redeliver(self, delivery_id: str, idempotency_key: str | None) -> Delivery:
        """Send a settled delivery once more, under the same id."""

    async def redeliver_all(self, where: WhichDeliveries) -> Redelivered:
        """Send settled deliveries once more, the newest first."""

    async def discard(self, delivery_id: str, idempotency_key: str | None) -> Delivery:
        """Have a pending or dead delivery never be sent."""


class PeopleBackend(Protocol):
    """The directory."""

    async def list(self, limit: int, cursor: str | None) -> Page[Person]:
        """Return a page of the people in the table of the directory, by name."""

    async def get(self, user: str) -> Person:
        """Return a person as all parts of the directory know them."""

    async def save(self, user: str, body: PersonBody) -> Person:
        """Create or replace a person in the table."""

    async def delete(self, user: str) -> None:
        """Delete a person from the table."""
