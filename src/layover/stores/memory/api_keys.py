"""API keys, stored as hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace as replaced

from layover.stores.checks import at_most, key_exists
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from layover.ports.access import Key
    from layover.ports.records import AuditRow
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryApiKeys:
    """API keys in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def add(self, key: Key, audit: AuditRow) -> None:
        """Store an API key."""
        add(await self._session.turn(), key, audit)

    async def replace(self, key_id: str, by: Key, ends_at: int, audit: AuditRow) -> bool:
        """Store an API key that replaces another."""
        return replace(await self._session.turn(), key_id, by, ends_at, audit)

    async def end(self, key_id: str, now: int, audit: AuditRow) -> bool:
        """End an API key."""
        return end(await self._session.turn(), key_id, now, audit)

    async def find_by_hash(self, hash_: bytes) -> Key | None:
        """Find an API key by its hash."""
        return by_hash(await self._session.turn(), hash_)

    async def list_keys(self, after: str, limit: int) -> list[Key]:
        """List API keys."""
        return keys(await self._session.turn(), after, limit)


def add(db: MemoryDatabase, key: Key, audit: AuditRow) -> None:
    """Store an API key."""
    if is_there(db, key):
        raise key_exists(key)
    db.keys[key.id] = key
    write_audit(db, audit)


def is_there(db: MemoryDatabase, key: Key) -> bool:
    """Return whether there is an API key with this id or this hash."""
    return key.id in db.keys or by_hash(db, key.hash) is not None


def replace(db: MemoryDatabase, key_id: str, by: Key, ends_at: int, audit: AuditRow) -> bool:
    """Store an API key that replaces another, unless that one has ended or was replaced."""
    key = db.keys.get(key_id)
    if key is None or key.ended_at is not None:
        return False
    add(db, by, audit)
    db.keys[key_id] = replaced(key, ended_at=ends_at)
    return True


def end(db: MemoryDatabase, key_id: str, now: int, audit: AuditRow) -> bool:
    """End an API key, unless it has ended."""
    key = db.keys.get(key_id)
    if key is None or (key.ended_at is not None and key.ended_at <= now):
        return False
    db.keys[key_id] = replaced(key, ended_at=now)
    write_audit(db, audit)
    return True


def by_hash(db: MemoryDatabase, hash_: bytes) -> Key | None:
    """Find an API key, also one that has ended."""
    return next((key for key in db.keys.values() if key.hash == hash_), None)


def keys(db: MemoryDatabase, after: str, limit: int) -> list[Key]:
    """List API keys in the order of their ids."""
    return [db.keys[id_] for id_ in sorted(db.keys) if id_ > after][: at_most(limit)]
