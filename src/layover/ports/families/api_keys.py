"""API keys, by id and by hash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.access import Key
    from layover.ports.records import AuditRow


class ApiKeyStore(Protocol):
    """API keys, stored as hashes."""

    async def add(self, key: Key, audit: AuditRow) -> None:
        """Store a key."""

    async def replace(self, key_id: str, by: Key, ends_at: int, audit: AuditRow) -> bool:
        """Store a key that replaces another, which ends at a moment; return false if that has ended or is unknown."""

    async def end(self, key_id: str, now: int, audit: AuditRow) -> bool:
        """End a key; return false if it has ended or is unknown."""

    async def find_by_hash(self, hash_: bytes) -> Key | None:
        """Find a key by its hash, also one that has ended."""

    async def list_keys(self, after: str, limit: int) -> list[Key]:
        """List keys in the order of their ids, beginning after one; all come after ``""``."""
