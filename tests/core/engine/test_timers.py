"""The earliest timer is at hand, whatever was set, dropped and undone before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from layover.core.engine.tables import UndoLog
from layover.core.engine.timers import Timers

moves = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("abcd"), st.integers(0, 9)),
        st.tuples(st.just("drop"), st.sampled_from("abcd"), st.just(0)),
        st.tuples(st.sampled_from(["keep", "revert", "ask", "due"]), st.just(""), st.integers(0, 9)),
    ),
    max_size=60,
)


@given(moves)
def test_timers_agree_with_a_linear_search(moves: list[tuple[str, str, int]]) -> None:
    journal = UndoLog()
    timers = Timers(journal)
    kept: dict[str, int] = {}
    for move, key, at in moves:
        match move:
            case "put":
                timers.put(key, at)
            case "drop":
                timers.drop(key)
            case "keep":
                journal.keep()
                kept = dict(timers.rows)
            case "revert":
                journal.revert()
                assert timers.rows == kept
            case "ask":
                assert timers.earliest() == min(timers.rows.values(), default=None)
            case _:
                pairs = sorted((when, name) for name, when in timers.rows.items() if when <= at)
                assert timers.due(at) == [name for _, name in pairs]
    assert timers.earliest() == min(timers.rows.values(), default=None)


def test_replaced_timers_do_not_accumulate() -> None:
    timers = Timers(UndoLog())
    timers.put("late", 1_000_000)
    assert timers.earliest() == 1_000_000
    for at in range(10_000):
        timers.put("again", 2_000_000 + at)
    assert len(timers) == 2
    assert timers.due(3_000_000) == ["late", "again"]
