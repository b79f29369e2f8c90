"""The part of the store that serves the API: API keys, audit, replies to repeated requests, and workflow status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.memory import api_keys, audit, idempotency
from layover.stores.memory.workflow_status import set_workflow_status, workflow_statuses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import AuditFilter, Key, Reply, Standing
    from layover.ports.records import AuditEntry
    from layover.stores.memory.database import MemoryDatabase


class MemoryAccess:
    """API keys, audit entries, replies and workflow statuses."""

    async def _turn(self) -> MemoryDatabase:
        raise NotImplementedError

    # Audit

    async def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """List audit entries."""
        return audit.list_audit(await self._turn(), wanted)

    async def forget_audit(self, before: int, most: int) -> int:
        """Delete old audit entries."""
        return audit.delete_old_audit(await self._turn(), before, most)

    # Keys

    async def add_key(self, key: Key, audit: AuditEntry) -> None:
        """Store an API key."""
        api_keys.add(await self._turn(), key, audit)

    async def replace_key(self, key_id: str, by: Key, ends_at: int, audit: AuditEntry) -> bool:
        """Store an API key that replaces another."""
        return api_keys.replace(await self._turn(), key_id, by, ends_at, audit)

    async def end_key(self, key_id: str, now: int, audit: AuditEntry) -> bool:
        """End an API key."""
        return api_keys.end(await self._turn(), key_id, now, audit)

    async def key(self, hash_: bytes) -> Key | None:
        """Find an API key by its hash."""
        return api_keys.by_hash(await self._turn(), hash_)

    async def keys(self, after: str, limit: int) -> list[Key]:
        """List API keys."""
        return api_keys.keys(await self._turn(), after, limit)

    # Replies

    async def begin_reply(self, reply: Reply, now: int) -> Reply | None:
        """Record that a request is in progress, or return its reply or the request in progress."""
        return idempotency.begin_reply(await self._turn(), reply, now)

    async def end_reply(self, reply: Reply) -> None:
        """Store the reply to a request."""
        idempotency.end_reply(await self._turn(), reply)

    async def drop_reply(self, scope: str, key: str) -> None:
        """Delete the record of a request in progress."""
        idempotency.delete_unfinished_reply(await self._turn(), scope, key)

    async def forget_replies(self, now: int, most: int) -> int:
        """Delete expired replies."""
        return idempotency.delete_expired_replies(await self._turn(), now, most)

    # Standings

    async def set_standing(self, standing: Standing, audit: AuditEntry | None = None) -> None:
        """Set the status of a workflow."""
        set_workflow_status(await self._turn(), standing, audit)

    async def standings(self, workflows: Sequence[str] | None = None) -> list[Standing]:
        """Read the status of workflows."""
        return workflow_statuses(await self._turn(), workflows)
