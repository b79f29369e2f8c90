"""The part of the door that is about reaching people and systems: destinations, deliveries, people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.interface.arguments import check_word
from layover.interface.bodies import body_of
from layover.interface.bounds import SHORT, check_key, check_number, check_text, check_texts, refused
from layover.interface.delivery_handle import DELIVERY_STATES, MOST_REDELIVERED, SETTLED_STATES, DeliveryHandle
from layover.interface.destination_handle import DestinationHandle, destination_body
from layover.interface.listing import Listing
from layover.model.deliveries import WhichDeliveries
from layover.model.people import PersonBody
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from layover.interface.backend import Backend
    from layover.model.deliveries import Redelivered
    from layover.model.people import Person

_MOST_ROLES = 100  # of a person


class DeliveriesDoor:
    """What a program can ask about destinations, deliveries and people."""

    _backend: Backend

    async def destination(self, name: str) -> DestinationHandle:
        """Return a destination."""
        check_text("name", name, SHORT, 1)
        return DestinationHandle(self._backend, await self._backend.destinations.get(name))

    def destinations(self) -> Listing[DestinationHandle]:
        """Return all destinations by name: those of the settings, of the program, and those made by themselves."""
        backend = self._backend

        async def read(limit: int, cursor: str | None) -> Page[DestinationHandle]:
            page = await backend.destinations.list(limit, cursor)
            return Page(items=tuple(DestinationHandle(backend, one) for one in page.items), next=page.next)

        return Listing(read)

    async def create_destination(
        self, definition: Mapping[str, object], *, idempotency_key: str | None = None
    ) -> DestinationHandle:
        """Make a destination: mail, webhook or chat. Secrets in it are named, not given."""
        check_key(idempotency_key)
        body = destination_body(definition)
        return DestinationHandle(self._backend, await self._backend.destinations.create(body, idempotency_key))

    async def delivery(self, id: str) -> DeliveryHandle:  # noqa: A002 - as everywhere
        """Return a delivery."""
        return DeliveryHandle(self._backend, await self._backend.deliveries.get(id))

    def deliveries(
        self, *, state: str | None = None, destination: str | None = None, execution_id: str | None = None
    ) -> Listing[DeliveryHandle]:
        """Return deliveries, the newest first."""
        check_word("state", state, DELIVERY_STATES)
        check_text("destination", destination, SHORT, 1)
        backend = self._backend

        async def read(limit: int, cursor: str | None) -> Page[DeliveryHandle]:
            page = await backend.deliveries.list(state, destination, execution_id, limit, cursor)
            return Page(items=tuple(DeliveryHandle(backend, one) for one in page.items), next=page.next)

        return Listing(read)

    async def redeliver(
        self,
        *,
        state: str = "dead",
        destination: str | None = None,
        execution_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Redelivered:
        """Send settled deliveries once more, the newest first, at most 1,000 in one call.

        Those that were sent need a destination or an execution. While the result has a `next`, there are others: give
        it as `cursor` to go on with them.
        """
        check_word("state", state, SETTLED_STATES)
        check_text("destination", destination, SHORT, 1)
        check_number("limit", limit, 1, MOST_REDELIVERED)
        where = WhichDeliveries(
            state=state,  # type: ignore[arg-type]  # it is one of them
            destination=destination,
            execution_id=execution_id,
            limit=limit,
            cursor=cursor,
        )
        return await self._backend.deliveries.redeliver_all(where)

    async def person(self, user: str) -> Person:
        """Return a person as the directory knows them."""
        _check_user(user)
        return await self._backend.people.get(user)

    def people(self) -> Listing[Person]:
        """Return the people in the table of the directory, by name."""
        return Listing(self._backend.people.list)

    async def save_person(  # noqa: PLR0913 - each is a field of the person
        self,
        user: str,
        *,
        roles: Sequence[str] = (),
        addresses: Mapping[str, str] | None = None,
        language: str = "",
        zone: str = "",
        away: Mapping[str, object] | None = None,
        mute: Sequence[str] = (),
    ) -> Person:
        """Create or replace a person in the table: `addresses` has `mail` and `chat`, `away` has `until`.

        `mute` names kinds of occasions that they are not told of, or `all`.
        """
        _check_user(user)
        given = {
            "roles": [*check_texts("roles", roles, _MOST_ROLES)],
            "addresses": {} if addresses is None else addresses,
            "language": language,
            "zone": zone,
            "away": away,
            "mute": [*check_texts("mute", mute, 50)],
        }
        body = body_of(given, PersonBody, "{'addresses': {'mail': 'ada@example.com'}}")
        return await self._backend.people.save(user, body)

    async def delete_person(self, user: str) -> None:
        """Delete a person from the table."""
        _check_user(user)
        await self._backend.people.delete(user)


def _check_user(user: object) -> None:
    check_text("user", user, SHORT, 1)
    if user is None:
        raise refused("user", "it is the name of a user")
