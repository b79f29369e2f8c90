"""The time of the server, which all instances share, kept here by the monotonic clock.

Replies bring the time of the server along. It was read some time between request and reply: so a quick reply is more
exact, and a slow reply does not replace a quick one, unless that was long ago.

When the clock of the server is set back, this time goes on from where it was until the server has caught up; an
instance that starts later takes over the time of the others. When it is set forward, all instances follow at once: by
the time of the first to notice, the leases of all others have expired.
"""

from __future__ import annotations

from layover.ports.clock import running_ns

_DRIFT = 1000  # two clocks may drift apart by one millisecond in so many
_STEP = 1_000  # milliseconds; a smaller difference is a better or worse estimate, and not a clock that was set


class ServerClock:
    """Estimates the time of the server in milliseconds UTC."""

    def __init__(self) -> None:
        self._ahead = 0
        self._doubt: int | None = None
        self._heard_at = 0
        self.leapt_at: int | None = None  # when this time last jumped forward
        self.goes_ahead = False  # the clock of the server was set back and has not caught up with this time

    def now(self) -> int:
        """Return the time without asking the server."""
        return running() + self._ahead

    @property
    def error(self) -> int:
        """By how much the time may be wrong, in either direction."""
        return self._known_within(running()) or 0

    def hear(self, asked_at: int, server_time: int) -> None:
        """Take over the time of a reply, if it is more exact than the present estimate."""
        heard_at = running()
        self.goes_ahead = self.now() - server_time > heard_at - asked_at + _STEP
        doubt = (heard_at - asked_at + 1) // 2
        known = self._known_within(heard_at)
        if known is not None and doubt > known:
            self.keep_up(server_time)  # the time was at least that
            return
        ahead = server_time - (asked_at + heard_at) // 2
        more = 0 if known is None else ahead - self._ahead
        # A better estimate may be a little lower; a much lower one is a clock that was set back.
        unsure = doubt + _STEP + (known or 0)
        if more >= -unsure:
            self._ahead = ahead
        if more > unsure:
            self.leapt_at = heard_at
        self._doubt, self._heard_at = doubt, heard_at

    def _known_within(self, at: int) -> int | None:
        """Return the error of the estimate at a moment, if there is one: it grows with the age of the reply."""
        return None if self._doubt is None else self._doubt + (at - self._heard_at) // _DRIFT

    def has_leapt(self, within: int) -> bool:
        """Return whether this time jumped forward within the last so many milliseconds."""
        return self.leapt_at is not None and running() - self.leapt_at < within

    def keep_up(self, time: int) -> None:
        """Go on from the time of another instance, if it is far ahead of ours."""
        if time - self.now() > _STEP:
            self._ahead, self.leapt_at = time - running(), running()


def running() -> int:
    """Return the milliseconds of the monotonic clock."""
    return running_ns() // 1_000_000
