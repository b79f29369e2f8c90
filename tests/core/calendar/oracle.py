"""Occurrences found by walking through the minutes, without any arithmetic on zones: slow, and plain to read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
_NAMES = {
    3: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
    4: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
}
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def matcher(line: str) -> Callable[[datetime], bool]:
    """Return whether a wall time matches a cron line; `L`, `W` and `#` are not known here."""
    texts = line.split()
    minutes, hours, days, months, weekdays = (_numbers(texts[position], position) for position in range(5))
    both = texts[2].startswith("*") or texts[4].startswith("*")

    def matches(wall: datetime) -> bool:
        if wall.minute not in minutes or wall.hour not in hours or wall.month not in months:
            return False
        day, weekday = wall.day in days, wall.isoweekday() in weekdays or wall.isoweekday() % 7 in weekdays
        return day and weekday if both else day or weekday

    return matches


def _numbers(text: str, position: int) -> set[int]:
    first, last = _RANGES[position]
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            low, high = first, last
        elif "-" in span:
            low, high = (_number(side, position) for side in span.split("-"))
        else:
            low = _number(span, position)
            high = last if step else low
        found.update(range(low, high + 1, int(step or 1)))
    return found


def _number(text: str, position: int) -> int:
    names = _NAMES.get(position, [])
    return names.index(text) + (position == 3) if text in names else int(text)


Dial = list[tuple[datetime, datetime]]  # minutes, and what the dial shows then


def minutes(zone: ZoneInfo, begin: datetime, end: datetime) -> Dial:
    """Return every minute in `begin <= minute < end` (UTC), and what the dial shows."""
    instants = [begin + position * MINUTE for position in range((end - begin) // MINUTE)]
    return [(at, at.astimezone(zone).replace(tzinfo=None, fold=0)) for at in instants]


def shown(matches: Callable[[datetime], bool], dial: Dial) -> list[datetime]:
    """Return every minute at which the dial shows a matching time."""
    return [at for at, wall in dial if matches(wall)]


def fixed(matches: Callable[[datetime], bool], dial: Dial) -> list[datetime]:
    """Return every minute at which the dial passes a matching time for the first time, be it by a jump over it."""
    found = []
    reached = dial[0][1] - MINUTE
    for at, wall in dial:
        passed = False
        while reached < wall:
            reached += MINUTE
            passed = passed or matches(reached)
        if passed:
            found.append(at)
    return found


def changes(zone: ZoneInfo, first: int = 2020, last: int = 2030) -> list[datetime]:
    """Return the hours in the years from `first` to `last` before which the offset was another one."""
    at, end = datetime(first, 1, 1, tzinfo=UTC), datetime(last + 1, 1, 1, tzinfo=UTC)
    found = []
    offset = at.astimezone(zone).utcoffset()
    while at < end:
        at += timedelta(hours=12)
        now = at.astimezone(zone).utcoffset()
        if now != offset:
            found.append(at)
            offset = now
    return found
