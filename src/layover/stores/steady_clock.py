"""The time of this machine, which goes on whatever happens to its calendar.

When the calendar is set forward, so is this time: what is due by the calendar is due. When it is set back, this time
goes on from where it was, by the clock that never jumps, until the calendar has caught up with it. All processes of a
machine share that clock, so those that know how far the time of the others is ahead of it have the same time.
"""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING

from layover.ports.clock import running_ns

if TYPE_CHECKING:
    from collections.abc import Callable


def _calendar() -> int:
    return int(time() * 1000)


def _running() -> int:
    return running_ns() // 1_000_000


class SteadyClock:
    """Milliseconds UTC that never go back."""

    def __init__(self, calendar: Callable[[], int] = _calendar, running: Callable[[], int] = _running) -> None:
        self._calendar = calendar
        self.running = running
        self.ahead = calendar() - running()

    def __call__(self) -> int:
        """Return the time."""
        running = self.running()
        self.ahead = max(self.ahead, self._calendar() - running)
        return running + self.ahead

    def keep_up(self, ahead: int) -> None:
        """Have at least the time of somebody else on this machine, who is so far ahead of the clock of all."""
        self.ahead = max(self.ahead, ahead)
