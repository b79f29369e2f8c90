"""Keys: 256 bits of chance, shown once and kept as a hash, with a prefix by which people tell them apart."""

from __future__ import annotations

import hashlib
import secrets

_BYTES = 32
_SHOWN = 12


def new_key() -> str:
    """Return a key that nobody can guess."""
    return f"lay_{secrets.token_urlsafe(_BYTES)}"


def prefix_of(key: str) -> str:
    """Return as much of a key as may be shown."""
    return key[:_SHOWN]


def hash_of(key: str) -> bytes:
    """Return what is kept of a key: it is as long as the hash, so there is nothing to salt and nothing to slow down."""
    return hashlib.sha256(key.encode(errors="replace")).digest()
