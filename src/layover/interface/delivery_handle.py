"""One delivery, to act on and to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from layover.interface.bounds import check_key
from layover.interface.handle import Handle
from layover.model.deliveries import Delivery

if TYPE_CHECKING:
    from layover.core.moments import Moment
    from layover.model.deliveries import DeliveryAttempt

DELIVERY_STATES = ("pending", "sent", "dead", "moot", "discarded")
SETTLED_STATES = ("dead", "sent", "moot", "discarded")
MOST_REDELIVERED = 1_000


class DeliveryHandle(Handle[Delivery]):
    """A delivery: its methods act, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()

    if TYPE_CHECKING:  # the fields of `info`
        id: str
        destination: str
        kind: str
        state: str  # no Literal: a type checker would not believe that it changes
        reason: str
        execution_id: str | None
        workflow: str | None
        point_id: str | None
        user: str | None
        created_at: Moment
        due_at: Moment | None
        settled_at: Moment | None
        attempts: tuple[DeliveryAttempt, ...]

    def __repr__(self) -> str:
        return f"<delivery {self.info.id} of {self.info.kind} to {self.info.destination}: {self.info.state}>"

    async def refresh(self) -> Self:
        """Read it anew."""
        self.info = await self._backend.deliveries.get(self.info.id)
        return self

    async def redeliver(self, *, idempotency_key: str | None = None) -> Self:
        """Send it once more, under the same id, if it is settled and what it says is still kept."""
        check_key(idempotency_key)
        self.info = await self._backend.deliveries.redeliver(self.info.id, idempotency_key)
        return self

    async def discard(self, *, idempotency_key: str | None = None) -> Self:
        """Have it never be sent, if it is pending or dead."""
        check_key(idempotency_key)
        self.info = await self._backend.deliveries.discard(self.info.id, idempotency_key)
        return self
