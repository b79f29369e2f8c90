"""The search itself finds what there is to find: in graphs drawn by hand, where everybody can see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .rules import Invariant
from .search import Step, TooManyStatesError, explore

if TYPE_CHECKING:
    from collections.abc import Iterator


class Drawing:
    """A graph: `a>b` is an obliged step, `a?b` a choice. It begins at `a`, may end at `z`, and is broken at `!`."""

    def __init__(self, *steps: str) -> None:
        self._steps = steps

    def initial(self) -> str:
        return "a"

    def steps(self, state: str) -> Iterator[Step[str]]:
        for step in self._steps:
            if step.startswith(state):
                yield Step("step", step, step[2], obliged=step[1] == ">")

    def broken(self, state: str) -> Invariant | None:
        return Invariant.ANSWER_KEPT if state == "!" else None

    def is_end(self, state: str) -> bool:
        return state == "z"


def test_a_sound_drawing_is_explored_completely() -> None:
    report = explore(Drawing("a>b", "b?c", "c>b", "b>z", "a>z"))
    assert (report.states, report.violation) == (4, None)


def test_the_shortest_way_to_a_violation_is_shown() -> None:
    found = explore(Drawing("a>b", "b>c", "c>!", "b?d", "a>d", "d>!", "c>z")).violation
    assert found is not None
    assert (found.invariant, found.trace) == (Invariant.ANSWER_KEPT, ("a>d", "d>!"))
    assert str(found) == f"broken: {Invariant.ANSWER_KEPT.value}\n  1. a>d\n  2. d>!"


def test_a_dead_end_is_stillness() -> None:
    found = explore(Drawing("a>b", "a>z")).violation
    assert found is not None
    assert (found.invariant, found.trace) == (Invariant.NO_STILLNESS, ("a>b",))


def test_a_choice_that_may_never_come_saves_no_promise() -> None:
    found = explore(Drawing("a>b", "b?z")).violation
    assert found is not None
    assert (found.invariant, found.trace) == (Invariant.NO_STILLNESS, ("a>b",))


def test_a_circle_without_a_way_out_is_a_trap() -> None:
    found = explore(Drawing("a>z", "a?b", "b>c", "c>b", "c?z")).violation
    assert found is not None
    assert (found.invariant, found.trace) == (Invariant.NO_TRAP, ("a?b",))


def test_a_search_that_grows_too_large_says_so() -> None:
    with pytest.raises(TooManyStatesError, match="more than 2 states"):
        explore(Drawing("a>b", "b>c", "c>z"), most=2)
