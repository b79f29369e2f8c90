"""Calls of sources and notifiers, with a timeout; the functions are the user's, and may do anything.

An async function that does not end in time is cancelled, another is abandoned on its thread. What either still returns
is ignored. As long as too many of them do not come to their end, no source is called.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

from layover.errors import LayoverError
from layover.nodes.errors import message_of
from layover.nodes.tracebacks import type_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.nodes.registry import Function
    from layover.runtime.calls.threads import Threads
    from layover.runtime.clock import Clock

MOST_AT_ONCE = 20
_MOST_LEFT = 20  # calls that were given up and have not ended


class SourceFailed(LayoverError):  # noqa: N818 - it says what the source has done
    """A source raised an exception, or did not return in time."""

    code = "source_failed"


class SourceCalls:
    """Calls sources, or what else the `noun` says."""

    def __init__(self, clock: Clock, threads: Threads, noun: str = "source") -> None:
        self._noun = noun
        self._clock = clock
        self._threads = threads
        self._left: set[asyncio.Task[object]] = set()
        self.out = 0  # that have not returned, and are waited for

    async def call(self, function: Function, make: Callable[[], object], timeout: int) -> object:  # noqa: ASYNC109 - in milliseconds, of the engine's clock
        """Return what a source returns; SourceFailed if it raises, or takes longer than that."""
        if len(self._left) >= _MOST_LEFT:
            raise SourceFailed(f"{len(self._left)} calls of {self._noun}s that were given up have not ended.")
        work = asyncio.get_running_loop().create_task(self._made(function, make), name=f"{self._noun} {function.name}")
        over = asyncio.Event()
        work.add_done_callback(lambda _: over.set())
        ringing = self._clock.call_at(self._clock.now() + timeout, over.set)
        self.out += 1
        try:
            await over.wait()
        finally:
            self.out -= 1
            ringing.cancel()
            if not work.done():
                self._leave(work)
        if not work.done():
            raise SourceFailed(f"The {self._noun} `{function.name}` did not return within {timeout / 1000:g} s.")
        if work.cancelled():
            raise SourceFailed(f"The {self._noun} `{function.name}` was cancelled from within.")
        return work.result()

    def _leave(self, work: asyncio.Task[object]) -> None:
        """Leave a call to itself: nothing waits for it any more."""
        self._left.add(work)
        work.add_done_callback(self._forget)
        work.cancel()

    def _forget(self, work: asyncio.Task[object]) -> None:
        self._left.discard(work)
        if not work.cancelled():
            work.exception()  # it is known that it failed

    async def _made(self, function: Function, make: Callable[[], object]) -> object:
        try:
            if not function.is_async:
                return await self._threads.run(make)
            returned = make()
            return await returned if inspect.isawaitable(returned) else returned
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            raise SourceFailed(f"{type_name(error)}: {message_of(error)}") from error

    def stop(self) -> None:
        """End idle threads."""
        self._threads.stop()
