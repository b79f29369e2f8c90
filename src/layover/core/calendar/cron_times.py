"""When a cron line happens in a zone.

A cron line names times of a wall clock. Where the clocks of a zone change, some times are shown twice and others never:

- A fixed time (`30 2 * * *`) happens once for each day that has it: the first time that the dial shows it, or, where
  the dial jumps over it, at the end of the jump. Its wall time must grow from one occurrence to the next, so zone data
  that move the last occurrence to another time of the day do not repeat that day.
- Any other line (`*/15 * * * *`) happens whenever the dial shows a matching time.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from layover.core.calendar.zones import first_change, first_shown, offset_at

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from layover.core.calendar.cron import Cron

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - inside here an instant is a time of UTC, and a wall time has no zone
_MILLISECOND: Final = timedelta(milliseconds=1)
_SECOND: Final = timedelta(seconds=1)
_LAST: Final = 253_370_000_000_000  # in the last year of the calendar, whose end no wall clock passes
_MARGIN: Final = timedelta(hours=26)  # no zone is, or moves, so far away from UTC
_FAR: Final = 2 * _MARGIN
_YEARS: Final = timedelta(days=60 * 365)  # a day that exists comes within 40 years


@lru_cache(maxsize=4096)  # a claim asks for the same few instants again and again
def next_cron(cron: Cron, zone: ZoneInfo, after: int, wall: int | None = None) -> tuple[int, int] | None:
    """Return the instant of the first occurrence later than `after`, and its wall time; None if there is none.

    `wall` is the wall time of the last occurrence, as milliseconds since the dial showed 1970.
    """
    if after >= _LAST:
        return None
    begin = _EPOCH + max(after, -1) // 1000 * 1000 * _MILLISECOND + _SECOND
    last = None if wall is None else _EPOCH + min(wall, _LAST) * _MILLISECOND
    try:
        found = _next_fixed(cron, zone, begin, last) if cron.fixed else _next_shown(cron, zone, begin)
    except OverflowError:  # the calendar ends with the year 9999
        return None
    if found is None:
        return None
    at, shown = found
    return (at - _EPOCH) // _MILLISECOND, (shown - _EPOCH) // _MILLISECOND


def _next_fixed(cron: Cron, zone: ZoneInfo, begin: datetime, last: datetime | None) -> tuple[datetime, datetime] | None:
    # Just after a jump, the times that the dial jumped over happen now, and stand before what it shows.
    dial = begin + offset_at(zone, begin)
    before = begin - _SECOND + offset_at(zone, begin - _SECOND)
    start = min(dial, before + _SECOND)
    if last is not None:
        start = max(start, last + _SECOND)
    found: tuple[datetime, datetime] | None = None
    for wall in cron.walls(start):
        at = first_shown(zone, wall)
        if found is not None and at != found[0]:
            break
        if at >= begin:
            found = at, wall
            if at + offset_at(zone, at) == wall:
                break
        # The dial jumps over this time: it happens together with all others up to the end of the jump.
    return found


def _next_shown(cron: Cron, zone: ZoneInfo, begin: datetime) -> tuple[datetime, datetime] | None:
    """Go from one change of the offset to the next, as long as no matching time lies before it."""
    at, end = begin, begin + _YEARS
    while at < end:
        offset = offset_at(zone, at)
        wall = next(cron.walls(at + offset), None)
        if wall is None:
            return None
        far = wall - at > _FAR
        upto = at + _MARGIN if far else wall - offset
        change = first_change(zone, at, upto) if upto > at else None
        if change is not None:
            at = change
        elif far:  # nothing matches in between, whatever the offset will be then
            at = max(upto, wall - _MARGIN)
        else:
            return upto, wall
    return None
