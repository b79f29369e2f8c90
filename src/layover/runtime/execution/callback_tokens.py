"""Tokens that authorise a reply to a callback point: handed out once, stored only as a hash."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_BYTES = 32
_LONGEST = 200
_FORM = re.compile(r"[A-Za-z0-9_-]{43}")


def new_token(secret: Callable[[int], bytes]) -> str:
    """Return a token that cannot be guessed."""
    return base64.urlsafe_b64encode(secret(_BYTES)).rstrip(b"=").decode()


def has_form_of_token(given: str) -> bool:
    """Return whether a text looks like a token; other texts need no lookup."""
    return _FORM.fullmatch(given) is not None


def hash_of(token: str) -> bytes:
    """Return the stored hash of a token. The token has as much entropy as the hash, so it needs no salt."""
    return hashlib.sha256(token[:_LONGEST].encode(errors="replace")).digest()
