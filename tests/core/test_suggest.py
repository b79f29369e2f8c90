from __future__ import annotations

import itertools
import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.suggest import Suggestions, closest, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

KNOWN = ["approval", "condition", "delay", "form", "end"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("aproval", "approval"),
        ("approvall", "approval"),
        ("Approval", "approval"),
        ("conditoin", "condition"),
        ("dely", "delay"),
        ("from", "form"),
    ],
)
def test_a_slip_of_the_finger_is_recognised(written: str, meant: str) -> None:
    assert closest(written, KNOWN) == meant
    assert did_you_mean(written, KNOWN) == f" Did you mean `{meant}`?"


@pytest.mark.parametrize("written", ["", "x", "workflow", "approval", "a" * 1000])
def test_a_distant_name_gets_no_suggestion(written: str) -> None:
    assert closest(written, KNOWN) is None
    assert did_you_mean(written, KNOWN) == ""


def test_the_nearest_of_several_is_chosen() -> None:
    assert closest("nodess", ["notes", "nodes", "modes"]) == "nodes"


def test_the_number_of_compared_candidates_is_bounded() -> None:
    looked_at = 0

    def endless() -> Iterator[str]:
        nonlocal looked_at
        while True:
            looked_at += 1
            yield "something-else"

    assert closest("approval", endless()) is None
    assert looked_at <= 1001


@given(st.text(string.ascii_letters, min_size=5, max_size=20), st.data())
def test_one_dropped_character_is_always_found(name: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(name) - 1))
    assert closest(name[:position] + name[position + 1 :], [name]) == name


def test_all_questions_about_one_text_share_a_budget() -> None:
    """Names without a common prefix, all of one length, are the most work: every pair has to be compared."""
    suggestions = Suggestions()
    alphabet = itertools.cycle(string.ascii_lowercase)
    known = [f"{next(alphabet)}{number:04}".ljust(64, "y") for number in range(1_100)]
    asked = [f"{name[:-3]}xxx" for name in known]
    for name in asked:
        suggestions.closest(name, known)
    assert suggestions.left > -1_000
    assert suggestions.closest("aproval", KNOWN) is None


def test_a_common_prefix_costs_nothing() -> None:
    suggestions = Suggestions()
    known = [f"{'x' * 56}{number:04}" for number in range(900)]
    before = suggestions.left
    assert suggestions.closest(f"{'x' * 56}089z", known) == f"{'x' * 56}0890"
    assert before - suggestions.left <= 900 * 12


@given(st.text("abc", max_size=9), st.text("abc", max_size=9))
def test_the_distance_is_that_of_the_whole_table(left: str, right: str) -> None:
    found = Suggestions()._distance(left, right, 2)  # noqa: SLF001 - the law is about the band alone
    assert found == min(_distance(left, right), 3)


def _distance(left: str, right: str) -> int:
    """Return the edits between two texts, by the whole table."""
    table = {(i, 0): i for i in range(len(left) + 1)} | {(0, j): j for j in range(len(right) + 1)}
    for i, a in enumerate(left, start=1):
        for j, b in enumerate(right, start=1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(left), len(right)]
