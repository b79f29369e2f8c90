"""How long a caller waits until an execution has applied an operation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")


class WaitLimit(NamedTuple):
    """A number of seconds, or any; cut short when `over` is set."""

    seconds: float | None
    over: asyncio.Event | None = None

    async def wait_for(self, waiting: Coroutine[Any, Any, T]) -> T | None:
        """Return what is waited for, or None if it has not come; the waiting itself must not change anything."""
        loop = asyncio.get_running_loop()
        wanted = loop.create_task(waiting)
        tasks: list[asyncio.Task[Any]] = [wanted]
        if self.over is not None:
            tasks.append(loop.create_task(self.over.wait()))
        try:
            await asyncio.wait(tasks, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED)
            return wanted.result() if wanted.done() else None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
