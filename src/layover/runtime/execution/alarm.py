"""The timer of one active execution: it rings once, at the moment it was last set to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.light_structs import LightStruct

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from layover.runtime.clock import Clock


class Alarm(LightStruct):
    """Calls back at a moment; setting the same moment again costs nothing."""

    _ring: Callable[[], None]
    _clock: Clock
    _at: int | None = None
    _handle: asyncio.Handle | None = None

    def set(self, at: int | None) -> None:
        """Ring at a moment (in milliseconds), or not at all."""
        if at == self._at:
            return
        self.clear()
        if at is not None:
            self._at = at
            self._handle = self._clock.call_at(at, self._rung)

    def clear(self) -> None:
        """Do not ring."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = self._at = None

    def end(self) -> None:
        """Never ring again, and drop the callback so that no reference cycle remains."""
        self.clear()
        self._ring = _nobody

    def _rung(self) -> None:
        self._handle = self._at = None
        self._ring()


def _nobody() -> None:
    pass
