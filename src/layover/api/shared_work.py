"""Work that many ask for at once and that is done for all of them together.

Health checks and scrapes have no limit of their own, so what they cost must not grow with how many ask: else a few
hundred connections that ask for metrics hold up everything else, `/readyz` first. A caller who comes while the work is
being done gets the result of the next round, with all others who come meanwhile: no result is older than its request.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


class SharedWork(Generic[T]):
    """Does one round of its work at a time."""

    def __init__(self) -> None:
        self._running: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None

    async def result(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of a round that begins after this call; a caller who leaves does not end it."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_task(self._round(work, self._running))
            self._next.add_done_callback(_seen)
        return await asyncio.shield(self._next)

    async def _round(self, work: Callable[[], Awaitable[T]], before: asyncio.Task[T] | None) -> T:
        if before is not None and not before.done():
            await asyncio.wait({before})
        self._running, self._next = self._next, None
        return await work()


def _seen(done: asyncio.Task[T]) -> None:
    """Take note of an error, which every caller gets, also if all of them have left."""
    if not done.cancelled():
        done.exception()
