"""Threads for functions that are not async, and how many calls may have one.

A call takes its thread before it starts, so a function never waits in a queue after the log says that it runs. A thread
cannot be stopped: if its call is given up while the function is still inside, the thread is abandoned until the
function returns. Up to a bound another thread replaces it; beyond that, fewer threads are left for all calls.

The pool of the standard library waits for its threads when the process ends, so one function that hangs would keep the
process from ending. These threads do not: the log fences whatever they still do.

All counts belong to the event loop; threads only take work and hand back results.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

T = TypeVar("T")


class Work:
    """A function to call, and the future of its result."""

    __slots__ = ("abandoned", "done", "ended", "function")

    def __init__(self, function: Callable[[], object], done: asyncio.Future[object]) -> None:
        self.function = function
        self.done = done
        self.ended = False
        self.abandoned = False


class Threads:
    """A bounded number of threads, each made when first needed; `on_return` is called when an abandoned one returns."""

    def __init__(self, most: int, replaced: int, on_return: Callable[[], None]) -> None:
        self.most = most
        self.taken = 0  # by calls that run, or are about to
        self.abandoned = 0  # held by functions whose calls were given up
        self._replaced = replaced
        self._on_return = on_return
        self._loop = asyncio.get_running_loop()
        self._waiting: SimpleQueue[Work | None] = SimpleQueue()
        self._alive = 0
        self._at_work = 0

    @property
    def lacking(self) -> int:
        """The number of threads that are missing: abandoned, and not replaced."""
        return min(self.most, max(0, self.abandoned - self._replaced))

    @property
    def free(self) -> int:
        """The number of further calls that can have a thread."""
        return self.most - self.lacking - self.taken

    def shortage(self) -> str:
        """Return why no thread is free."""
        if self.lacking:
            return f"{self.lacking} of {self.most} threads are held by calls that were given up"
        return f"all {self.most} are taken"

    async def run(self, function: Callable[[], object]) -> object:
        """Return the result of a function; if the caller gives up waiting, the function is abandoned."""
        work = Work(function, self._loop.create_future())
        self._hand_over(work)
        self._at_work += 1
        try:
            return await work.done
        finally:
            if not work.ended:
                work.abandoned = True
                self.abandoned += 1

    def until_done(self, future: Future[T]) -> T:
        """Wait on a thread for a future of the event loop."""
        return future.result()

    def _hand_over(self, work: Work) -> None:
        """Give work to an idle thread, or to a new one."""
        if self._at_work == self._alive:
            threading.Thread(target=self._serve, name=f"layover-call-{self._alive + 1}", daemon=True).start()
            self._alive += 1
        self._waiting.put(work)

    def stop(self) -> None:
        """End idle threads."""
        for _ in range(self._alive):
            self._waiting.put(None)

    def _serve(self) -> None:
        while (work := self._waiting.get()) is not None:
            self._do(work)
            del work  # an idle thread holds on to nothing

    def _do(self, work: Work) -> None:
        tell = done(work)
        with suppress(RuntimeError):  # the loop is closed: there is no waiter any more
            self._loop.call_soon_threadsafe(self._ended, work, tell)

    def _ended(self, work: Work, tell: Callable[[], None]) -> None:
        work.ended = True
        self._at_work -= 1
        if self._alive > self.most:  # it replaced an abandoned one, or was abandoned itself
            self._alive -= 1
            self._waiting.put(None)
        if work.abandoned:
            self.abandoned -= 1
            self._on_return()
        else:
            tell()


def done(work: Work) -> Callable[[], None]:
    """Do some work; return a function that passes the result to its future."""
    try:
        return partial(_succeed, work.done, work.function())
    except BaseException as error:  # noqa: BLE001 - it belongs to the caller
        return partial(_fail, work.done, error)


def _succeed(done: asyncio.Future[object], result: object) -> None:
    if not done.done():
        done.set_result(result)


def _fail(done: asyncio.Future[object], error: BaseException) -> None:
    if not done.done():
        # A future cannot hold the error that ends iterations, and the one that closes coroutines would end the worker.
        if isinstance(error, (StopIteration, GeneratorExit)):
            ended, error = error, RuntimeError(f"the function raised {type(error).__name__}")
            error.__cause__ = ended
        done.set_exception(error)
