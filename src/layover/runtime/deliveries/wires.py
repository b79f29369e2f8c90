"""All ways to send, one for each kind of destination."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.runtime.deliveries.chat_wire import ChatWire
from layover.runtime.deliveries.webhook_wire import WebhookWire

if TYPE_CHECKING:
    from layover.runtime.deliveries.function_wire import FunctionWire
    from layover.runtime.deliveries.http_poster import HttpPoster
    from layover.runtime.deliveries.mail_wire import MailWire
    from layover.runtime.deliveries.outcomes import SendOutcome
    from layover.runtime.deliveries.shipments import Shipment


class Wires:
    """Sends each shipment by the way of its destination."""

    def __init__(self, poster: HttpPoster, functions: FunctionWire) -> None:
        self._poster = poster
        self._functions = functions
        self._webhooks = WebhookWire(poster)
        self._chats = ChatWire(poster)
        self._mails: MailWire | None = None

    async def send(self, shipment: Shipment) -> SendOutcome:
        """Make one attempt."""
        match shipment.destination.kind:
            case "webhook":
                return await self._webhooks.send(shipment)
            case "chat":
                return await self._chats.send(shipment)
            case "mail":
                return await self._mail_wire().send(shipment)
            case "function":
                return await self._functions.send(shipment)

    def _mail_wire(self) -> MailWire:
        if self._mails is None:
            from layover.runtime.deliveries.mail_wire import MailWire  # noqa: PLC0415 - `email` takes long to import

            self._mails = MailWire()
        return self._mails

    async def close(self) -> None:
        """Close all connections."""
        await self._poster.close()
