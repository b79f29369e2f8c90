"""Tasks that make one call after another.

A task of its own for every call would cost more than most calls do. Each worker is a real task, so that timeouts, task
groups and anything else that needs the current task work in a function as anywhere. A function that never waits is done
within the same step of its worker, and so is the next; one that does wait keeps its worker, and another goes on.

A worker is clean when it begins a call: one that was cancelled, or whose function has left context variables behind,
makes no more calls.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

W = TypeVar("W")

_LONGEST_STRETCH = 0.01  # seconds

_log = logging.getLogger("layover.workers")


class Workers(Generic[W]):
    """A pool of tasks that grows with the number of calls that wait."""

    def __init__(self, do: Callable[[W, asyncio.Task[None]], Awaitable[None]]) -> None:
        self._do = do
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._ready: deque[W] = deque()
        self._idle: list[asyncio.Future[None]] = []
        self._awake = 0  # workers that look for work, or are about to
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, work: W) -> None:
        """Queue a piece of work."""
        self._ready.append(work)
        if self._awake == 0:
            self._wake()

    def stop(self) -> None:
        """End idle workers."""
        for idle in self._idle:
            idle.cancel()
        self._idle.clear()

    def _wake(self) -> None:
        self._awake += 1
        if self._idle:
            self._idle.pop().set_result(None)
        else:
            task = self._loop.create_task(self._serve(), context=self._context.copy())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("a worker is a task")
        while await self._work(task):
            idle: asyncio.Future[None] = self._loop.create_future()
            self._idle.append(idle)
            try:
                await idle
            except asyncio.CancelledError:
                return

    async def _work(self, task: asyncio.Task[None]) -> bool:
        """Do the queued work until there is none; return whether the worker is fit for more."""
        clean, until = contextvars.copy_context(), self._loop.time() + _LONGEST_STRETCH
        while self._ready:
            work = self._ready.popleft()
            if self._ready and self._awake == 1:
                self._wake()  # if this one waits, the next is not held up
            self._awake -= 1
            try:
                await self._do(work, task)
            except Exception:  # noqa: BLE001 - a bug of ours must not stop other calls
                _log.exception("call_failed work=%s", work)
            if task.cancelling() or contextvars.copy_context() != clean:
                if self._ready and self._awake == 0:
                    self._wake()
                return False
            self._awake += 1
            if self._loop.time() > until:
                await asyncio.sleep(0)  # let others have the loop
                until = self._loop.time() + _LONGEST_STRETCH
        self._awake -= 1
        return True
