"""One destination, to act on and to read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from layover.interface.bodies import body_of
from layover.interface.bounds import SHORT, check_act, check_key, check_text
from layover.interface.delivery_handle import DeliveryHandle
from layover.interface.handle import Handle
from layover.model.deliveries import Destination, DestinationBody

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.moments import Moment
    from layover.model.deliveries import DestinationKind


class DestinationHandle(Handle[Destination]):
    """A destination: its methods act, `info` is what was last read of it, and so are the fields of that."""

    __slots__ = ()

    if TYPE_CHECKING:  # the fields of `info`
        name: str
        kind: DestinationKind | None
        state: str  # no Literal: a type checker would not believe that it changes
        reason: str
        managed: bool
        definition: dict[str, Any]
        failures: int
        open_until: Moment | None

    def __repr__(self) -> str:
        return f"<destination {self.info.name}: {self.info.state}>"

    async def refresh(self) -> Self:
        """Read it anew."""
        self.info = await self._backend.destinations.get(self.info.name)
        return self

    async def update(self, definition: Mapping[str, object]) -> Self:
        """Replace it by another one of its name; one of the settings or of a program is changed there."""
        body = destination_body({"name": self.info.name, **definition} if isinstance(definition, dict) else definition)
        self.info = await self._backend.destinations.update(self.info.name, body)
        return self

    async def delete(self) -> None:
        """Delete it; what is pending for it stays pending. One of the settings or of a program is removed there."""
        await self._backend.destinations.delete(self.info.name)

    async def test(self, *, to: str | None = None) -> DeliveryHandle:
        """Send a test, and return it once it was tried; mail needs an address."""
        check_text("to", to, SHORT, 1)
        return DeliveryHandle(self._backend, await self._backend.destinations.test(self.info.name, to))

    async def enable(self, *, idempotency_key: str | None = None) -> Self:
        """Send to it again, at once."""
        check_key(idempotency_key)
        self.info = await self._backend.destinations.enable(self.info.name, idempotency_key)
        return self

    async def disable(self, reason: str = "", *, idempotency_key: str | None = None) -> Self:
        """Send nothing to it; what is for it stays pending."""
        check_act(reason, idempotency_key)
        self.info = await self._backend.destinations.disable(self.info.name, reason, idempotency_key)
        return self


def destination_body(definition: object) -> DestinationBody:
    """Return a destination as it is sent; InvalidInput if it is none."""
    example = "{'name': 'ops-chat', 'kind': 'chat', 'address': {'secret': 'OPS_CHAT'}}"
    return body_of(definition, DestinationBody, example)
