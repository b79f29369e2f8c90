"""The first key: a server that starts on an empty database makes one to begin with."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from layover.ports.audit_entries import SALT_BYTES, audit_row
from layover.runtime.ids import new_id
from layover.service.api_keys import made_key

if TYPE_CHECKING:
    from layover.ports.store import Store


async def has_keys(store: Store) -> bool:
    """Return whether a key was ever made."""
    return bool(await store.api_keys.list_keys("", 1))


async def first_key(store: Store, now: int) -> str | None:
    """Make a key of an admin, if there was never any, and return it to be shown once; else None."""
    if await has_keys(store):
        return None
    key, shown = made_key(now, name="first key", user="admin", roles=("admin",), by="server")
    entry = audit_row(
        id=new_id(now),
        at=now,
        user="server",
        act="key.add",
        salt=secrets.token_bytes(SALT_BYTES),
        target=key.id,
        credential="first start",
    )
    await store.api_keys.add(key, entry)
    return shown
