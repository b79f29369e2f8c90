"""Destinations, deliveries and people over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import delete, get, path_of, post, put
from layover.model.deliveries import (
    Delivery,
    Destination,
    DisableBody,
    RedeliverBody,
    Redelivered,
    SendTestBody,
)
from layover.model.people import Person
from layover.model.shared import EmptyBody, Page

if TYPE_CHECKING:
    from layover.client.transport import Transport
    from layover.model.deliveries import DestinationBody, WhichDeliveries
    from layover.model.people import PersonBody

_LONGEST_TEST = 60.0  # seconds


class HttpDestinations:
    """Where deliveries go."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, limit: int, cursor: str | None) -> Page[Destination]:
        """Return a page of destinations by name."""
        return await self._transport.ask(get(path_of("destinations", limit=limit, cursor=cursor)), Page[Destination])

    async def get(self, name: str) -> Destination:
        """Return a destination."""
        return await self._transport.ask(get(path_of("destinations", name)), Destination)

    async def create(self, body: DestinationBody, idempotency_key: str | None) -> Destination:
        """Make a destination."""
        return await self._transport.ask(post(path_of("destinations"), body, idempotency_key), Destination)

    async def update(self, name: str, body: DestinationBody) -> Destination:
        """Replace a destination that does not belong to the settings or a program."""
        return await self._transport.ask(put(path_of("destinations", name), body), Destination)

    async def delete(self, name: str) -> None:
        """Delete a destination that does not belong to the settings or a program."""
        await self._transport.send(delete(path_of("destinations", name)))

    async def test(self, name: str, to: str | None) -> Delivery:
        """Send a test to a destination, and return it once it was tried."""
        request = post(path_of("destinations", name, "test"), SendTestBody(to=to), longer=_LONGEST_TEST)
        return await self._transport.ask(request, Delivery)

    async def enable(self, name: str, idempotency_key: str | None) -> Destination:
        """Send to a destination again."""
        path = path_of("destinations", name, "enable")
        return await self._transport.ask(post(path, EmptyBody(), idempotency_key), Destination)

    async def disable(self, name: str, reason: str, idempotency_key: str | None) -> Destination:
        """Send nothing to a destination; what is for it stays pending."""
        path = path_of("destinations", name, "disable")
        return await self._transport.ask(post(path, DisableBody(reason=reason or None), idempotency_key), Destination)


class HttpDeliveries:
    """What was sent, and what is yet to be."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self,
        state: str | None,
        destination: str | None,
        execution_id: str | None,
        limit: int,
        cursor: str | None,
    ) -> Page[Delivery]:
        """Return a page of deliveries, the newest first."""
        path = path_of(
            "deliveries", state=state, destination=destination, execution_id=execution_id, limit=limit, cursor=cursor
        )
        return await self._transport.ask(get(path), Page[Delivery])

    async def get(self, delivery_id: str) -> Delivery:
        """Return a delivery."""
        return await self._transport.ask(get(path_of("deliveries", delivery_id)), Delivery)

    async def redeliver(self, delivery_id: str, idempotency_key: str | None) -> Delivery:
        """Send a settled delivery once more, under the same id."""
        path = path_of("deliveries", delivery_id, "redeliver")
        return await self._transport.ask(post(path, EmptyBody(), idempotency_key), Delivery)

    async def redeliver_all(self, where: WhichDeliveries) -> Redelivered:
        """Send settled deliveries once more, the newest first."""
        return await self._transport.ask(
            post(path_of("deliveries", "redeliver"), RedeliverBody(where=where)), Redelivered
        )

    async def discard(self, delivery_id: str, idempotency_key: str | None) -> Delivery:
        """Have a pending or dead delivery never be sent."""
        path = path_of("deliveries", delivery_id, "discard")
        return await self._transport.ask(post(path, EmptyBody(), idempotency_key), Delivery)


class HttpPeople:
    """The directory."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, limit: int, cursor: str | None) -> Page[Person]:
        """Return a page of the people in the table of the directory, by name."""
        return await self._transport.ask(get(path_of("people", limit=limit, cursor=cursor)), Page[Person])

    async def get(self, user: str) -> Person:
        """Return a person as all parts of the directory know them."""
        return await self._transport.ask(get(path_of("people", user)), Person)

    async def save(self, user: str, body: PersonBody) -> Person:
        """Create or replace a person in the table."""
        return await self._transport.ask(put(path_of("people", user), body), Person)

    async def delete(self, user: str) -> None:
        """Delete a person from the table."""
        await self._transport.send(delete(path_of("people", user)))
