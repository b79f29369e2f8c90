"""What a credential says of its holder."""

from __future__ import annotations

import msgspec

from layover.model.access import Caller


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """A caller, and what a session that is opened with their credential needs to know of it."""

    caller: Caller
    scopes: tuple[str, ...] | None = None
    key_id: str = ""  # the key with which a session ends
    expires_at: int | None = None  # when the credential ends, which no session outlives
