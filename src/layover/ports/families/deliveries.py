"""Deliveries: what is sent to people and systems, in order, at least once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.delivery_records import (
        ClaimedDeliveries,
        DeliveryChange,
        DeliveryClaim,
        DeliveryFilter,
        DeliveryRow,
        DestinationCounts,
        DestinationRow,
        DestinationSave,
        DestinationSaved,
        DestinationState,
        DueDestinations,
        Settled,
        Settlement,
    )
    from layover.ports.records import AuditRow, Message


class DeliveryStore(Protocol):
    """Deliveries and destinations. Executions with pending deliveries are not purged, others take theirs along."""

    async def expand(
        self, message: Message, deliveries: Sequence[DeliveryRow], messages: Sequence[Message] = ()
    ) -> bool:
        """Insert deliveries and delete the message that they come from.

        Nothing is done if the message is gone, or if there is an earlier one from its sender to the same destination:
        deliveries of one lane are made in the order in which they are sent. A delivery whose id exists is left as it
        is. Some may be settled from the start; `messages` tell of that.
        """

    async def read_due(self, now: int) -> DueDestinations:
        """Read which destinations have deliveries that are due."""

    async def claim(self, claim: DeliveryClaim) -> ClaimedDeliveries:
        """Claim due deliveries to a destination, unless it is disabled, its breaker is open, or its rate is used up.

        A breaker that was open lets one delivery try, and the next one not before `due_again`.
        """

    async def settle(self, settlement: Settlement) -> Settled:
        """Write the outcome of an attempt."""

    async def change(self, change: DeliveryChange) -> DeliveryRow | None:
        """Change a delivery; None if it is not in a state that allows it."""

    async def find(self, delivery_id: str) -> DeliveryRow | None:
        """Find a delivery."""

    async def list_deliveries(self, wanted: DeliveryFilter) -> list[DeliveryRow]:
        """List deliveries, newest first."""

    async def count_sent(self, execution_id: str) -> int:
        """Return how many deliveries of an execution were sent."""

    async def count_waiting(self, destination: str, most: int) -> int:
        """Return how many deliveries to a destination wait for nothing but their time and a sender; at most so many."""

    async def count_by_destination(self) -> list[DestinationCounts]:
        """Count what is pending and dead, for every destination that has any."""

    async def delete_old(self, bodies_before: int, rows_before: int, most: int) -> int:
        """Empty the bodies of deliveries that were settled before a moment, and delete those from before another.

        Return how many rows were changed. Pending ones stay, and dead ones keep their bodies: they may be sent yet.
        """

    async def find_destination(self, name: str) -> DestinationRow | None:
        """Find what is known of a destination."""

    async def list_destinations(self, after: str = "", limit: int = 100) -> list[DestinationRow]:
        """List what is known of destinations, by name, beginning after one."""

    async def save_destination(self, save: DestinationSave) -> DestinationSaved:
        """Create, replace or delete a destination; one with another configuration begins with a closed breaker."""

    async def set_destination_state(
        self, name: str, state: DestinationState, reason: str, at: int, audit: AuditRow | None = None
    ) -> DestinationRow:
        """Enable or disable a destination; enabled, its breaker is closed."""
