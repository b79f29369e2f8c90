"""The calls of one execution that are running, or about to: their gate, and the time that they have left.

While the gate is shut no function is entered, because a caller may have been told of a pause. An append that shuts it
waits a moment for the calls that are about to be entered.

A timeout limits how long a function runs. The log has the moment at which it ends if the function was entered at the
moment of the decision. But the decision had to become durable first, the call may have waited for a thread, and the
wall clock may have been set forward. So the time is measured here by the monotonic clock, from the moment the function
was entered. Deadlines and delays are moments: for them the wall clock counts.

After the whole process stood still, timers fire before results that arrived meanwhile are read. So a call whose time is
up is given up only if it has not returned after a few more turns of the event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine.node_transitions import is_within
from layover.runtime.calls.call_out import CallOut

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

_LONGEST_ENTRY: Final = 0.2  # seconds that an append waits for calls that are about to be entered


class CallsOut(dict[str, CallOut]):
    """The calls, by node."""

    __slots__ = ("_giving_up", "_holds", "_loop", "_running", "is_shut", "on_entered")

    def __init__(self, loop: asyncio.AbstractEventLoop, running: Callable[[], int], *, is_shut: bool) -> None:
        super().__init__()
        self._loop = loop
        self._running = running
        self._holds = False  # calls wait for the gate to open
        self.on_entered: Callable[[], None] | None = None  # the gate is shut when all functions are entered
        self._giving_up: asyncio.TimerHandle | None = None
        self.is_shut = is_shut

    def stop(self, name: str) -> None:
        """Ask one call to stop. It has time to clean up; its result is ignored."""
        out = self.pop(name, None)
        if out is not None:
            out.stop()
            self.look_again()

    def stop_within(self, path: str) -> None:
        """Ask the calls in a scope to stop; all of them, if the path is empty."""
        for name in [name for name in self if not path or is_within(name, path)]:
            self.stop(name)

    # The gate

    def shut(self, then: Callable[[], None]) -> None:
        """Shut the gate when no call is about to be entered, or after a moment, and call back."""
        self.on_entered = then  # before the look: a thread that enters its function meanwhile sees it
        if any(out.begun_at is None for out in self.values()):
            self._giving_up = self._loop.call_later(_LONGEST_ENTRY, self._shut)
        else:
            self._shut()

    def entered(self) -> None:
        """Look again, now that a function was entered; on any thread."""
        self._loop.call_soon_threadsafe(self.look_again)

    def look_again(self) -> None:
        """Shut the gate if that waited for calls which have been entered by now, or are gone."""
        if self.on_entered is not None and not any(out.begun_at is None for out in self.values()):
            self._shut()

    def _shut(self) -> None:
        then = self.on_entered
        self.give_up_shutting()
        self.is_shut = True
        if then is not None:
            then()

    def give_up_shutting(self) -> None:
        """Report no results: the execution is not driven here any more."""
        if self._giving_up is not None:
            self._giving_up.cancel()
        self._giving_up = self.on_entered = None

    def set_gate(self, *, is_shut: bool) -> None:
        """Open or shut the gate as the durable state says, and wake the calls that wait for it."""
        self.is_shut = is_shut
        if self._holds and not is_shut:
            self._holds = False
            for out in self.values():
                if out.held is not None and not out.held.done():
                    out.held.set_result(None)

    def hold(self, out: CallOut) -> asyncio.Future[None]:
        """Return a future that is done when the gate opens, or the call is stopped."""
        self._holds = True
        out.held = self._loop.create_future()
        return out.held

    def are_held(self) -> bool:
        """Return whether there are calls, and all of them wait for the gate to open."""
        return bool(self) and all(out.held is not None for out in self.values())

    # Time

    def with_time_left(self) -> list[str]:
        """Return the nodes whose calls do not time out yet; on any thread."""
        return [
            out.call.node
            for out in list(self.values())
            if out.call.timeout_at is not None and (out.turns > 0 or self._left(out) > 0)
        ]

    def count_turn(self) -> None:
        """Count a turn of the event loop in which a result may have come in time that was on its way."""
        for out in self.values():
            if out.call.timeout_at is not None and self._left(out) <= 0:
                out.turns -= 1

    def next_timeout(self, now: int, longest: int) -> int | None:
        """Return when the next call that is late by the log runs out of time; None if none is late."""
        left = [self._left(out) for out in self.values() if (out.call.timeout_at or now + 1) <= now]
        return now + max(0, min(longest, *left)) if left else None

    def _left(self, out: CallOut) -> int:
        length, begun_at = (out.call.timeout_at or 0) - out.decided_at, out.begun_at
        return length if begun_at is None else begun_at + length - self._running()
