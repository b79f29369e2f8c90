"""Verifies a delivery by the scheme of its sender.

Every valid secret is compared with every signature in constant time, and none is left out after a match, so the time
tells nothing about the secrets. A signed time may differ from ours by five minutes. It is checked after the signature:
a time that is not signed means nothing.

The id of an input is one that the signature covers: the header `webhook-id`, or the id of an event inside the body. If
only the body is signed, it is the SHA-256 of the body, because a replay can forge any header. A sender that signs
nothing but knows a key may say an id in the header `Idempotency-Key`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import TYPE_CHECKING, Final, assert_never

import msgspec

from layover.core.webhooks.delivery import (
    HookCheck,
    HookDelivery,
    Reason,
    RefusedHook,
    Verdict,
    Verified,
    WebhookSecret,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOLERANCE: Final = 300_000
_LONGEST_HEADER: Final = 4096
_LONGEST_ID: Final = 200
_MOST_SECRETS: Final = 10
_MOST_SIGNATURES: Final = 20
_PREFIX: Final = "whsec_"


class _Signed(msgspec.Struct, frozen=True):
    """What a delivery claims: signatures, the bytes that they are made of, and the time among them."""

    content: bytes
    signatures: tuple[bytes, ...]
    at: int | None = None  # seconds


class _Event(msgspec.Struct, frozen=True):
    id: str = ""
    event_id: str = ""
    type: str = ""
    challenge: str = ""


def verify(verification: HookCheck, delivery: HookDelivery, secrets: Sequence[WebhookSecret], now: int) -> Verdict:
    """Return whether a delivery proves that its sender knows one of the secrets."""
    valid = [secret.value for secret in secrets[:_MOST_SECRETS] if secret.until is None or now <= secret.until]
    match verification.scheme:
        case "none":
            return Verified(_named_id(delivery))
        case "token":
            return _judge_credential(delivery, token_hash(delivery.token) if delivery.token else None, valid)
        case "key":
            return _judge_credential(delivery, _key(verification, delivery), valid)
        case "standard":
            return _judge_standard(delivery, valid, now)
        case "github":
            claim = _signed_body(delivery, "x-hub-signature-256", prefixed=True)
            return _judge(claim, valid, now, lambda: Verified(_hash(delivery.body)))
        case "hmac":
            claim = _signed_body(delivery, verification.header.lower(), prefixed=False)
            return _judge(claim, valid, now, lambda: Verified(_hash(delivery.body)))
        case "stripe":
            return _judge(_stripe(delivery), valid, now, lambda: _of_stripe(delivery))
        case "slack":
            return _judge(_slack(delivery), valid, now, lambda: _of_slack(delivery))
        case _:
            assert_never(verification.scheme)


def token_hash(token: str) -> str:
    """Return what is stored of a token that stands in an address."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def standard_key(secret: str) -> bytes | None:
    """Return the key that a secret of Standard Webhooks stands for: base64, with or without `whsec_`."""
    try:
        text = secret.removeprefix(_PREFIX).rstrip("=")
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def _judge(claim: _Signed | Reason, secrets: Sequence[str], now: int, accept: Callable[[], Verified]) -> Verdict:
    return _judge_keys(claim, [secret.encode(errors="surrogatepass") for secret in secrets if secret], now, accept)


def _judge_keys(claim: _Signed | Reason, keys: Sequence[bytes], now: int, accept: Callable[[], Verified]) -> Verdict:
    if not keys:
        return RefusedHook("no_secret")
    if isinstance(claim, str):
        return RefusedHook(claim)
    skew = None if claim.at is None else claim.at * 1000 - now
    matched = False
    for key in keys:
        expected = hmac.digest(key, claim.content, "sha256")
        for signature in claim.signatures:
            matched |= hmac.compare_digest(expected, signature)
    if not matched:
        return RefusedHook("wrong_signature", skew)
    if skew is not None and abs(skew) > TOLERANCE:
        return RefusedHook("wrong_time", skew)
    return msgspec.structs.replace(accept(), skew=skew)


def _judge_credential(delivery: HookDelivery, given: str | None, secrets: Sequence[str]) -> Verdict:
    if not any(secrets):
        return RefusedHook("no_secret")
    if given is None:
        return RefusedHook("missing_signature")
    matched = False
    for secret in filter(None, secrets):
        # Hashes have one length, so the time does not tell that of the secret.
        matched |= hmac.compare_digest(token_hash(given), token_hash(secret))
    return Verified(_named_id(delivery)) if matched else RefusedHook("wrong_signature")


