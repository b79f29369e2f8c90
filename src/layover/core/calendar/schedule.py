"""Schedules: a cron line in a zone, a period, or a list of instants, within bounds.

`next_occurrence` takes an instant or the last occurrence. The last occurrence is the cursor of a schedule: with it, a
fixed time of a cron line does not happen twice on a day when zone data change.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from typing import Final

import msgspec

from layover.core.calendar.cron import ScheduleError, parse_cron
from layover.core.calendar.cron_times import next_cron
from layover.core.calendar.zones import zone_named

SHORTEST_PERIOD: Final = 1000
_MOST_INSTANTS: Final = 1000
_WINDOW: Final = 60_000
_RULES_OF: Final = 1_767_225_600_000  # 2026: what the clocks of a zone did before does not count


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """One of `cron`, `every` and `at`. All times are milliseconds; both bounds belong to the schedule."""

    cron: str | None = None
    every: int | None = None  # counted from 1970
    at: tuple[int, ...] = ()
    zone: str = "UTC"
    begin: int | None = None  # `from`
    end: int | None = None  # `until`
    times: int | None = None
    jitter: int = 0


class Occurrence(msgspec.Struct, frozen=True):
    """One instant of a schedule, and the time that a clock in its zone shows then; `wall` counts as instants do.

    A fixed time that falls into a jump of the clocks keeps its own wall time, which no clock shows.
    """

    at: int
    wall: int


def check_schedule(schedule: Schedule) -> None:
    """Raise ScheduleError for a schedule that cannot be read, or that can never happen; one that is over is right."""
    given = [name for name in ("cron", "every", "at") if getattr(schedule, name) not in (None, ())]
    if len(given) != 1:
        raise ScheduleError("schedule", "A schedule has exactly one of `cron`, `every` and `at`.")
    try:
        zone_named(schedule.zone)
    except ValueError as error:
        raise ScheduleError("zone", str(error)) from error
    if schedule.cron is not None:
        parse_cron(schedule.cron)
    if schedule.every is not None and schedule.every < SHORTEST_PERIOD:
        raise ScheduleError("every", "`every` is at least 1s.")
    if len(schedule.at) > _MOST_INSTANTS:
        raise ScheduleError("at", f"`at` has at most {_MOST_INSTANTS} instants.")
    if schedule.times is not None and schedule.times < 1:
        raise ScheduleError("times", "`times` is at least 1.")
    if schedule.jitter < 0:
        raise ScheduleError("jitter", "`jitter` is not negative.")
    if schedule.begin is not None and schedule.end is not None and schedule.end < schedule.begin:
        raise ScheduleError("until", "`until` lies before `from`.")
    if _unbounded(schedule, 0 if schedule.at else _RULES_OF, None) is None:
        raise ScheduleError(given[0], f"`{schedule.cron}` can never happen in `{schedule.zone}`.")
    if next_occurrence(schedule, 0) is None:
        raise ScheduleError(given[0], f"`{given[0]}` never happens between `from` and `until`.")


def next_occurrence(schedule: Schedule, after: int | Occurrence, done: int = 0) -> Occurrence | None:
    """Return the first occurrence after an instant or another occurrence, if `done` of `times` leave one."""
    if schedule.times is not None and done >= schedule.times:
        return None
    last, wall = (after, None) if isinstance(after, int) else (after.at, after.wall)
    if schedule.begin is not None:
        last = max(last, schedule.begin - 1)
    found = _unbounded(schedule, last, wall)
    if found is None or (schedule.end is not None and found.at > schedule.end):
        return None
    return found


def newest_occurrence(schedule: Schedule, after: int | Occurrence, until: int) -> Occurrence | None:
    """Return the last occurrence with `after < at <= until`, without a look at all that lie in between."""
    first = next_occurrence(schedule, after)
    if first is None or first.at > until:
        return None
    second = next_occurrence(schedule, first)
    if second is None or second.at > until:  # mostly there is one at most
        return first
    begin, wall = (after, None) if isinstance(after, int) else (after.at, after.wall)
    if schedule.end is not None:
        until = min(until, schedule.end)
    window = _WINDOW if schedule.every is None else schedule.every
    while begin < until:
        start = max(begin, until - window)
        found = next_occurrence(schedule, start if wall is None else Occurrence(start, wall))
        newest = None
        while found is not None and found.at <= until:
            newest = found
            found = next_occurrence(schedule, found)
        if newest is not None or start == begin:
            return newest
        window *= 4
    return None


def count_occurrences(schedule: Schedule, after: int | Occurrence, until: int, most: int = 10_000) -> int:
    """Return how many occurrences have `after < at <= until`; past `most` of a cron line it stops counting."""
    if schedule.end is not None:
        until = min(until, schedule.end)
    last = after if isinstance(after, int) else after.at
    if schedule.begin is not None:
        last = max(last, schedule.begin - 1)
    if schedule.every is not None:
        return max(0, until // schedule.every - last // schedule.every)
    count = 0
    found = next_occurrence(schedule, after)
    while found is not None and found.at <= until and count < most:
        count += 1
        found = next_occurrence(schedule, found)
    return count


def starts_at(schedule: Schedule, trigger: str, occurrence: Occurrence) -> int:
    """Return when an occurrence starts: its instant and a jitter that its trigger always gives it.

    A jitter never reaches the next occurrence, so occurrences start in their order.
    """
    if schedule.jitter <= 0:
        return occurrence.at
    following = _unbounded(schedule, occurrence.at, occurrence.wall)
    room = schedule.jitter if following is None else min(schedule.jitter, following.at - occurrence.at)
    digest = hashlib.sha256(f"{trigger}\0{occurrence.at}".encode(errors="surrogatepass")).digest()
    return occurrence.at + int.from_bytes(digest[:8], "big") % room


def _unbounded(schedule: Schedule, after: int, wall: int | None) -> Occurrence | None:
    if schedule.every is not None:
        return _same((after // schedule.every + 1) * schedule.every)
    if schedule.cron is not None:
        found = next_cron(parse_cron(schedule.cron), zone_named(schedule.zone), after, wall)
        return None if found is None else Occurrence(*found)
    instants = sorted(schedule.at)
    position = bisect_right(instants, after)
    return _same(instants[position]) if position < len(instants) else None


def _same(at: int) -> Occurrence:
    """Return an occurrence that no zone moves: its wall time does not count."""
    return Occurrence(at, at)
