"""Destinations as one user reads and changes them: that needs `admin`, since they say where data goes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from layover.errors import InvalidInput
from layover.model.shared import Page
from layover.runtime.operations.deliveries import definition_of
from layover.runtime.results.deliveries import delivery_of
from layover.service.cursors import malformed_cursor
from layover.service.keyed_acts import keyed_act
from layover.service.pages import MOST

if TYPE_CHECKING:
    from layover.model.deliveries import Delivery, Destination, DestinationBody
    from layover.ports.delivery_records import DestinationState
    from layover.runtime.operations.deliveries import Deliveries
    from layover.service.actor import Actor

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,254}")


class DestinationService:
    """Where deliveries go."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def list(self, limit: int, cursor: str | None) -> Page[Destination]:
        """Return a page of destinations by name."""
        self._actor.require("admin")
        if cursor is not None and not _NAME.fullmatch(cursor):
            raise malformed_cursor()
        most = min(limit, MOST)
        found = await self._deliveries.list_destinations(cursor or "", most + 1)
        return Page(items=tuple(found[:most]), next=found[most - 1].name if len(found) > most else None)

    async def get(self, name: str) -> Destination:
        """Return a destination."""
        self._actor.require("admin")
        return await self._deliveries.find_destination(name)

    async def create(self, body: DestinationBody, idempotency_key: str | None) -> Destination:
        """Make a destination."""
        self._actor.require("admin")
        data, deliveries = definition_of(body), self._deliveries
        act = await keyed_act(self._actor, "destination.create", body.name, idempotency_key, data=data, kind=body.kind)
        return await act.once(
            lambda: deliveries.create_destination(body, act.entry), lambda: deliveries.find_destination(act.id)
        )

    async def update(self, name: str, body: DestinationBody) -> Destination:
        """Replace a destination that does not belong to the settings or a program."""
        self._actor.require("admin")
        if body.name != name:
            fault = f"the destination is called `{name[:100]}`: make another one, and delete this"
            raise InvalidInput(f"`name`: {fault}.", (("name", fault),), code="invalid_body")
        entry = self._actor.entry("destination.update", name, kind=body.kind)
        return await self._deliveries.replace_destination(name, body, entry)

    async def delete(self, name: str) -> None:
        """Delete a destination that does not belong to the settings or a program; what is pending stays pending."""
        self._actor.require("admin")
        await self._deliveries.delete_destination(name, self._actor.entry("destination.delete", name))

    async def test(self, name: str, to: str | None) -> Delivery:
        """Send a test to a destination, and return it once it was tried."""
        self._actor.require("admin")
        entry = self._actor.entry("destination.test", name)
        return delivery_of(await self._deliveries.send_test(name, to, entry), replies=self._actor.may_debug)

    async def enable(self, name: str, idempotency_key: str | None) -> Destination:
        """Send to a destination again."""
        return await self._set("destination.enable", name, "active", "", idempotency_key)

    async def disable(self, name: str, reason: str, idempotency_key: str | None) -> Destination:
        """Send nothing to a destination; what is for it stays pending."""
        return await self._set("destination.disable", name, "disabled", reason, idempotency_key)

    async def _set(
        self, act_name: str, name: str, state: DestinationState, reason: str, key: str | None
    ) -> Destination:
        self._actor.require("admin")
        act = await keyed_act(self._actor, act_name, name, key, reason=reason or None)
        deliveries = self._deliveries
        return await act.once(
            lambda: deliveries.set_state(name, state, reason, act.entry), lambda: deliveries.find_destination(name)
        )

    @property
    def _deliveries(self) -> Deliveries:
        return self._actor.runtime.deliveries
