"""Calls that have some of their time left, although by the log they have none.

A timeout is a length of time in which a function may run. The log tells when that would end if the function had been
entered at the moment of the decision. But first the decision had to become durable, and a thread had to come to it; and
the calendar may have been set forward since then. So it is measured here: from the entering on, by the clock that never
jumps. Deadlines and delays are moments: for them it counts what the calendar says.

When everything stood still, timers are looked at before results that came meanwhile: so a call whose time is up is only
given up when others have had a few turns of the event loop, and it has still not returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.runtime.calls.node_runner import CallOut


class CallsWithTimeLeft:
    """The calls of one execution that have time left; it is asked for those whose time is up by the log."""

    __slots__ = ("_calls", "_running")

    def __init__(self, calls: Mapping[str, CallOut], running: Callable[[], int]) -> None:
        self._calls = calls
        self._running = running

    def __contains__(self, name: object) -> bool:
        out = self._calls.get(name) if isinstance(name, str) else None
        if out is None or out.call.timeout_at is None:
            return False
        if self._left(out) > 0:
            return True
        out.turns -= 1
        return out.turns >= 0

    def look_again(self, now: int, longest: int) -> int | None:
        """Return when the next of those that are late by the log has no time left; None if none is late."""
        left = [self._left(out) for out in self._calls.values() if (out.call.timeout_at or now + 1) <= now]
        return now + max(0, min(longest, *left)) if left else None

    def _left(self, out: CallOut) -> int:
        length, begun_at = (out.call.timeout_at or 0) - out.decided_at, out.begun_at
        return length if begun_at is None else begun_at + length - self._running()
