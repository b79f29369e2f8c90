"""Messages to chats, by their incoming webhooks: `{"text": …}`.

The three characters that mean something there are escaped: no value can mention anybody, or make a link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from layover.runtime.deliveries.outcomes import failed

if TYPE_CHECKING:
    from layover.runtime.deliveries.http_poster import HttpPoster
    from layover.runtime.deliveries.outcomes import SendOutcome
    from layover.runtime.deliveries.parcels import Parcel
    from layover.runtime.deliveries.shipments import Shipment


class ChatWire:
    """Sends messages to chats."""

    def __init__(self, poster: HttpPoster) -> None:
        self._poster = poster

    async def send(self, shipment: Shipment) -> SendOutcome:
        """Make one attempt."""
        destination = shipment.destination
        address = shipment.plain(destination.address)
        if not _is_address(address):
            return failed("address_malformed", "The secret of the chat is not an address.", health="unknown")
        headers = shipment.headers_beside({"Content-Type": "application/json", "Idempotency-Key": shipment.id})
        body = msgspec.json.encode({"text": chat_text(shipment.parcel)})
        return await self._poster.post(address, headers, body, destination.timeout, shipment.at)


def chat_text(parcel: Parcel) -> str:
    """Return the message: what is said, escaped."""
    lines = [parcel.subject, *([parcel.text] if parcel.text and parcel.text != parcel.subject else ())]
    if parcel.link and parcel.link not in parcel.text:
        lines.append(parcel.link)
    return escape_chat("\n".join(one for one in lines if one))


def escape_chat(text: str) -> str:
    """Escape a text as chats ask for it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and text.isprintable()
