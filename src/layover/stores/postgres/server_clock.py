"""The time of the server, which all instances share, kept here by the monotonic clock.

Replies bring the time of the server along. It was read some time between request and reply: so a quick reply is more
exact, and a slow reply does not replace a quick one, unless that was long ago.

When the server's clock is set back, this time goes on from where it was, until that clock has caught up with it; and
an instance that joins later has at least the time of the others. When it is set forward, all follow at once.

Around each step instances have different times for a moment: by the time of one that knows more, the leases of one that
knows less may be over. So no lease is taken over until all instances have had the time to renew theirs.
"""

from __future__ import annotations

from layover.ports.clock import running_ns

_DRIFT = 1000  # two clocks may drift apart by one millisecond in so many
_STEP = 1_000  # milliseconds; a smaller difference is a better or worse estimate, and not a clock that was set


class ServerClock:
    """Estimates the time of the server in milliseconds UTC."""

    def __init__(self) -> None:
        self._ahead = 0  # of the clock of this machine, by this time
        self._server_ahead = 0  # the same by the server's clock, which may have been set back
        self._doubt: int | None = None
        self._heard_at = 0
        self.stepped_at: int | None = None  # when it was heard that the server's clock was set, or that others go ahead
        self.goes_ahead = False  # the clock was set back, and has not caught up: the server does not tell this time

    def now(self) -> int:
        """Return the time without asking the server."""
        return running() + self._ahead

    def least(self) -> int:
        """Return what the server's own clock shows at least, unless it was set back unknown to this instance."""
        return running() + self._server_ahead - self.error - _STEP

    @property
    def error(self) -> int:
        """By how much the time may be wrong, in either direction."""
        return self._known_within(running()) or 0

    def hear(self, asked_at: int, server_time: int) -> None:
        """Take over the time of a reply, if it is more exact than the present estimate."""
        heard_at = running()
        took = heard_at - asked_at
        self.goes_ahead = self.now() - server_time > took + _STEP
        doubt, known = (took + 1) // 2, self._known_within(heard_at)
        if known is not None and server_time < heard_at + self._server_ahead - known - took - _STEP:
            self.stepped_at, known = heard_at, None  # it was set back: whatever was known of it is of no use
        if known is not None and doubt > known:
            self._catch_up(server_time)  # it was at least that late
            return
        ahead = server_time - (asked_at + heard_at) // 2
        more = 0 if self._doubt is None else ahead - self._ahead
        # What is known better now may be a little less; less than that is a clock that was set back.
        unsure = doubt + _STEP + (known or 0)
        if more >= -unsure:
            self._ahead = ahead
        if more > unsure:
            self.stepped_at = heard_at
        self._server_ahead, self._doubt, self._heard_at = ahead, doubt, heard_at

    def _known_within(self, at: int) -> int | None:
        """Return the error of the estimate at a moment, if there is one: it grows with the age of the reply."""
        return None if self._doubt is None else self._doubt + (at - self._heard_at) // _DRIFT

    def _catch_up(self, server_time: int) -> None:
        ahead = server_time - running()
        self._server_ahead = max(self._server_ahead, ahead)
        if ahead - self._ahead > _STEP:
            self._ahead, self.stepped_at = ahead, running()

    def has_stepped(self, within: int) -> bool:
        """Return whether it was heard of a step, not longer ago than so many milliseconds."""
        return self.stepped_at is not None and running() - self.stepped_at < within

    def keep_up(self, time: int) -> None:
        """Go on from a time that another instance has seen.

        While the server's clock tells it, that is only news if by ours it is still far off.
        """
        more = time - self.now()
        if more > _STEP:
            self.stepped_at, self.goes_ahead = running(), True
        if more > 0 and self.goes_ahead:
            self._ahead += more


def running() -> int:
    """Return the milliseconds of the monotonic clock."""
    return running_ns() // 1_000_000
