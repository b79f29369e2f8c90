"""What the door needs of a backend to reach people and systems: destinations, deliveries, the directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.model.deliveries import Delivery, Destination, Redelivered
    from layover.model.people import Person
    from layover.model.shared import Page


class DeliveriesBackend(Protocol):
    """Destinations, and what was sent to them."""

    async def destinations(self, limit: int, cursor: str | None) -> Page[Destination]:
        """Return a page of destinations by name."""

    async def destination(self, name: str) -> Destination:
        """Return a destination."""

    async def create_destination(self, definition: Mapping[str, object], idempotency_key: str | None) -> Destination:
        """Make a destination."""

    async def update_destination(self, name: str, definition: Mapping[str, object]) -> Destination:
        """Replace a destination that does not belong to the settings or a program."""

    async def delete_destination(self, name: str) -> None:
        """Delete a destination that does not belong to the settings or a program; what is pending stays pending."""

    async def test_destination(self, name: str, to: str | None) -> Delivery:
        """Send a test to a destination, and return it once it was tried."""

    async def enable_destination(self, name: str) -> Destination:
        """Send to a destination again."""

    async def disable_destination(self, name: str, reason: str) -> Destination:
        """Send nothing to a destination; what is for it stays pending."""

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

    async def redeliver_all(
        self, state: str, destination: str | None, execution_id: str | None, limit: int, cursor: str | None
    ) -> Redelivered:
        """Send settled deliveries once more, the newest first."""

    async def discard(self, delivery_id: str, idempotency_key: str | None) -> Delivery:
        """Have a pending or dead delivery never be sent."""


class PeopleBackend(Protocol):
    """The directory."""

    async def list(self, limit: int, cursor: str | None) -> Page[Person]:
        """Return a page of the people in the table of the directory, by name."""

    async def find(self, users: Sequence[str], roles: Sequence[str]) -> tuple[Person, ...]:
        """Return people as all parts of the directory know them."""

    async def save(self, user: str, person: Mapping[str, object]) -> Person:
        """Create or replace a person in the table."""

    async def delete(self, user: str) -> None:
        """Delete a person from the table."""
