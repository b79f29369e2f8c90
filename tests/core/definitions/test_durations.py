from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.definitions.durations import format_duration, parse_duration

DAY = 86_400_000


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("0s", 0),
        ("250ms", 250),
        ("90s", 90_000),
        ("1h30m", 5_400_000),
        ("2d", 2 * DAY),
        ("1w", 7 * DAY),
        ("1m1ms", 60_001),
        ("PT15M", 900_000),
        ("P1DT2H", DAY + 7_200_000),
        ("P2W", 14 * DAY),
        ("PT0.5S", 500),
        ("PT1.005S", 1_005),
    ],
)
def test_a_duration_is_read_in_both_notations(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "s",
        "1 h",
        "1H",
        "-1s",
        "1.5h",
        "1y",
        "P",
        "PT",
        "P1Y",
        "P1M",
        "PT1.5M",
        "\u0661s",
        "1s\n",
        "9" * 70 + "s",
    ],
)
def test_an_invalid_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="1h30m"):
        parse_duration(text)


def test_a_duration_longer_than_a_century_is_refused() -> None:
    with pytest.raises(ValueError, match="hundred years"):
        parse_duration("999999w")


@given(st.integers(0, 90 * 366 * DAY))
def test_a_formatted_duration_reads_back_the_same(milliseconds: int) -> None:
    assert parse_duration(format_duration(milliseconds)) == milliseconds
