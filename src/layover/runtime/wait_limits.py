"""For how long somebody waits for what an execution does by itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")


class WaitLimit(NamedTuple):
    """So many seconds, and no longer once `over` is set."""

    seconds: float
    over: asyncio.Event

    async def keep(self, waiting: Coroutine[Any, Any, T]) -> T | None:
        """Return what is waited for, or None if it has not come; the waiting itself must not change anything."""
        loop = asyncio.get_running_loop()
        wanted, over = loop.create_task(waiting), loop.create_task(self.over.wait())
        try:
            await asyncio.wait({wanted, over}, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED)
            return wanted.result() if wanted.done() else None
        finally:
            wanted.cancel()
            over.cancel()
            await asyncio.gather(wanted, over, return_exceptions=True)
