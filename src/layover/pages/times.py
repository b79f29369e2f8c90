"""Times as a page writes them: absolute and with their zone, since it may be read by anybody anywhere."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from layover.pages.html import element

if TYPE_CHECKING:
    from datetime import tzinfo

    from layover.core.moments import Moment
    from layover.pages.html import Html

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_SLACK: Final = 59  # seconds, so that 48 hours are not 47 as soon as they have begun
_SOON: Final = 2  # as many of a unit read better in the next smaller one


def time_of(at: Moment, zone: str = "", *, seconds: bool = False) -> Html:
    """Return a time in a zone, which is written behind it; UTC if there is none, or it is unknown."""
    known, name = _zone(zone)
    try:
        there: datetime = at.astimezone(known)
    except (OverflowError, ValueError):
        there, name = at, "UTC"
    text = (
        f"{_DAYS[there.weekday()]} {there.day} {_MONTHS[there.month - 1]} {there.year}, "
        f"{there.hour:02}:{there.minute:02}{f':{there.second:02}' if seconds else ''} {name}"
    )
    return element("time", text, datetime=str(at))


def _zone(name: str) -> tuple[tzinfo, str]:
    if name:
        try:
            return ZoneInfo(name), f"({name})"
        except (ValueError, OSError, KeyError):
            pass
    return UTC, "UTC"


def length_between(earlier: Moment, later: Moment) -> str:
    """Return how long it is between two times, in words."""
    seconds = max(0, int((later - earlier).total_seconds()) + _SLACK)
    for length, unit in _UNITS:
        count = seconds // length
        if count >= _SOON or (count and unit == "minute"):
            return f"{count:,} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"
