"""Keys: 256 bits of chance, shown once and kept as a hash, with a prefix by which people tell them apart."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

from layover.ports.access import Key
from layover.runtime.ids import new_id

ADMIN_KEY: Final = "admin key"  # what a caller with the admin key of the settings is known by
_BYTES: Final = 32
_SHOWN: Final = 12
_FORM: Final = re.compile(r"lay_[A-Za-z0-9_-]{43}")


def new_key() -> str:
    """Return a key that cannot be guessed."""
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


def key_credential(key_id: str) -> str:
    """Return what a caller with a key is known by."""
    return f"key {key_id}"


def made_key(  # noqa: PLR0913 - each is a field of it
    now: int,
    *,
    name: str,
    user: str,
    roles: tuple[str, ...],
    by: str,
    scopes: tuple[str, ...] | None = None,
    lasts: int | None = None,
) -> tuple[Key, str]:
    """Return the row of a new key, with or without an end; and the key itself."""
    shown = new_key()
    row = Key(
        id=new_id(now),
        prefix=prefix_of(shown),
        hash=hash_of(shown),
        name=name,
        user=user,
        roles=roles,
        scopes=scopes,
        created_at=now,
        created_by=by,
        expires_at=None if lasts is None else now + lasts,
    )
    return row, shown


def made_in_place_of(old: Key, now: int, by: str) -> tuple[Key, str] | None:
    """Return a key for the same user that lasts as long as another; None if that one has ended."""
    if old.ended_at is not None or (old.expires_at is not None and old.expires_at <= now):
        return None
    lasts = None if old.expires_at is None else old.expires_at - old.created_at
    return made_key(now, name=old.name, user=old.user, roles=old.roles, by=by, scopes=old.scopes, lasts=lasts)
