"""Schedules: bounds, periods, lists, jitter, what was missed, and zone data that change below a stored occurrence."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.calendar import (
    ZONE_DATA,
    Occurrence,
    Schedule,
    ScheduleError,
    check_schedule,
    count_occurrences,
    newest_occurrence,
    next_cron,
    next_occurrence,
    parse_cron,
    starts_at,
    zone_named,
)

from .times import ms, occurrences, text

if TYPE_CHECKING:
    from collections.abc import Sequence

NIGHTLY = Schedule(cron="30 2 * * *", zone="Europe/Berlin")


def test_a_period_counts_from_1970() -> None:
    assert occurrences(Schedule(every=900_000), "2026-11-17T10:07Z", 2) == ["2026-11-17T10:15Z", "2026-11-17T10:30Z"]
    assert occurrences(Schedule(every=900_000), "2026-11-17T10:15Z", 1) == ["2026-11-17T10:30Z"]


def test_a_list_is_in_order_whatever_its_order_and_has_each_instant_once() -> None:
    at = (ms("2026-12-24T18:00Z"), ms("2026-12-06T08:00Z"), ms("2026-12-24T18:00Z"))
    assert occurrences(Schedule(at=at), "2026-11-17T00:00Z", 9) == ["2026-12-06T08:00Z", "2026-12-24T18:00Z"]


def test_both_bounds_belong_to_the_schedule() -> None:
    bounded = Schedule(every=60_000, begin=ms("2026-11-17T10:00Z"), end=ms("2026-11-17T10:02Z"))
    expected = ["2026-11-17T10:00Z", "2026-11-17T10:01Z", "2026-11-17T10:02Z"]
    assert occurrences(bounded, "2026-01-01T00:00Z", 9) == expected


def test_no_occurrence_follows_the_last_of_so_many_times() -> None:
    thrice = Schedule(every=60_000, times=3)
    assert next_occurrence(thrice, 0, done=2) is not None
    assert next_occurrence(thrice, 0, done=3) is None


@pytest.mark.parametrize(
    ("schedule", "field"),
    [
        (Schedule(), "schedule"),
        (Schedule(cron="@daily", every=1000), "schedule"),
        (Schedule(cron="@daily", zone="Europe/Bielefeld"), "zone"),
        (Schedule(cron="@daily", zone="../../etc/passwd"), "zone"),
        (Schedule(cron="@daily", zone="europe/berlin"), "zone"),
        (Schedule(cron="0 0 30 2 *"), "cron"),
        (Schedule(cron="*/5 2 */1 3 SUN#2", zone="America/New_York"), "cron"),
        (Schedule(every=999), "every"),
        (Schedule(at=tuple(range(1, 1002))), "at"),
        (Schedule(every=1000, times=0), "times"),
        (Schedule(every=1000, jitter=-1), "jitter"),
        (Schedule(every=1000, begin=2, end=1), "until"),
        (Schedule(cron="0 0 29 2 *", begin=ms("2026-01-01T00:00Z"), end=ms("2027-01-01T00:00Z")), "cron"),
    ],
)
def test_a_schedule_that_cannot_be_names_its_field(schedule: Schedule, field: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        check_schedule(schedule)
    assert refused.value.field == field


@given(st.text(max_size=10), st.integers(0, 10**13), st.integers(1, 10**8), st.integers(1000, 10**8))
def test_a_jitter_is_always_the_same_and_ends_before_the_next_occurrence(
    trigger: str, at: int, jitter: int, every: int
) -> None:
    schedule = Schedule(every=every, jitter=jitter)
    occurrence = next_occurrence(schedule, at)
    assert occurrence is not None
    start = starts_at(schedule, trigger, occurrence)
    assert start == starts_at(schedule, trigger, occurrence)
    assert occurrence.at <= start < occurrence.at + min(every, jitter)


def test_jitter_spreads_triggers_over_all_of_it() -> None:
    hourly = Schedule(cron="@hourly", jitter=600_000)
    occurrence = next_occurrence(hourly, 0)
    assert occurrence is not None
    starts = {starts_at(hourly, f"trigger {number}", occurrence) - occurrence.at for number in range(1000)}
    assert len(starts) > 990
    assert min(starts) < 10_000
    assert max(starts) > 590_000


@given(st.sampled_from([NIGHTLY, Schedule(every=3_600_000), Schedule(cron="*/7 * * * MON")]), st.integers(0, 40 * 24))
def test_the_newest_and_the_number_of_missed_ones_are_those_of_a_walk(schedule: Schedule, hours: int) -> None:
    after = ms("2026-03-15T00:00Z")
    until = after + hours * 3_600_000
    walked: list[Occurrence] = []
    found = next_occurrence(schedule, after)
    while found is not None and found.at <= until:
        walked.append(found)
        found = next_occurrence(schedule, found)
    assert newest_occurrence(schedule, after, until) == (walked[-1] if walked else None)
    assert count_occurrences(schedule, after, until) == len(walked)


def test_counting_what_a_cron_line_missed_is_bounded() -> None:
    assert count_occurrences(Schedule(cron="* * * * *"), 0, 10**12, most=50) == 50
    assert count_occurrences(Schedule(every=1000), 0, 10**12) == 10**9


def _zone(changes: Sequence[tuple[str, int]], first: int) -> ZoneInfo:
    """Return a zone with these offsets, in minutes, from these instants on; as a file of the zone database has it."""
    instants = [ms(instant) // 1000 for instant, _ in changes]
    offsets = [first, *(offset for _, offset in changes)]
    kinds = b"".join(struct.pack(">lbb", offset * 60, 0, 0) for offset in offsets)

    def block(code: str) -> bytes:
        head = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, len(instants), len(offsets), 4)
        times = struct.pack(f">{len(instants)}{code}", *instants)
        return head + times + bytes(range(1, len(offsets))) + kinds + b"XXX\0"

    return ZoneInfo.from_file(io.BytesIO(block("l") + block("q") + b"\n\n"), key="Test/Zone")


def test_newer_zone_data_repeat_no_day_of_a_fixed_time() -> None:
    cron = parse_cron("30 8 * * *")
    summer = _zone([], 120)
    abolished = _zone([("2026-06-01T00:00Z", 60)], 120)  # known only after the occurrence of that day
    first = next_cron(cron, summer, ms("2026-05-31T12:00Z"))
    assert first is not None
    assert text(first[0]) == "2026-06-01T06:30Z"
    again = next_cron(cron, abolished, first[0])
    assert again is not None
    assert text(again[0]) == "2026-06-01T07:30Z"  # by the instant alone it would happen twice
    following = next_cron(cron, abolished, *first)
    assert following is not None
    assert text(following[0]) == "2026-06-02T07:30Z"


def test_newer_zone_data_leave_out_no_day_either() -> None:
    cron = parse_cron("30 8 * * *")
    first = next_cron(cron, _zone([], 60), ms("2026-05-31T12:00Z"))
    assert first is not None
    following = next_cron(cron, _zone([("2026-06-01T00:00Z", 180)], 60), *first)
    assert following is not None
    assert text(following[0]) == "2026-06-02T05:30Z"


def test_an_occurrence_inside_a_jump_keeps_its_own_wall_time() -> None:
    found = next_occurrence(NIGHTLY, ms("2026-03-28T12:00Z"))
    assert found == Occurrence(ms("2026-03-29T01:00Z"), ms("2026-03-29T02:30Z"))
    following = next_occurrence(NIGHTLY, found)
    assert following == Occurrence(ms("2026-03-30T00:30Z"), ms("2026-03-30T02:30Z"))


def test_zone_data_come_from_one_release_and_names_are_exact() -> None:
    assert len(ZONE_DATA) == 5
    assert ZONE_DATA >= "2026a"
    assert zone_named("UTC").key == "UTC"
    with pytest.raises(ValueError, match="is not a time zone"):
        zone_named("Europe/Berlin\n")
