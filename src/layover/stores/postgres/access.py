"""The part of the store that serves the API: API keys, audit, replies to repeated requests, and workflow status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.postgres import api_keys, audit, idempotency
from layover.stores.postgres.workflow_status import set_workflow_status, workflow_statuses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import AuditFilter, Key, Reply, Standing
    from layover.ports.records import AuditEntry
    from layover.stores.postgres.database import Database


class PostgresAccess:
    """API keys, audit entries, replies and workflow statuses of a schema."""

    @property
    def _db(self) -> Database:
        raise NotImplementedError

    # Audit

    async def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """List audit entries."""
        return await audit.list_audit(self._db, wanted)

    async def forget_audit(self, before: int, most: int) -> int:
        """Delete old audit entries."""
        return await audit.delete_old_audit(self._db, before, most)

    # Keys

    async def add_key(self, key: Key, audit: AuditEntry) -> None:
        """Store an API key."""
        await api_keys.add(self._db, key, audit)

    async def replace_key(self, key_id: str, by: Key, ends_at: int, audit: AuditEntry) -> bool:
        """Store an API key that replaces another."""
        return await api_keys.replace(self._db, key_id, by, ends_at, audit)

    async def end_key(self, key_id: str, now: int, audit: AuditEntry) -> bool:
        """End an API key."""
        return await api_keys.end(self._db, key_id, now, audit)

    async def key(self, hash_: bytes) -> Key | None:
        """Find an API key by its hash."""
        return await api_keys.by_hash(self._db, hash_)

    async def keys(self, after: str, limit: int) -> list[Key]:
        """List API keys."""
        return await api_keys.keys(self._db, after, limit)

    # Replies

    async def begin_reply(self, reply: Reply, now: int) -> Reply | None:
        """Record that a request is in progress, or return its reply or the request in progress."""
        return await idempotency.begin_reply(self._db, reply, now)

    async def end_reply(self, reply: Reply) -> None:
        """Store the reply to a request."""
        await idempotency.end_reply(self._db, reply)

    async def drop_reply(self, scope: str, key: str) -> None:
        """Delete the record of a request in progress."""
        await idempotency.delete_unfinished_reply(self._db, scope, key)

    async def forget_replies(self, now: int, most: int) -> int:
        """Delete expired replies."""
        return await idempotency.delete_expired_replies(self._db, now, most)

    # Standings

    async def set_standing(self, standing: Standing, audit: AuditEntry | None = None) -> None:
        """Set the status of a workflow."""
        await set_workflow_status(self._db, standing, audit)

    async def standings(self, workflows: Sequence[str] | None = None) -> list[Standing]:
        """Read the status of workflows."""
        return await workflow_statuses(self._db, workflows)
