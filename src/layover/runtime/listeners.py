"""Who waits for an execution to come to rest or to its end.

What happens here is told at once. What happens elsewhere is found by looking at the store again, each time a little
later.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.ports.records import Head
    from layover.ports.store import Store

_FIRST_LOOK = 0.05
_LONGEST_PAUSE = 1.0


class Listeners:
    """Tells those who wait that an execution has changed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting: dict[str, list[asyncio.Future[None]]] = {}

    def changed(self, execution_id: str) -> None:
        """Tell those who wait for an execution that something has happened to it."""
        for waiting in self.waiting.pop(execution_id, ()):
            if not waiting.done():
                waiting.set_result(None)

    async def until(self, execution_id: str, wanted: Callable[[Head], bool]) -> Head | None:
        """Return the head of an execution once it is as wanted; None if there is no such execution."""
        pause = _FIRST_LOOK
        while True:
            told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            waiting = self.waiting.setdefault(execution_id, [])
            waiting.append(told)
            try:
                row = await self._store.get(execution_id)
                if row is None or wanted(row.head):
                    return row.head if row is not None else None
                async with asyncio.timeout(pause):
                    await told
            except TimeoutError:
                pause = min(pause * 2, _LONGEST_PAUSE)
            finally:
                if told in waiting:
                    waiting.remove(told)
                if not waiting and self.waiting.get(execution_id) is waiting:
                    del self.waiting[execution_id]
