"""Cron lines in every zone whose clocks change between 2020 and 2030, against a walk through the minutes.

The normal run looks at every eighth of these zones, at one of its changes; `make torture` at all changes of all zones.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from layover.core.calendar import next_cron, parse_cron, zone_named

from . import oracle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

ALL = bool(os.environ.get("LAYOVER_TORTURE"))
SAMPLE = 8
LINES: tuple[str, ...] = (
    "30 2 * * *",
    "0 0 * * *",
    "0,30 1,2,3 * * *",
    "15 0-4 * * *",
    "5-50/15 */2 * * *",
    "*/20 * * * *",
    "10 * * * *",
    "* 1-3 * * *",
    "30 2 1-15 * SUN",
    "45 23 * * 6,7",
    "*/30 2 */2 3,4,9,10,11 *",
)
AROUND = timedelta(hours=40)
WALK = timedelta(hours=30)  # before the window, so that the walk knows what the dial has shown


def _zones() -> Iterator[str]:
    """Yield the names of zones, one for each file: many names share one."""
    seen: set[bytes] = set()
    folder = resources.files("tzdata")
    for name in sorted(folder.joinpath("zones").read_text(encoding="utf-8").split()):
        data = folder.joinpath("zoneinfo", *name.split("/")).read_bytes()
        if data not in seen:
            seen.add(data)
            yield name


@pytest.mark.parametrize("name", list(_zones())[:: 1 if ALL else SAMPLE])
def test_occurrences_are_those_that_a_walk_through_the_minutes_meets(name: str) -> None:
    zone = zone_named(name)
    if ALL:
        changes, lines = oracle.changes(zone), LINES
    else:
        year = 2020 + len(name) % 11
        changes, lines = oracle.changes(zone, year, year)[:1], LINES[len(name) % 3 :: 3]
    for change in changes:
        dial = oracle.minutes(zone, change - AROUND - WALK, change + AROUND + WALK)
        for line in lines:
            _compare(line, zone, change, dial)


def _compare(line: str, zone: ZoneInfo, change: datetime, dial: oracle.Dial) -> None:
    cron = parse_cron(line)
    expected = (oracle.fixed if cron.fixed else oracle.shown)(oracle.matcher(line), dial)
    for minutes in range(0, int(2 * AROUND / oracle.MINUTE), 37 if ALL else 29):
        after = change - AROUND + minutes * oracle.MINUTE + timedelta(seconds=minutes % 3 * 20)
        found = next_cron(cron, zone, _ms(after))
        position = bisect_right(expected, after)
        if position == len(expected):
            assert found is None or found[0] > _ms(dial[-1][0]), (line, zone.key, after)
        else:
            assert found is not None
            assert _iso(found[0]) == expected[position].isoformat(), (line, zone.key, after)


@pytest.mark.skipif(not ALL, reason="looks at every half day of every zone")
def test_no_zone_needs_a_shorter_step_than_the_calendar_makes() -> None:
    for name in _zones():
        found = oracle.changes(zone_named(name), 1970, 2037)
        assert all(later - earlier > timedelta(days=2) for earlier, later in pairwise(found)), name


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat()
