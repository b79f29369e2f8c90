"""The time of the server, which all instances go by, told here by a clock that never jumps.

Replies bring the server's time along. It was that late somewhere between asking and hearing: so a reply is as good as
it was quick, and a slow one does not replace what a quick one has told, unless that was long ago.

When the server's clock is set back, this time goes on from where it was, until that clock has caught up with it; and
whoever comes later has at least the time that the others have. When it is set forward, everybody follows at once: by
the time of whoever was first, the leases of all others are over.
"""

from __future__ import annotations

from layover.ports.clock import running_ns

_DRIFT = 1000  # two clocks may part by a millisecond in so many
_STEP = 1_000  # milliseconds: what is less is no clock that was set, but one that is known better, or less well


class ServerClock:
    """Milliseconds UTC as the server has them, as far as they are known here."""

    def __init__(self) -> None:
        self._ahead = 0
        self._doubt: int | None = None
        self._heard_at = 0
        self.leapt_at: int | None = None  # when this time last went forward by more than had passed
        self.goes_ahead = False  # the clock was set back, and has not caught up: the server does not tell this time

    def now(self) -> int:
        """Return the time; the server is not asked for it."""
        return running() + self._ahead

    @property
    def error(self) -> int:
        """By how much the time may be wrong, in either direction."""
        return self._known_within(running()) or 0

    def hear(self, asked_at: int, server_time: int) -> None:
        """Take over the time that a reply tells, if it tells it better than what is known."""
        heard_at = running()
        self.goes_ahead = self.now() - server_time > heard_at - asked_at + _STEP
        doubt = (heard_at - asked_at + 1) // 2
        known = self._known_within(heard_at)
        if known is not None and doubt > known:
            self.keep_up(server_time)  # it was at least that late
            return
        ahead = server_time - (asked_at + heard_at) // 2
        more = 0 if known is None else ahead - self._ahead
        # What is known better now may be a little less; less than that is a clock that was set back.
        unsure = doubt + _STEP + (known or 0)
        if more >= -unsure:
            self._ahead = ahead
        if more > unsure:
            self.leapt_at = heard_at
        self._doubt, self._heard_at = doubt, heard_at

    def _known_within(self, at: int) -> int | None:
        """Return how well the time is known at a moment, if it is: the longer ago a reply was, the less it tells."""
        return None if self._doubt is None else self._doubt + (at - self._heard_at) // _DRIFT

    def has_leapt(self, within: int) -> bool:
        """Return whether this time went forward, not longer ago than so many milliseconds."""
        return self.leapt_at is not None and running() - self.leapt_at < within

    def keep_up(self, time: int) -> None:
        """Go on from a time that somebody else has had, if by ours it is still far off."""
        if time - self.now() > _STEP:
            self._ahead, self.leapt_at = time - running(), running()


def running() -> int:
    """Return the milliseconds of the clock of this machine that never jumps."""
    return running_ns() // 1_000_000
