"""API keys, stored as hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.stores.checks import at_most
from layover.stores.postgres.audit import write_audit
from layover.stores.rows import key_of

if TYPE_CHECKING:
    from layover.ports.access import Key
    from layover.ports.records import AuditRow
    from layover.stores.postgres.database import Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresApiKeys:
    """API keys of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def add(self, key: Key, audit: AuditRow) -> None:
        """Store an API key."""
        await self._session.db.transact(lambda tx: _add(tx, key, audit))

    async def replace(self, key_id: str, by: Key, ends_at: int, audit: AuditRow) -> bool:
        """Store an API key that replaces another, unless that one has ended or was replaced."""

        async def work(tx: Transaction) -> bool:
            if await tx.fetchval("end_replaced_api_key", key_id, ends_at) is None:
                return False
            await _add(tx, by, audit)
            return True

        return await self._session.db.transact(work)

    async def end(self, key_id: str, now: int, audit: AuditRow) -> bool:
        """End an API key, unless it has ended."""

        async def work(tx: Transaction) -> bool:
            if await tx.fetchval("end_api_key", key_id, now) is None:
                return False
            await write_audit(tx, audit)
            return True

        return await self._session.db.transact(work)

    async def find_by_hash(self, hash_: bytes) -> Key | None:
        """Find an API key, also one that has ended."""
        row = await self._session.db.fetchrow("api_key_by_hash", hash_)
        return key_of(row) if row is not None else None

    async def list_keys(self, after: str, limit: int) -> list[Key]:
        """List API keys in the order of their ids."""
        return [key_of(row) for row in await self._session.db.fetch("list_api_keys", after, at_most(limit))]


async def _add(tx: Transaction, key: Key, audit: AuditRow) -> None:
    await tx.fetch("insert_api_keys", *([value] for value in columns(key)))
    await write_audit(tx, audit)


def columns(key: Key) -> tuple[object, ...]:
    """Return the columns of an API key."""
    return (
        key.id,
        key.prefix,
        key.hash,
        key.name,
        key.user,
        msgspec.json.encode(key.roles).decode(),
        key.created_at,
        msgspec.json.encode(key.scopes).decode() if key.scopes is not None else None,
        key.created_by,
        key.expires_at,
        key.ended_at,
    )
