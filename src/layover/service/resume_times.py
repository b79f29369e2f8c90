"""When a pause is to end by itself: the moment that a request names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.calendar import ScheduleError, next_cron, parse_cron, zone_named
from layover.core.moments import Moment
from layover.errors import InvalidInput

if TYPE_CHECKING:
    from layover.interface.backend import ResumeTime


def moment_of(when: ResumeTime, now: int) -> int:
    """Return the moment that is given, or the next time of a cron line after now; InvalidInput names the field."""
    if (when.at is None) == (when.cron is None):
        raise _refused("at", "Give either a moment or a cron line.")
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
