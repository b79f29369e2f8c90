"""Threads for functions that are not async.

The pool of the standard library waits for its threads when the process ends, so one function that hangs would keep the
process from ending. These threads do not: what they are at is abandoned, and whatever it does is fenced by the log.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class _Work(NamedTuple):
    function: Callable[[], object]
    done: asyncio.Future[object]


class Threads:
    """At most so many threads, each made when it is first needed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._waiting: SimpleQueue[_Work | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._made = 0

    def run(self, function: Callable[[], object]) -> asyncio.Future[object]:
        """Return what a function gives; whoever gives up waiting leaves it to itself."""
        done: asyncio.Future[object] = self._loop.create_future()
        self._waiting.put(_Work(function, done))
        if not self._idle.acquire(blocking=False) and self._made < self._most:
            self._made += 1
            threading.Thread(target=self._serve, name=f"layover-call-{self._made}", daemon=True).start()
        return done

    def stop(self) -> None:
        """Let threads end that have nothing to do."""
        for _ in range(self._made):
            self._waiting.put(None)

    def _serve(self) -> None:
        while (work := self._waiting.get()) is not None:
            if not work.done.cancelled():
                self._do(work)
            self._idle.release()

    def _do(self, work: _Work) -> None:
        try:
            told = partial(_succeed, work.done, work.function())
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever called
            told = partial(_fail, work.done, error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(told)


def _succeed(done: asyncio.Future[object], result: object) -> None:
    if not done.done():
        done.set_result(result)


def _fail(done: asyncio.Future[object], error: BaseException) -> None:
    if not done.done():
        # A future cannot hold the error that ends iterations.
        is_end = isinstance(error, StopIteration)
        done.set_exception(RuntimeError("the function raised StopIteration") if is_end else error)
