"""The part of the store that serves the API: API keys, audit, replies to repeated requests, and workflow status."""

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
    """API keys, audit entries, replies and workflow statuses of a file."""

    def _write(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        raise NotImplementedError

    def _read(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        raise NotImplementedError

    async def _glance(self, work: Callable[[apsw.Connection], T]) -> T:
        raise NotImplementedError

    # Audit

    async def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """List audit entries."""
        return await self._read(lambda db: audit.list_audit(db, wanted))

    async def forget_audit(self, before: int, most: int) -> int:
        """Delete old audit entries."""
        return await self._write(lambda db: audit.delete_old_audit(db, before, most))

    # Keys

    async def add_key(self, key: Key, audit: AuditEntry) -> None:
        """Store an API key."""
        await self._write(lambda db: api_keys.add(db, key, audit))

    async def replace_key(self, key_id: str, by: Key, ends_at: int, audit: AuditEntry) -> bool:
        """Store an API key that replaces another."""
        return await self._write(lambda db: api_keys.replace(db, key_id, by, ends_at, audit))

    async def end_key(self, key_id: str, now: int, audit: AuditEntry) -> bool:
        """End an API key."""
        return await self._write(lambda db: api_keys.end(db, key_id, now, audit))

    async def key(self, hash_: bytes) -> Key | None:
        """Find an API key by its hash."""
        return await self._glance(lambda db: api_keys.by_hash(db, hash_))

    async def keys(self, after: str, limit: int) -> list[Key]:
        """List API keys."""
        return await self._read(lambda db: api_keys.keys(db, after, limit))

    # Replies

    async def begin_reply(self, reply: Reply, now: int) -> Reply | None:
        """Record that a request is in progress, or return its reply or the request in progress."""
        return await self._write(lambda db: idempotency.begin_reply(db, reply, now))

    async def end_reply(self, reply: Reply) -> None:
        """Store the reply to a request."""
        await self._write(lambda db: idempotency.end_reply(db, reply))

    async def drop_reply(self, scope: str, key: str) -> None:
        """Delete the record of a request in progress."""
        await self._write(lambda db: idempotency.delete_unfinished_reply(db, scope, key))

    async def forget_replies(self, now: int, most: int) -> int:
        """Delete expired replies."""
        return await self._write(lambda db: idempotency.delete_expired_replies(db, now, most))

    # Standings

    async def set_standing(self, standing: Standing, audit: AuditEntry | None = None) -> None:
        """Set the status of a workflow."""
        await self._write(lambda db: set_workflow_status(db, standing, audit))

    async def standings(self, workflows: Sequence[str] | None = None) -> list[Standing]:
        """Read the status of workflows."""
        return await self._read(lambda db: workflow_statuses(db, workflows))
