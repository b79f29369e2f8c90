"""Schedules of triggers: what their authors wrote, as the calendar knows it, and the cursor of one.

The cursor is the last occurrence that was started or skipped, kept as JSON in the row of the trigger. It is the group
that reads the calendar: whatever instance goes on, goes on behind it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from layover.core.calendar import ZONE_DATA, Occurrence, Schedule, next_occurrence, starts_at, zone_named
from layover.core.definitions.instants import parse_instant

if TYPE_CHECKING:
    from layover.core.definitions.trigger_types import ScheduleTrigger


class ScheduleCursor(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last occurrence that was dealt with, and how many were started."""

    at: int
    wall: int | None = None  # None if nothing has occurred since the schedule was registered or resumed
    count: int = 0
    zone_data: str = ""  # the release by which it was found: an instance with older data leaves the schedule alone

    @property
    def after(self) -> int | Occurrence:
        """The place in the calendar behind which the next occurrence lies."""
        return self.at if self.wall is None else Occurrence(self.at, self.wall)


@lru_cache(maxsize=4096)
def _instants(texts: tuple[str, ...], zone: str) -> tuple[int, ...]:
    return tuple(sorted({parse_instant(text, zone_named(zone)) for text in texts}))


def schedule_of(trigger: ScheduleTrigger) -> Schedule:
    """Return a schedule as the calendar knows it; ValueError for an unknown zone."""
    zone = zone_named(trigger.zone)
    return Schedule(
        cron=trigger.cron,
        every=trigger.every,
        at=_instants(trigger.at, trigger.zone),
        zone=trigger.zone,
        begin=parse_instant(trigger.from_, zone) if trigger.from_ is not None else None,
        end=parse_instant(trigger.until, zone) if trigger.until is not None else None,
        times=trigger.times,
        jitter=trigger.jitter,
    )


def timing_of(trigger: ScheduleTrigger) -> str:
    """Return what decides its instants, as one text: if it changes, the schedule counts from now."""
    return msgspec.json.encode([trigger.cron, trigger.every, trigger.at, trigger.zone]).decode()


def cursor_at(now: int) -> ScheduleCursor:
    """Return the cursor of a schedule that begins now."""
    return ScheduleCursor(at=now, zone_data=ZONE_DATA)


def first_start(trigger: ScheduleTrigger, trigger_id: str, cursor: ScheduleCursor) -> int | None:
    """Return when the next occurrence behind a cursor starts; None if there are no more."""
    schedule = schedule_of(trigger)
    found = next_occurrence(schedule, cursor.after, cursor.count)
    return starts_at(schedule, trigger_id, found) if found is not None else None


def encode_cursor(cursor: ScheduleCursor) -> bytes:
    """Return a cursor as it is stored."""
    return msgspec.json.encode(cursor)


def decode_cursor(text: bytes) -> ScheduleCursor:
    """Return a stored cursor."""
    return msgspec.json.decode(text, type=ScheduleCursor)