def _judge_standard(delivery: HookDelivery, secrets: Sequence[str], now: int) -> Verdict:
    keys = [key for key in map(standard_key, secrets) if key is not None]
    named = delivery.headers.get("webhook-id", "")
    return _judge_keys(_standard(delivery), keys, now, lambda: Verified(_bounded_id(named)))


def _standard(delivery: HookDelivery) -> _Signed | Reason:
    values = [delivery.headers.get(f"webhook-{name}") for name in ("id", "timestamp", "signature")]
    named, timestamp, listed = values
    if not named or not timestamp or not listed:
        return "missing_signature"
    at = _seconds(timestamp)
    if at is None or not _plain(named) or not _plain(listed):
        return "malformed_signature"
    signatures = []
    for part in listed.split(" ")[:_MOST_SIGNATURES]:
        version, _, text = part.partition(",")
        if version == "v1":
            signatures.append(_from_base64(text))
    return _Signed(b".".join((named.encode(), timestamp.encode(), delivery.body)), _found(signatures), at)


def _stripe(delivery: HookDelivery) -> _Signed | Reason:
    header = delivery.headers.get("stripe-signature")
    if not header:
        return "missing_signature"
    if not _plain(header):
        return "malformed_signature"
    parts = [part.strip().partition("=") for part in header.split(",")[: _MOST_SIGNATURES + 1]]
    timestamp = next((value for name, _, value in parts if name == "t"), "")
    at = _seconds(timestamp)
    if at is None:
        return "malformed_signature"
    signatures = [_from_hex(value) for name, _, value in parts if name == "v1"]
    return _Signed(timestamp.encode() + b"." + delivery.body, _found(signatures), at)


def _slack(delivery: HookDelivery) -> _Signed | Reason:
    timestamp, header = (delivery.headers.get(f"x-slack-{name}") for name in ("request-timestamp", "signature"))
    if not timestamp or not header:
        return "missing_signature"
    at = _seconds(timestamp)
    if at is None or not _plain(header) or not header.startswith("v0="):
        return "malformed_signature"
    return _Signed(b"v0:" + timestamp.encode() + b":" + delivery.body, _found([_from_hex(header[3:])]), at)


def _signed_body(delivery: HookDelivery, header: str, *, prefixed: bool) -> _Signed | Reason:
    text = delivery.headers.get(header)
    if not text:
        return "missing_signature"
    if not _plain(text) or (prefixed and not text.startswith("sha256=")):
        return "malformed_signature"
    return _Signed(delivery.body, _found([_from_hex(text.removeprefix("sha256="))]))


def _of_stripe(delivery: HookDelivery) -> Verified:
    return Verified(_bounded_id(_event(delivery).id) or _hash(delivery.body))


def _of_slack(delivery: HookDelivery) -> Verified:
    event = _event(delivery)
    asked = event.type == "url_verification" and len(event.challenge) <= _LONGEST_HEADER
    return Verified(_bounded_id(event.event_id) or _hash(delivery.body), challenge=event.challenge if asked else None)


def _key(verification: HookCheck, delivery: HookDelivery) -> str | None:
    header = verification.header.lower() or "x-api-key"
    given = delivery.headers.get(header, "")[:_LONGEST_HEADER]
    if header == "authorization" and given[:7].lower() == "bearer ":
        given = given[7:]
    return given or None


def _event(delivery: HookDelivery) -> _Event:
    """Return what the body says about itself; nothing, if it is no such JSON."""
    try:
        return msgspec.json.decode(delivery.body, type=_Event)
    except (ValueError, RecursionError):
        return _Event()


def _named_id(delivery: HookDelivery) -> str:
    return _bounded_id(delivery.headers.get("idempotency-key", "")) or _hash(delivery.body)


def _bounded_id(named: str) -> str:
    return named if len(named) <= _LONGEST_ID and named.isprintable() else token_hash(named)


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _plain(text: str) -> bool:
    return len(text) <= _LONGEST_HEADER and text.isascii() and text.isprintable()


def _seconds(text: str) -> int | None:
    return int(text) if len(text) <= 12 and text.isascii() and text.isdigit() else None


def _from_hex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _found(signatures: Sequence[bytes | None]) -> tuple[bytes, ...]:
    return tuple(signature for signature in signatures if signature is not None)
