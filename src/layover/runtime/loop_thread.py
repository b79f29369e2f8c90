"""An event loop in its own thread, for synchronous programs: work is sent to it, and waited for here.

A caller that is interrupted while waiting gives up waiting and nothing else.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, TypeVar

from layover.errors import BadUse

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from layover.errors import LayoverError

T = TypeVar("T")

_CANCEL_ROUNDS = 3  # what is cancelled may begin something else to clean up


class LoopThread:
    """A loop that runs from `start` to `end`; `closed` is raised where it is needed and does not run."""

    def __init__(self, name: str, *, closed: LayoverError, ended: LayoverError, inside: str) -> None:
        self._name = name
        self._closed = closed
        self._ended = ended
        self._inside = inside
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # what is sent to the loop is sent before it ends

    @property
    def runs(self) -> bool:
        """Whether it has been started, and not ended."""
        return self._loop is not None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop itself."""
        if self._loop is None:
            raise _fresh(self._closed)
        return self._loop

    def start(self) -> None:
        """Begin to run."""
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run, args=(loop,), name=self._name, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop running; what is left is cancelled, and its callers get the error."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Have something done on the loop, and wait for it here."""
        doing = self._begin(work)
        try:
            return doing.result()
        except CancelledError as error:
            raise _fresh(self._ended) from error
        except BaseException:
            doing.cancel()  # an interrupted caller waits no longer
            raise

    def refuse_inside(self) -> None:
        """Refuse to wait on the loop itself, which would never end."""
        if threading.current_thread() is self._thread:
            raise BadUse(self._inside)

    def _begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            try:
                self.refuse_inside()
                loop = self.loop
            except Exception:
                work.close()  # it is never begun
                raise
            return asyncio.run_coroutine_threadsafe(work, loop)


def _fresh(error: LayoverError) -> LayoverError:
    """Return an error to raise: one that is raised twice would remember both places."""
    return type(error)(error.message)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run an event loop until it is stopped; what is left on it is cancelled."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        for _ in range(_CANCEL_ROUNDS):
            left = asyncio.all_tasks(loop)
            for task in left:  # their callers get the cancellation
                task.cancel()
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
