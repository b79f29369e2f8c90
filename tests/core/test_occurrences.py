"""Which due occurrences start and which are skipped."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layover.core.calendar import count_occurrences
from layover.core.definitions.trigger_types import CatchUpDefinition, ScheduleTrigger
from layover.core.occurrences import due_occurrences
from layover.core.schedules import ScheduleCursor, schedule_of

HOUR = 3_600_000
DAY = 24 * HOUR


def hourly(which: str = "last", within: int = DAY, **fields: object) -> ScheduleTrigger:
    catch_up = CatchUpDefinition(which=which, within=within)  # type: ignore[arg-type]
    return ScheduleTrigger(name="t", every=HOUR, catch_up=catch_up, **fields)  # type: ignore[arg-type]


def decided(trigger: ScheduleTrigger, now: int, room: int | None = None) -> tuple[list[int], list[tuple[int, str]]]:
    due = due_occurrences(trigger, "id", ScheduleCursor(at=0), now, room)
    assert due.next_at is None or due.next_at > now or len(due.starts) == 100
    return [one.at // HOUR for one in due.starts], [(skip.number, skip.reason) for skip in due.skips]


def test_nothing_is_due_before_its_time() -> None:
    assert decided(hourly(), HOUR - 1) == ([], [])


def test_one_that_is_due_starts() -> None:
    assert decided(hourly(), HOUR + 5) == ([1], [])


def test_of_several_the_last_starts_and_the_rest_is_one_skip() -> None:
    assert decided(hourly(), 5 * HOUR + 5) == ([5], [(4, "missed")])


def test_what_is_too_old_does_not_start() -> None:
    assert decided(hourly(within=2 * HOUR), 10 * HOUR + 30) == ([10], [(8, "too_old"), (1, "missed")])


def test_all_start_the_oldest_first_a_hundred_at_once() -> None:
    starts, skips = decided(hourly("all", within=1_000 * DAY), 300 * HOUR)
    assert (starts, skips) == (list(range(1, 101)), [])


def test_none_that_is_late_starts() -> None:
    assert decided(hourly("none"), 3 * HOUR + 120_000) == ([], [(3, "missed")])
    assert decided(hourly("none"), 3 * HOUR + 10) == ([3], [(2, "missed")])


def test_without_room_everything_is_skipped() -> None:
    assert decided(hourly(), HOUR, room=0) == ([], [(1, "overlap")])
    assert decided(hourly("all"), 3 * HOUR, room=1) == ([1], [(2, "overlap")])


def test_a_year_of_seconds_is_one_look() -> None:
    every_second = ScheduleTrigger(name="t", every=1_000)
    due = due_occurrences(every_second, "id", ScheduleCursor(at=0), 365 * DAY, None)
    assert len(due.starts) == 1
    assert sum(skip.number for skip in due.skips) == 365 * DAY // 1_000 - 1


@pytest.mark.parametrize("which", ["last", "all", "none"])
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(now=st.integers(0, 80 * HOUR), room=st.sampled_from([None, 0, 1, 2]), jitter=st.sampled_from([0, 600_000]))
def test_every_occurrence_is_started_or_skipped_once(which: str, now: int, room: int | None, jitter: int) -> None:
    trigger = hourly(which, jitter=jitter)
    due = due_occurrences(trigger, "id", ScheduleCursor(at=0), now, room)
    dealt_with = len(due.starts) + sum(skip.number for skip in due.skips)
    assert dealt_with == count_occurrences(schedule_of(trigger), 0, due.cursor.at)
    assert due.cursor.at <= now
    again = due_occurrences(trigger, "id", due.cursor, now, room)
    assert (again.starts, again.skips) == ((), ())
