"""Threads that run in lockstep with the event loop: one of them runs at a time, so all of them are one after the other.

A function that is not async has a thread, as it has in earnest. The event loop stands still while the function runs,
until it returns or waits for something that is done on the event loop; it goes on when that is done. A thread of a life
that has died is never gone on with: it is ended when the run is over.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from layover.testing.simulation.lives import Killed

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

T = TypeVar("T")


class Lockstep:
    """One thread; `ended` is told when it has come to its end."""

    def __init__(self, work: Callable[[], None], ended: Callable[[], None]) -> None:
        self._work = work
        self._ended = ended
        self._turn, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._is_over = self._killed = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Have the thread run until it ends or waits; called on the thread of the event loop."""
        self._thread.start()
        self.go_on()

    def go_on(self) -> None:
        """Have the thread run on, as far as it goes; called on the thread of the event loop."""
        self._turn.release()
        self._back.acquire()
        if self._is_over:
            self._thread.join()
            self._ended()

    def wait(self, future: Future[T], wake: Callable[[Callable[[], None]], object]) -> T:
        """Wait until something is done; called on the thread itself. `wake` has it run on when its turn has come."""
        if self._killed:
            raise Killed
        future.add_done_callback(lambda _: wake(self.go_on))
        self._back.release()
        self._turn.acquire()
        if self._killed:
            raise Killed
        return future.result(0)

    def kill(self) -> None:
        """End the thread, wherever it waits: its life is over."""
        self._killed = True
        while not self._is_over:
            self._turn.release()
            self._back.acquire()
        self._thread.join()

    def _run(self) -> None:
        _here.thread = self
        self._turn.acquire()
        try:
            self._work()
        finally:
            self._is_over = True
            self._back.release()


class _Here(threading.local):
    thread: Lockstep | None = None


_here = _Here()


def here() -> Lockstep:
    """Return the thread that this runs on."""
    if _here.thread is None:
        raise AssertionError("this is the thread of the event loop")
    return _here.thread
