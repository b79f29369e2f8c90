"""The end of a pause, as callers get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.model.pause_ends import ResumeSignal

if TYPE_CHECKING:
    from layover.core.resume_waits import ResumeWait


def resume_signal(wait: ResumeWait | None) -> ResumeSignal | None:
    """Return the signal that ends a pause, if one does."""
    return None if wait is None else ResumeSignal(signal=wait.signal, key=wait.key, filter=wait.filter)
