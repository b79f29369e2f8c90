"""When a pause is to end by itself: the moment or the signal that a request names."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, cast

from layover.core.calendar import ScheduleError, next_cron, parse_cron, zone_named
from layover.core.moments import Moment
from layover.core.resume_waits import NO_END, PauseEnd, ResumeWait, filter_fault
from layover.core.signal_texts import fault_in
from layover.errors import InvalidInput

if TYPE_CHECKING:
    from layover.interface.requests import ResumeTime
    from layover.model.pause_ends import ResumeSignal


def end_of(when: ResumeTime | None, now: int) -> PauseEnd:
    """Return when a pause ends by itself, if it does; InvalidInput names the field that is wrong."""
    if when is None:
        return NO_END
    if sum(one is not None for one in (when.at, when.cron, when.on)) != 1:
        raise _refused("at", "Give one of a moment, a cron line and a signal.")
    if when.on is not None:
        if when.zone is not None:
            raise _refused("zone", "A zone belongs to a cron line.")
        return PauseEnd(on=_wait_for(when.on, now))
    return PauseEnd(at=_moment_of(when, now))


def _wait_for(on: ResumeSignal, now: int) -> ResumeWait:
    for field, text in (("name", on.signal), ("key", on.key)):
        fault = fault_in(field, text)
        if fault is not None:
            raise _refused("signal" if field == "name" else field, fault)
    fault = filter_fault(on.filter) if on.filter else None
    if fault is not None:
        raise _refused("filter", fault)
    return ResumeWait(signal=on.signal, key=on.key, filter=on.filter, since=now)


def _moment_of(when: ResumeTime, now: int) -> int:
    """Return the moment that is given, or the next time of a cron line after now."""
    if when.at is not None:
        if when.zone is not None:
            raise _refused("zone", "A zone belongs to a cron line; a moment has its own.")
        try:
            return Moment.read(when.at).milliseconds
        except (ValueError, OverflowError) as error:
            raise _refused("at", f"`{when.at[:64]}` is not a moment such as `2026-11-20T08:00:00Z`.") from error
    try:
        zone = zone_named(when.zone or "UTC")
    except ValueError as error:
        raise _refused("zone", str(error)) from error
    try:
        found = next_cron(parse_cron(when.cron or ""), zone, now)
    except ScheduleError as error:
        raise _refused("cron", str(error)) from error
    if found is None:
        raise _refused("cron", f"`{when.cron}` does not happen again in `{zone.key}`.")
    return found[0]


def _refused(field: str, message: str) -> InvalidInput:
    return InvalidInput(message, ((field, message),), code="invalid_body")


class PauseEndTexts(TypedDict, total=False):
    """What the audit log says of the end of a pause: only what was given."""

    at: str
    cron: str
    zone: str
    signal: str
    signal_key: str
    filter: str


def end_texts(when: ResumeTime | None) -> PauseEndTexts:
    """Return what is written of the end of a pause in the audit log."""
    if when is None:
        return {}
    said = {"at": when.at, "cron": when.cron, "zone": when.zone}
    if when.on is not None:
        said |= {"signal": when.on.signal, "signal_key": when.on.key, "filter": when.on.filter}
    return cast("PauseEndTexts", {name: value for name, value in said.items() if value})
