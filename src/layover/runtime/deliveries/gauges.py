"""How much waits to be sent, and how its destinations are: read from the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from layover.metrics.labels import MOST_VALUES

if TYPE_CHECKING:
    from layover.metrics.samples import Samples
    from layover.ports.delivery_records import DestinationCounts, DestinationRow
    from layover.ports.families.deliveries import DeliveryStore


class DeliveryGauges(NamedTuple):
    """The figures of some destinations."""

    counts: tuple[DestinationCounts, ...] = ()
    destinations: tuple[DestinationRow, ...] = ()

    def add_to(self, samples: Samples, now: int) -> None:
        """Add the figures to others."""
        for one in self.counts:
            samples.add("layover_deliveries_pending", one.pending, one.destination)
            samples.add("layover_deliveries_dead", one.dead, one.destination)
            age = max(now - one.oldest, 0) / 1000 if one.oldest is not None else 0.0
            samples.add("layover_deliveries_oldest_seconds", age, one.destination)
        for row in self.destinations:
            samples.add("layover_destination_state", 1, row.name, _state_of(row, now))


async def read_delivery_gauges(store: DeliveryStore) -> DeliveryGauges:
    """Read the figures, of so many destinations at most."""
    counts = await store.count_by_destination()
    return DeliveryGauges(tuple(counts[:MOST_VALUES]), tuple(await store.list_destinations(limit=MOST_VALUES)))


def _state_of(row: DestinationRow, now: int) -> str:
    if row.state == "disabled":
        return "disabled"
    return "open" if row.open_until is not None and row.open_until > now else "active"
