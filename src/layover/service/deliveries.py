"""Deliveries as one user reads and operates them.

What a delivery says is shown to nobody, and what the other side replied to those who may debug.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.errors import InvalidInput
from layover.model.deliveries import Redelivered
from layover.model.shared import Page
from layover.ports.delivery_records import DeliveryFilter
from layover.runtime.ids import checked_id
from layover.runtime.results.deliveries import delivery_of
from layover.service.actor import READ
from layover.service.cursors import cursor_of, parsed_uuid
from layover.service.keyed_acts import keyed_act
from layover.service.pages import MOST

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from layover.model.deliveries import Delivery, WhichDeliveries
    from layover.ports.delivery_records import DeliveryRow
    from layover.runtime.operations.deliveries import Deliveries
    from layover.service.actor import Actor
    from layover.service.keyed_acts import KeyedAct

OPERATE: Final = ("execution:cancel",)  # as for other acts of operators: it has effects outside


class DeliveryService:
    """What was sent, and what is yet to be."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def list(
        self,
        state: str | None,
        destination: str | None,
        execution_id: str | None,
        limit: int,
        cursor: str | None,
    ) -> Page[Delivery]:
        """Return a page of deliveries, the newest first."""
        self._actor.require(*READ)
        most = min(limit, MOST)
        wanted = DeliveryFilter(
            state=state,
            destination=destination,
            execution_id=checked_id(execution_id) if execution_id is not None else None,
            after=parsed_uuid(cursor) if cursor is not None else None,
            limit=most + 1,
        )
        rows = await self._actor.runtime.instance.store.deliveries.list_deliveries(wanted)
        return Page(items=tuple(self._shown(row) for row in rows[:most]), next=_behind(rows, most))

    async def get(self, delivery_id: str) -> Delivery:
        """Return a delivery."""
        self._actor.require(*READ)
        return self._shown(await self._actor.runtime.deliveries.find(checked_id(delivery_id, "a delivery id")))

    async def redeliver(self, delivery_id: str, idempotency_key: str | None) -> Delivery:
        """Send a settled delivery once more, under the same id."""
        act, deliveries = await self._act("delivery.redeliver", delivery_id, idempotency_key), self._deliveries
        return await act.once(
            lambda: self._show(deliveries.redeliver(act.id, act.entry)), lambda: self._show(deliveries.find(act.id))
        )

    async def redeliver_all(self, where: WhichDeliveries) -> Redelivered:
        """Send settled deliveries once more, the newest first; the same again goes on from the cursor."""
        self._actor.require(*OPERATE)
        if where.state == "sent" and where.destination is None and where.execution_id is None:
            fault = "name a destination or an execution: what was sent would go to everybody once more"
            raise InvalidInput(f"`state`: {fault}.", (("where.state", fault),), code="invalid_body")
        wanted = DeliveryFilter(
            state=where.state,
            destination=where.destination,
            execution_id=checked_id(where.execution_id) if where.execution_id is not None else None,
            after=parsed_uuid(where.cursor) if where.cursor is not None else None,
            limit=where.limit + 1,
        )
        rows = await self._actor.runtime.instance.store.deliveries.list_deliveries(wanted)
        entry = self._actor.entry(
            "delivery.redeliver_all", where.destination or "", state=where.state, limit=where.limit
        )
        count = await self._deliveries.redeliver_all(rows[: where.limit], entry)
        return Redelivered(count=count, next=_behind(rows, where.limit))

    async def discard(self, delivery_id: str, idempotency_key: str | None) -> Delivery:
        """Have a pending or dead delivery never be sent."""
        act, deliveries = await self._act("delivery.discard", delivery_id, idempotency_key), self._deliveries
        return await act.once(
            lambda: self._show(deliveries.discard(act.id, act.entry)), lambda: self._show(deliveries.find(act.id))
        )

    @property
    def _deliveries(self) -> Deliveries:
        return self._actor.runtime.deliveries

    async def _act(self, name: str, delivery_id: str, key: str | None) -> KeyedAct:
        self._actor.require(*OPERATE)
        return await keyed_act(self._actor, name, checked_id(delivery_id, "a delivery id"), key)

    async def _show(self, found: Awaitable[DeliveryRow]) -> Delivery:
        return self._shown(await found)

    def _shown(self, row: DeliveryRow) -> Delivery:
        return delivery_of(row, replies=self._actor.may_debug)


def _behind(rows: Sequence[DeliveryRow], most: int) -> str | None:
    return cursor_of(rows[most - 1].created_at, rows[most - 1].id) if len(rows) > most else None
