from __future__ import annotations

import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layover.core.suggest import closest, did_you_mean

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
def test_what_is_not_close_gets_no_suggestion(written: str) -> None:
    assert closest(written, KNOWN) is None
    assert did_you_mean(written, KNOWN) == ""


def test_the_nearest_of_several_is_chosen() -> None:
    assert closest("nodess", ["notes", "nodes", "modes"]) == "nodes"


def test_only_so_many_candidates_are_looked_at() -> None:
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
