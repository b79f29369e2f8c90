"""What a webhook brings, how it is to be verified, and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

import msgspec

Scheme = Literal["standard", "github", "stripe", "slack", "hmac", "token", "key", "none"]
SCHEMES: Final[tuple[Scheme, ...]] = get_args(Scheme)

Reason = Literal["no_secret", "missing_signature", "malformed_signature", "wrong_signature", "wrong_time"]


class HookCheck(msgspec.Struct, frozen=True):
    """How a sender proves who it is; `header` is where `hmac` and `key` look."""

    scheme: Scheme
    header: str = ""


class WebhookSecret(msgspec.Struct, frozen=True):
    """A secret that is valid until a moment, which still belongs to it; for `token`, the hash of the token."""

    value: str
    until: int | None = None

    def __repr__(self) -> str:
        return f"WebhookSecret(***, until={self.until})"


class HookDelivery(msgspec.Struct, frozen=True):
    """One request, as it came: headers by their lower-case names, the raw body, and the token in its address."""

    headers: Mapping[str, str]
    body: bytes
    token: str = ""


class Verified(msgspec.Struct, frozen=True):
    """The sender knows a secret. A repeated delivery has the same `input_id`; a `challenge` is to be sent back."""

    input_id: str
    skew: int | None = None  # milliseconds that the clock of the sender is ahead
    challenge: str | None = None


class RefusedHook(msgspec.Struct, frozen=True):
    """The delivery proves nothing, and why; where it told a time, how far that is ahead of ours."""

    reason: Reason
    skew: int | None = None


Verdict = Verified | RefusedHook
