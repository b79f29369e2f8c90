"""One time for all instances: the database's, kept up to date between looks by the clock that never jumps."""

from __future__ import annotations

import time


class Clock:
    """Milliseconds UTC as the database has them; they never go back."""

    def __init__(self) -> None:
        self._offset = 0
        self._last = 0

    def set(self, database_time: int) -> None:
        """Take over the time that the database has now."""
        self._offset = database_time - _running()

    def now(self) -> int:
        """Return the time."""
        now = _running() + self._offset
        self._last = max(self._last, now)
        return self._last


def _running() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000 if _BOOTTIME else time.monotonic_ns() // 1_000_000


_BOOTTIME = hasattr(time, "CLOCK_BOOTTIME")  # goes on while the machine sleeps, as leases do
