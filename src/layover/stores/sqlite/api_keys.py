"""API keys, stored as hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from layover.stores.checks import at_most, key_exists
from layover.stores.rows import key_of
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.access import Key
    from layover.ports.records import AuditRow
    from layover.stores.sqlite.session import SqliteSession


class SqliteApiKeys:
    """API keys of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def add(self, key: Key, audit: AuditRow) -> None:
        """Store an API key."""
        await self._session.write(lambda db: add(db, key, audit))

    async def replace(self, key_id: str, by: Key, ends_at: int, audit: AuditRow) -> bool:
        """Store an API key that replaces another."""
        return await self._session.write(lambda db: replace(db, key_id, by, ends_at, audit))

    async def end(self, key_id: str, now: int, audit: AuditRow) -> bool:
        """End an API key."""
        return await self._session.write(lambda db: end(db, key_id, now, audit))

    async def find_by_hash(self, hash_: bytes) -> Key | None:
        """Find an API key by its hash."""
        return await self._session.glance(lambda db: by_hash(db, hash_))

    async def list_keys(self, after: str, limit: int) -> list[Key]:
        """List API keys."""
        return await self._session.read(lambda db: keys(db, after, limit))


def add(db: apsw.Connection, key: Key, audit: AuditRow) -> None:
    """Store an API key."""
    insert(db, key)
    write_audit(db, audit)


def replace(db: apsw.Connection, key_id: str, by: Key, ends_at: int, audit: AuditRow) -> bool:
    """Store an API key that replaces another, unless that one has ended or was replaced."""
    db.execute(SQL["end_replaced_api_key"], {"id": key_id, "ends_at": ends_at})
    if db.changes() != 1:
        return False
    add(db, by, audit)
    return True


def end(db: apsw.Connection, key_id: str, now: int, audit: AuditRow) -> bool:
    """End an API key, unless it has ended."""
    db.execute(SQL["end_api_key"], {"id": key_id, "now": now})
    if db.changes() != 1:
        return False
    write_audit(db, audit)
    return True


def insert(db: apsw.Connection, key: Key) -> None:
    """Write a key."""
    scopes = msgspec.json.encode(key.scopes).decode() if key.scopes is not None else None
    values = {**asdict(key), "roles": msgspec.json.encode(key.roles).decode(), "scopes": scopes}
    db.execute(SQL["insert_api_keys"], values)
    if db.changes() != 1:
        raise key_exists(key)


def by_hash(db: apsw.Connection, hash_: bytes) -> Key | None:
    """Find an API key, also one that has ended."""
    row = db.execute(SQL["api_key_by_hash"], {"hash": hash_}).fetchone()
    return key_of(row) if row is not None else None


def keys(db: apsw.Connection, after: str, limit: int) -> list[Key]:
    """List API keys in the order of their ids."""
    return [key_of(row) for row in db.execute(SQL["list_api_keys"], {"after": after, "most": at_most(limit)})]
