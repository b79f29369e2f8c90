"""Named locks for what only one instance does at a time, each held until a moment."""

from __future__ import annotations

from typing import Protocol


class LockStore(Protocol):
    """Locks by name."""

    async def acquire(self, name: str, holder: str, now: int, until: int) -> bool:
        """Acquire or renew a lock; return false if another instance holds it."""

    async def release(self, name: str, holder: str) -> None:
        """Release a lock."""
