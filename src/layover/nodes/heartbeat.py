"""Heartbeats of a call: a call that misses them for too long is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable


class Heartbeat:
    """One timer, which checks the last beat when it runs out; so a beat only stores a number.

    Time counts from the first beat on: a function that waits for a thread cannot send a heartbeat.
    """

    __slots__ = ("_length", "_loop", "_silent", "_timer", "beaten")

    def __init__(self, loop: asyncio.AbstractEventLoop, milliseconds: int, silent: Callable[[], None]) -> None:
        self._loop = loop
        self._length = milliseconds / 1000
        self._silent = silent
        self.beaten: float | None = None
        self._timer: asyncio.Handle = loop.call_later(self._length, self._look)

    def beat(self) -> None:
        """Record a heartbeat; from any thread."""
        self.beaten = self._loop.time()

    def stop(self) -> None:
        """Stop checking."""
        self._timer.cancel()

    def _look(self) -> None:
        if not self._look_later():
            # Callbacks that were held up together with this timer come first: one of them may be about to beat.
            self._timer = self._loop.call_soon(self._look_again)

    def _look_again(self) -> None:
        if not self._look_later():
            self._silent()

    def _look_later(self) -> bool:
        now, beaten = self._loop.time(), self.beaten
        due = (now if beaten is None else beaten) + self._length
        if now >= due:
            return False
        self._timer = self._loop.call_at(due, self._look)
        return True
