"""The time of the server, which all instances go by, told here by a clock that never jumps.

Replies bring the server's time along. It was that late somewhere between asking and hearing: so a reply is as good as
it was quick, and a slow one does not replace what a quick one has told, unless that was long ago.
"""

from __future__ import annotations

from layover.ports.clock import running_ns

_DRIFT = 1000  # two clocks may part by a millisecond in so many


class ServerClock:
    """Milliseconds UTC as the server has them, as far as they are known here."""

    def __init__(self) -> None:
        self._ahead = 0
        self._doubt: int | None = None
        self._heard_at = 0

    def now(self) -> int:
        """Return the time; the server is not asked for it."""
        return running() + self._ahead

    def hear(self, asked_at: int, server_time: int) -> None:
        """Take over the time that a reply tells, if it tells it better than what is known."""
        heard_at = running()
        doubt = (heard_at - asked_at + 1) // 2
        if self._doubt is None or doubt <= self._doubt + (heard_at - self._heard_at) // _DRIFT:
            self._ahead = server_time - (asked_at + heard_at) // 2
            self._doubt, self._heard_at = doubt, heard_at


def running() -> int:
    """Return the milliseconds of the clock of this machine that never jumps."""
    return running_ns() // 1_000_000
