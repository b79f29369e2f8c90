"""The part of the store that is about who uses it from outside: keys, what they did and were told, and standings."""

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
    """Rows beside the run plane."""

    async def _turn(self) -> MemoryDatabase:
        raise NotImplementedError

    # Audit

    async def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """List what was done."""
        return audit.list_audit(await self._turn(), wanted)

    async def forget_audit(self, before: int, most: int) -> int:
        """Delete old entries."""
        return audit.delete_old_audit(await self._turn(), before, most)

    # Keys

    async def add_key(self, key: Key, audit: AuditEntry) -> None:
        """Keep a key."""
        api_keys.add(await self._turn(), key, audit)

    async def replace_key(self, key_id: str, by: Key, ends_at: int, audit: AuditEntry) -> bool:
        """Keep a key in the place of another."""
        return api_keys.replace(await self._turn(), key_id, by, ends_at, audit)

    async def end_key(self, key_id: str, now: int, audit: AuditEntry) -> bool:
        """End a key."""
        return api_keys.end(await self._turn(), key_id, now, audit)

    async def key(self, hash_: bytes) -> Key | None:
        """Find a key by its hash."""
        return api_keys.by_hash(await self._turn(), hash_)

    async def keys(self, after: str, limit: int) -> list[Key]:
        """List keys."""
        return api_keys.keys(await self._turn(), after, limit)

    # Replies

    async def begin_reply(self, reply: Reply, now: int) -> Reply | None:
        """Note that a request is being worked at, or find what is known of it."""
        return idempotency.begin_reply(await self._turn(), reply, now)

    async def end_reply(self, reply: Reply) -> None:
        """Keep what was answered."""
        idempotency.end_reply(await self._turn(), reply)

    async def drop_reply(self, scope: str, key: str) -> None:
        """Forget that a request was worked at."""
        idempotency.delete_unfinished_reply(await self._turn(), scope, key)

    async def forget_replies(self, now: int, most: int) -> int:
        """Delete what is no longer kept."""
        return idempotency.delete_expired_replies(await self._turn(), now, most)

    # Standings

    async def set_standing(self, standing: Standing, audit: AuditEntry | None = None) -> None:
        """Note how a workflow stands."""
        set_workflow_status(await self._turn(), standing, audit)

    async def standings(self, workflows: Sequence[str] | None = None) -> list[Standing]:
        """Read how workflows stand."""
        return workflow_statuses(await self._turn(), workflows)
