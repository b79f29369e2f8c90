"""What is printed: harmless, short, and for machines the same when it is read back."""

from __future__ import annotations

import contextlib
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover import Moment
from layover.cli.screen import between, harmless, moment, plural, print_json, print_table
from layover.core.definitions.durations import brief_duration


@given(st.text(st.characters()), st.integers(min_value=1, max_value=50))
def test_any_text_is_printable_on_one_line(text: str, most: int) -> None:
    shown = harmless(text, most)
    assert shown.isprintable()
    assert len(shown) <= most * 10
    if text.isprintable() and len(text) <= most:
        assert shown == text


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
DATA: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


@given(DATA)
def test_json_reads_back_the_same_and_is_printable(value: object) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print_json(value)
    assert json.loads(out.getvalue()) == value
    assert out.getvalue().replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0ms"),
        (999, "999ms"),
        (1_000, "1.0s"),
        (59_949, "59.9s"),
        (60_000, "1m00s"),
        (3_599_999, "59m59s"),
        (3_600_000, "1h00m"),
        (86_400_000 * 3 + 3_600_000, "3d01h"),
    ],
)
def test_lengths_of_time_are_short(milliseconds: int, text: str) -> None:
    assert brief_duration(milliseconds) == text


def test_moments_and_numbers() -> None:
    at = Moment.of(1_735_689_600_123)
    assert moment(None) == between(None, at) == "-"
    assert moment(at) == "2025-01-01 00:00:00"
    assert between(at, Moment.of(at.milliseconds + 1_500)) == "1.5s"
    assert plural(1, "execution") == "1 execution"
    assert plural(1_000, "event") == "1,000 events"


def test_columns_are_as_wide_as_they_need_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([["A", "B", "C"], ["long", "x", "[red]y"]])
    assert capsys.readouterr().out == "A     B  C\nlong  x  [red]y\n"
