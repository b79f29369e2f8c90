"""When a pause is to end by itself, as bodies say it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.interface.requests import ResumeTime
from layover.model.pause_ends import ResumeSignal

if TYPE_CHECKING:
    from layover.model.pause_ends import ResumeSignalBody


def resume_time_of(
    at: str | None, cron: str | None, zone: str | None, on: ResumeSignalBody | None
) -> ResumeTime | None:
    """Return when a pause is to end by itself, if the body says so."""
    if at is None and cron is None and zone is None and on is None:
        return None
    signal = None if on is None else ResumeSignal(signal=on.signal, key=on.key, filter=on.filter)
    return ResumeTime(at=at, cron=cron, zone=zone, on=signal)
