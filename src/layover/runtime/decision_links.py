"""Links to the decision page of a pause point, each for one user.

A link holds a token of 256 bits, and only its hash is stored. A made link has a random token. The link in a mail has
one that follows from the link key, the point, the addressee and the delivery: it is the same at every attempt, though
no row and no log holds it. A delivery keeps the id of its link key, so a key that is replaced meanwhile changes
nothing; a key that is gone leaves the address at which one signs in.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING, Final

from layover.runtime.execution.callback_tokens import has_form_of_token, hash_of, new_token

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LinkKeys", "has_form_of_token", "hash_of", "link_address", "new_token", "point_address"]

_ID_BYTES: Final = 4
_MARK: Final = 24  # characters


def link_address(public_url: str, token: str) -> str:
    """Return the address of the page that a token leads to."""
    return f"{public_url.rstrip('/')}/d/{token}"


def point_address(public_url: str, point: str) -> str:
    """Return the address of the page of a point, for users who sign in."""
    return f"{public_url.rstrip('/')}/d/p/{point}"


class LinkKeys:
    """The keys that tokens in mails are made with: the first makes new ones, the others complete what was begun."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._keys = {_id_of(key): key.encode() for key in keys}

    @property
    def current(self) -> str | None:
        """The id of the key for new links; None if there is no key."""
        return next(iter(self._keys), None)

    def token(self, key_id: str, point: str, addressee: str, delivery: str) -> str | None:
        """Return the token of a link in a mail; None if its key is gone."""
        key = self._keys.get(key_id)
        return None if key is None else _encoded(key, "layover-link-v1", point, addressee, delivery)

    def mark(self, key_id: str, *about: str) -> str:
        """Return what stands in a text in the place of a token: nobody who can write into the text can foresee it."""
        return f"mark-{_encoded(self._keys[key_id], 'layover-link-mark-v1', *about)[:_MARK]}"


def _encoded(key: bytes, *about: str) -> str:
    return urlsafe_b64encode(hmac.digest(key, "\0".join(about).encode(), "sha256")).rstrip(b"=").decode()


def _id_of(key: str) -> str:
    return hashlib.sha256(b"layover-link-key-id\0" + key.encode()).digest()[:_ID_BYTES].hex()
