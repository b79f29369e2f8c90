"""The clock of the simulated database, which can be set. As with every real store, its time never goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.testing.simulation.loop import SimulatedLoop

_BEGINNING = 1_800_000_000_000  # milliseconds UTC


class DatabaseClock:
    """Milliseconds UTC: virtual time, and the steps by which the clock was set forward."""

    def __init__(self, loop: SimulatedLoop, lease: float) -> None:
        self._loop = loop
        self._lease = lease  # in seconds
        self._steps = 0  # milliseconds by which the clock was set in all, forward or back
        self._offset = _BEGINNING  # milliseconds by which the time is ahead of virtual time
        self._leapt_at: float | None = None

    def __call__(self) -> int:
        """Return the time."""
        return self._offset + int(self._loop.time() * 1000)

    def at(self, moment: float) -> int:
        """Return the time at a moment, if the clock is not set until then."""
        return self._offset + int(moment * 1000)

    def step(self, milliseconds: int) -> None:
        """Set the clock forward or back."""
        self._steps += milliseconds
        if _BEGINNING + self._steps > self._offset:
            self._offset, self._leapt_at = _BEGINNING + self._steps, self._loop.time()

    def has_leapt(self) -> bool:
        """Return whether the clock was set forward less than a lease ago: no instance takes over a lease meanwhile."""
        return self._leapt_at is not None and self._loop.time() < self._leapt_at + self._lease
