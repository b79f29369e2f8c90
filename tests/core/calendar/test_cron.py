"""Cron lines: what is read, what is refused, and the days and clocks at which they are easy to get wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.calendar import ScheduleError, next_cron, parse_cron, zone_named

from .times import after


@pytest.mark.parametrize(
    ("line", "instant", "expected"),
    [
        ("0 0 29 2 *", "2026-11-17T00:00Z", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]),
        ("0 0 29 2 *", "2096-03-01T00:00Z", ["2104-02-29T00:00Z"]),  # 2100 has no leap day
        ("0 0 31 * *", "2026-01-31T00:00Z", ["2026-03-31T00:00Z", "2026-05-31T00:00Z"]),
        ("59 23 31 12 *", "2026-11-17T00:00Z", ["2026-12-31T23:59Z", "2027-12-31T23:59Z"]),
        ("0 12 13 * FRI", "2026-11-17T00:00Z", ["2026-11-20T12:00Z", "2026-11-27T12:00Z"]),  # either of the days
        ("0 12 */13 * FRI", "2026-11-17T00:00Z", ["2026-11-27T12:00Z", "2027-01-01T12:00Z"]),  # both of the days
        ("0 0 * * 7", "2026-11-17T00:00Z", ["2026-11-22T00:00Z"]),
        ("0 0 * * SUN", "2026-11-17T00:00Z", ["2026-11-22T00:00Z"]),
        ("5/20 4 * * *", "2026-11-17T00:00Z", ["2026-11-17T04:05Z", "2026-11-17T04:25Z", "2026-11-17T04:45Z"]),
        ("0 0 L * *", "2026-02-01T00:00Z", ["2026-02-28T00:00Z", "2026-03-31T00:00Z"]),
        ("0 0 * 2 MON#5", "2026-11-17T00:00Z", ["2044-02-29T00:00Z", "2072-02-29T00:00Z", "2112-02-29T00:00Z"]),
        ("* * 29 2 *", "2026-11-17T00:00Z", ["2028-02-29T00:00Z", "2028-02-29T00:01Z"]),
        ("@daily", "2026-11-17T00:00Z", ["2026-11-18T00:00Z"]),
        ("@Hourly", "2026-11-17T00:00Z", ["2026-11-17T01:00Z"]),
        ("@weekly", "2026-11-17T00:00Z", ["2026-11-22T00:00Z"]),
        ("@monthly", "2026-11-17T00:00Z", ["2026-12-01T00:00Z"]),
        ("@yearly", "2026-11-17T00:00Z", ["2027-01-01T00:00Z"]),
    ],
)
def test_days_of_the_calendar(line: str, instant: str, expected: list[str]) -> None:
    assert after(line, "UTC", instant, len(expected)) == expected


@pytest.mark.parametrize(
    ("line", "zone", "instant", "expected"),
    [
        # in spring the dial jumps from 02:00 to 03:00, which is 01:00 UTC
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
        ("0,30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-29T01:30Z"]),
        ("30 * * * *", "Europe/Berlin", "2026-03-29T00:00Z", ["2026-03-29T00:30Z", "2026-03-29T01:30Z"]),
        ("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", ["2026-03-30T00:00Z", "2026-03-30T00:30Z"]),
        # in autumn it shows 02:00 to 03:00 twice, from 00:00 and from 01:00 UTC
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:45Z", ["2026-10-26T01:30Z"]),
        ("30 * * * *", "Europe/Berlin", "2026-10-25T00:00Z", ["2026-10-25T00:30Z", "2026-10-25T01:30Z"]),
        ("*/30 2 * * *", "Europe/Berlin", "2026-10-25T00:15Z", ["2026-10-25T00:30Z", "2026-10-25T01:00Z"]),
        # a change of half an hour, one at midnight, and a day that was left out
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-02T16:00Z", ["2026-10-03T15:30Z", "2026-10-04T15:15Z"]),
        ("0 0 * * *", "America/Havana", "2026-03-07T12:00Z", ["2026-03-08T05:00Z", "2026-03-09T04:00Z"]),
        ("0 9 30 12 *", "Pacific/Apia", "2011-12-01T00:00Z", ["2011-12-30T10:00Z", "2012-12-29T19:00Z"]),
    ],
)
def test_clocks_that_change(line: str, zone: str, instant: str, expected: list[str]) -> None:
    assert after(line, zone, instant, len(expected)) == expected


@pytest.mark.parametrize(
    "line",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "5-1 * * * *",
        "a * * * *",
        "1,,2 * * * *",
        "@reboot",
        "@",
        "\u017fun * * * *",
        "9" * 5000 + " * * * *",
        "*," * 150 + "* * * * *",
    ],
)
def test_a_line_that_is_none_is_refused(line: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        parse_cron(line)
    assert refused.value.field == "cron"


@pytest.mark.parametrize("line", ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 */30 2 MON#5", "0 0 31 4 */2"])
def test_a_line_that_can_never_happen_is_refused(line: str) -> None:
    with pytest.raises(ScheduleError, match="can never happen"):
        parse_cron(line)


def test_a_message_names_the_field() -> None:
    with pytest.raises(ScheduleError, match=r"`25` in `0 25 \* \* \*` is not an hour"):
        parse_cron("0 25 * * *")


def test_a_time_that_always_falls_into_a_jump_of_the_dial_never_happens() -> None:
    assert after("*/5 2 */1 3 SUN#2", "America/New_York", "2026-01-01T00:00Z") == []
    assert after("5 2 */1 3 SUN#2", "America/New_York", "2026-01-01T00:00Z") == ["2026-03-08T07:00Z"]


def test_the_calendar_ends_with_the_year_9999() -> None:
    cron, zone = parse_cron("@yearly"), zone_named("Pacific/Auckland")
    assert next_cron(cron, zone, 253_402_300_799_000) is None
    assert next_cron(cron, zone, 10**20) is None
    assert after("@yearly", "Pacific/Auckland", "9997-06-01T00:00Z") == ["9997-12-31T11:00Z"]
    found = next_cron(cron, zone, -(10**20))
    assert found is not None
    assert found[0] > 0


@given(st.text(alphabet="0123456789*/-,#LWMONSUAPR @", max_size=30), st.integers(-(10**16), 10**16))
def test_no_text_and_no_instant_raises_anything_else(line: str, at: int) -> None:
    try:
        cron = parse_cron(line)
    except ScheduleError:
        return
    found = next_cron(cron, zone_named("Europe/Berlin"), at)
    assert found is None or found[0] > at
