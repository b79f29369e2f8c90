"""Tokens by which somebody outside reports to a callback point: told once, and kept only as a hash."""

from __future__ import annotations

import hashlib
import secrets

_BYTES = 32
_LONGEST = 200


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


def hash_of(token: str) -> bytes:
    """Return what is kept of a token. It is as long as the hash, so there is nothing to salt."""
    return hashlib.sha256(token[:_LONGEST].encode(errors="replace")).digest()
