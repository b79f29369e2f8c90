"""Keys: 256 bits of chance, shown once and kept as a hash, with a prefix by which people tell them apart."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

_BYTES: Final = 32
_SHOWN: Final = 12
_FORM: Final = re.compile(r"lay_[A-Za-z0-9_-]{43}")


def new_key() -> str:
    """Return a key that nobody can guess."""
    return f"lay_{secrets.token_urlsafe(_BYTES)}"


def has_form_of_key(given: str) -> bool:
    """Return whether something looks like a key, so that nothing else needs to be looked up."""
    return _FORM.fullmatch(given) is not None


def prefix_of(key: str) -> str:
    """Return as much of a key as may be shown."""
    return key[:_SHOWN]


def hash_of(key: str) -> bytes:
    """Return what is kept of a key: it is as long as the hash, so there is nothing to salt and nothing to slow down."""
    return hashlib.sha256(key.encode(errors="replace")).digest()
