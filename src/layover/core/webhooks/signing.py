"""Makes the headers of a delivery as a sender of each scheme does; for the test kit, and for trying a webhook out."""

from __future__ import annotations

import base64
import hmac
from typing import TYPE_CHECKING, assert_never

from layover.core.webhooks.signatures import standard_key

if TYPE_CHECKING:
    from layover.core.webhooks.delivery import HookCheck


def sign(verification: HookCheck, secret: str, body: bytes, now: int, named: str = "") -> dict[str, str]:
    """Return the headers of a delivery at a moment; `named` is the id that Standard Webhooks have in a header."""
    key = secret.encode(errors="surrogatepass")
    seconds = str(now // 1000)
    match verification.scheme:
        case "standard":
            content = b".".join((named.encode(), seconds.encode(), body))
            digest = hmac.digest(standard_key(secret) or b"", content, "sha256")
            signature = f"v1,{base64.b64encode(digest).decode()}"
            return {"webhook-id": named, "webhook-timestamp": seconds, "webhook-signature": signature}
        case "github":
            return {"x-hub-signature-256": f"sha256={_hex(key, body)}"}
        case "stripe":
            return {"stripe-signature": f"t={seconds},v1={_hex(key, seconds.encode() + b'.' + body)}"}
        case "slack":
            signature = f"v0={_hex(key, b'v0:' + seconds.encode() + b':' + body)}"
            return {"x-slack-request-timestamp": seconds, "x-slack-signature": signature}
        case "hmac":
            return {verification.header.lower(): _hex(key, body)}
        case "key":
            return {verification.header.lower() or "x-api-key": secret}
        case "token" | "none":
            return {}
        case _:
            assert_never(verification.scheme)


def _hex(key: bytes, content: bytes) -> str:
    return hmac.digest(key, content, "sha256").hex()
