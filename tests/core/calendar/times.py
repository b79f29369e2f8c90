"""Instants as text, for tests that read like a table."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from layover.core.calendar import Schedule, next_cron, next_occurrence, parse_cron, zone_named
from layover.core.moments import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator


def ms(text: str) -> int:
    """Return the milliseconds of a text such as `2026-03-29T01:00Z`."""
    return Moment.read(text).milliseconds


def text(at: int) -> str:
    return str(Moment.of(at)).removesuffix(".000Z").removesuffix(":00") + "Z"


def after(line: str, zone: str, instant: str, count: int = 1) -> list[str]:
    """Return the next occurrences of a cron line."""
    found: list[str] = []
    at = ms(instant)
    while len(found) < count and (following := next_cron(parse_cron(line), zone_named(zone), at)) is not None:
        at = following[0]
        found.append(text(at))
    return found


def occurrences(schedule: Schedule, instant: str, count: int) -> list[str]:
    def walk() -> Iterator[str]:
        found = next_occurrence(schedule, ms(instant))
        while found is not None:
            yield text(found.at)
            found = next_occurrence(schedule, found)

    return list(islice(walk(), count))
