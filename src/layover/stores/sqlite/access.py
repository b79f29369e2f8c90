"""The part of the store that is about who uses it from outside: keys, what they did and were told, and standings."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from layover.stores.sqlite import api_keys, audit, idempotency
from layover.stores.sqlite.workflow_status import set_workflow_status, workflow_statuses

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    import apsw

    from layover.ports.access import AuditFilter, Key, Reply, Standing
    from layover.ports.records import AuditEntry

T = TypeVar("T")


class SqliteAccess:
    """Rows beside the run plane of a file."""

    def _write(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        raise NotImplementedError

    def _read(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        raise NotImplementedError

    async def _glance(self, work: Callable[[apsw.Connection], T]) -> T:
        raise NotImplementedError

    # Audit

    async def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """List what was done."""
        return await self._read(lambda db: audit.list_audit(db, wanted))

    async def forget_audit(self, before: int, most: int) -> int:
        """Delete old entries."""
        return await self._write(lambda db: audit.delete_old_audit(db, before, most))

    # Keys

    async def add_key(self, key: Key, audit: AuditEntry) -> None:
        """Keep a key."""
        await self._write(lambda db: api_keys.add(db, key, audit))

    async def replace_key(self, key_id: str, by: Key, ends_at: int, audit: AuditEntry) -> bool:
        """Keep a key in the place of another."""
        return await self._write(lambda db: api_keys.replace(db, key_id, by, ends_at, audit))

    async def end_key(self, key_id: str, now: int, audit: AuditEntry) -> bool:
        """End a key."""
        return await self._write(lambda db: api_keys.end(db, key_id, now, audit))

    async def key(self, hash_: bytes) -> Key | None:
        """Find a key by its hash."""
        return await self._glance(lambda db: api_keys.by_hash(db, hash_))

    async def keys(self, after: str, limit: int) -> list[Key]:
        """List keys."""
        return await self._read(lambda db: api_keys.keys(db, after, limit))

    # Replies

    async def begin_reply(self, reply: Reply, now: int) -> Reply | None:
        """Note that a request is being worked at, or find what is known of it."""
        return await self._write(lambda db: idempotency.begin_reply(db, reply, now))

    async def end_reply(self, reply: Reply) -> None:
        """Keep what was answered."""
        await self._write(lambda db: idempotency.end_reply(db, reply))

    async def drop_reply(self, scope: str, key: str) -> None:
        """Forget that a request was worked at."""
        await self._write(lambda db: idempotency.delete_unfinished_reply(db, scope, key))

    async def forget_replies(self, now: int, most: int) -> int:
        """Delete what is no longer kept."""
        return await self._write(lambda db: idempotency.delete_expired_replies(db, now, most))

    # Standings

    async def set_standing(self, standing: Standing, audit: AuditEntry | None = None) -> None:
        """Note how a workflow stands."""
        await self._write(lambda db: set_workflow_status(db, standing, audit))

    async def standings(self, workflows: Sequence[str] | None = None) -> list[Standing]:
        """Read how workflows stand."""
        return await self._read(lambda db: workflow_statuses(db, workflows))
