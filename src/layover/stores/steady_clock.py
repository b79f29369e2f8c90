"""The time of this machine, which never goes back.

When the system clock is set forward, so is this time: whatever is due by the system clock is due. When it is set back,
this time goes on by the monotonic clock until the system clock has caught up. All processes of a machine share the
monotonic clock, so an instance that knows how far another is ahead of it has the same time.
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
        """Go at least as far ahead of the monotonic clock as another instance on this machine."""
        self.ahead = max(self.ahead, ahead)
