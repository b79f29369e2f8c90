"""Webhooks, signed as Standard Webhooks are.

The signature covers the id, the moment of the attempt and the body, so that nobody can replay it later or elsewhere. It
is made anew at each attempt, by every secret that is valid then: a receiver may have the old or the new one while a
secret is rotated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.moments import moment
from layover.core.notifications import TRIGGER_ERROR
from layover.core.webhooks.delivery import HookCheck
from layover.core.webhooks.signatures import standard_key
from layover.core.webhooks.signing import sign
from layover.runtime.deliveries.outcomes import failed

if TYPE_CHECKING:
    from layover.runtime.deliveries.http_poster import HttpPoster
    from layover.runtime.deliveries.outcomes import SendOutcome
    from layover.runtime.deliveries.parcels import Parcel, ToldPoint
    from layover.runtime.deliveries.shipments import Shipment

_STANDARD: Final = HookCheck("standard")
_KEY_BYTES: Final = range(24, 65)


class WebhookWire:
    """Sends webhooks."""

    def __init__(self, poster: HttpPoster) -> None:
        self._poster = poster

    async def send(self, shipment: Shipment) -> SendOutcome:
        """Make one attempt."""
        destination = shipment.destination
        secrets = shipment.valid_secrets()
        if destination.secrets and not secrets:
            return failed("secret_expired", "No secret of the destination is valid any more.", health="unknown")
        if not all(len(standard_key(one) or b"") in _KEY_BYTES for one in secrets):
            error = "A secret for signatures is `whsec_` and 24 to 64 bytes in base64."
            return failed("secret_malformed", error, health="unknown")
        body = webhook_body(shipment.parcel)
        headers = shipment.headers_beside(webhook_headers(shipment, body, secrets))
        address = shipment.plain(destination.address)
        return await self._poster.post(address, headers, body, destination.timeout, shipment.at)


def webhook_headers(shipment: Shipment, body: bytes, secrets: list[str]) -> dict[str, str]:
    """Return the headers of one attempt; without a secret there is no signature."""
    signed = [sign(_STANDARD, secret, body, shipment.at, shipment.id) for secret in secrets]
    found = {
        "Content-Type": "application/json",
        "webhook-id": shipment.id,
        "webhook-timestamp": str(shipment.at // 1000),
        "Idempotency-Key": shipment.id,
        "Layover-Attempt": str(shipment.attempt),
    }
    if signed:
        found["webhook-signature"] = " ".join(one["webhook-signature"] for one in signed)
    return found


def webhook_body(parcel: Parcel) -> bytes:
    """Return what is posted: the same bytes at every attempt."""
    data: dict[str, object] = {}
    if parcel.workflow:
        data["workflow"] = parcel.workflow
    if parcel.execution_id is not None:
        data["execution_id"] = parcel.execution_id
    if parcel.point is not None:
        data["point"] = point_fields(parcel.point)
    if parcel.reports_on:
        data["trigger" if parcel.kind == TRIGGER_ERROR else "destination"] = parcel.reports_on
    if not parcel.is_usual:  # what an author has written; the usual texts may tell what only `include` is to add
        texts = {"subject": parcel.subject, "text": parcel.text, "link": parcel.link}
        data.update({name: text for name, text in texts.items() if text})
    data.update({name: value for name, value in parcel.data.items() if name not in data})
    return msgspec.json.encode({"type": parcel.kind, "timestamp": moment(parcel.at), "data": data})


def point_fields(point: ToldPoint) -> dict[str, object]:
    """Return what receivers get to know of a pause point."""
    return {"id": point.id, "title": point.title, "kind": point.kind, "deadline": moment(point.deadline)}
