"""The first key: whoever starts a server on an empty database gets one to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.access.keys import made_key
from layover.ports.records import AuditEntry
from layover.runtime.ids import new_id

if TYPE_CHECKING:
    from layover.ports.store import Store


async def has_keys(store: Store) -> bool:
    """Return whether a key was ever made."""
    return bool(await store.keys("", 1))


async def first_key(store: Store, now: int) -> str | None:
    """Make a key of an admin, if there was never any, and return it to be shown once; else None."""
    if await has_keys(store):
        return None
    key, shown = made_key(now, name="first key", user="admin", roles=("admin",), by="server")
    entry = AuditEntry(id=new_id(now), at=now, user="server", act="key.add", target=key.id, credential="first start")
    await store.add_key(key, entry)
    return shown
