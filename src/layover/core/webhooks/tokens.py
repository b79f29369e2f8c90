"""Tokens in the addresses of webhooks whose senders cannot sign: shown once, stored only as a hash.

They begin with a digit, as no name of a trigger does: `/hooks/t/…` is never the webhook of a workflow `t`.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_BYTES: Final = 32
_FORM: Final = re.compile(r"1[A-Za-z0-9_-]{43}")


def new_hook_token(secret: Callable[[int], bytes]) -> str:
    """Return a token that cannot be guessed."""
    return f"1{base64.urlsafe_b64encode(secret(_BYTES)).rstrip(b'=').decode()}"


def has_form_of_hook_token(given: str) -> bool:
    """Return whether a text looks like a token; other texts need no lookup."""
    return _FORM.fullmatch(given) is not None
