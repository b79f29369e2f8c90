"""Named locks, each with an expiry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.stores.memory.session import MemorySession


class MemoryLocks:
    """Named locks in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def acquire(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take or renew a named lock."""
        locks = (await self._session.turn()).locks
        held_by, held_until = locks.get(name, (holder, until))
        if held_by != holder and held_until > now:
            return False
        locks[name] = (holder, until)
        return True

    async def release(self, name: str, holder: str) -> None:
        """Release a named lock."""
        locks = (await self._session.turn()).locks
        if name in locks and locks[name][0] == holder:
            del locks[name]
