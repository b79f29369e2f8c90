"""One attempt at a delivery, with everything that is needed to make it: also the secrets, for as long as it lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from layover.runtime.deliveries.destination_config import KnownDestination, UsedSecret
from layover.runtime.deliveries.parcels import Parcel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.runtime.deliveries.outcomes import SendOutcome


class Shipment(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent, where to, and with what. The id is the same at every attempt."""

    id: str
    attempt: int
    at: int  # the moment of this attempt
    destination: KnownDestination
    parcel: Parcel
    user: str = ""  # the addressee, if a person is
    address: str = ""  # where mail goes
    values: dict[str, str] = {}  # of the secrets, by name

    def plain(self, given: str | UsedSecret) -> str:
        """Return a text, or the value of the secret in its place."""
        return self.values[given.name] if isinstance(given, UsedSecret) else given

    def valid_secrets(self) -> list[str]:
        """Return the values of the secrets that are valid at this moment, the first one first."""
        return [self.values[one.name] for one in self.destination.secrets if one.until is None or self.at <= one.until]

    def headers_beside(self, ours: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of an attempt: those of the destination, and ours, whose names it cannot use."""
        names = {name.lower() for name in ours}
        given = self.destination.headers.items()
        return {name: self.plain(value) for name, value in given if name.lower() not in names} | dict(ours)

    def __repr__(self) -> str:
        return f"Shipment({self.id}, {self.destination.name}, attempt={self.attempt})"


class DeliveryWire(Protocol):
    """A way to send shipments. It never raises: what goes wrong is an outcome."""

    async def send(self, shipment: Shipment) -> SendOutcome:
        """Make one attempt, within the timeout of its destination."""
