"""Calls that still have time left although their timeout in the log has passed.

A timeout limits how long a function runs. The log has the moment at which it ends if the function was entered at the
moment of the decision. But the decision had to become durable first, the call may have waited for a thread, and the
wall clock may have been set forward. So the time is measured here by the monotonic clock, from the moment the function
was entered. Deadlines and delays are moments: for them the wall clock counts.

After the whole process stood still, timers fire before results that arrived meanwhile are read. So a call whose time is
up is given up only if it has not returned after a few more turns of the event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.runtime.calls.node_runner import CallOut


class CallsWithTimeLeft:
    """The calls of one execution that have time left, as a container of node names."""

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
        # If the whole process stood still, a result may have come in time and be on its way: it gets some turns first.
        out.turns -= 1
        return out.turns >= 0

    def look_again(self, now: int, longest: int) -> int | None:
        """Return when the next call that is late by the log runs out of time; None if none is late."""
        left = [self._left(out) for out in self._calls.values() if (out.call.timeout_at or now + 1) <= now]
        return now + max(0, min(longest, *left)) if left else None

    def _left(self, out: CallOut) -> int:
        length, begun_at = (out.call.timeout_at or 0) - out.decided_at, out.begun_at
        return length if begun_at is None else begun_at + length - self._running()
