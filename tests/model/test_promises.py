"""A promise that nothing can break promises nothing: each is broken here by tables written by hand."""

from __future__ import annotations

import pytest

from .promises import broken_promise, is_end
from .rules import Invariant
from .tables import TAKEOVER_LIMIT, Command, Head, Row, Tables

STARTED_A = ("ExecutionCreated", "NodeStarted A")
AT_POINT = (*STARTED_A, "NodeCompleted A", "PausePointOpened")
OWNED = Head(owner="one", epoch=1, wake_at="lease", claims=1)
RESTING = Head(wake_at=None)


def tables(*events: str, head: Head = OWNED, commands: tuple[Command, ...] = ()) -> Tables:
    rows = tuple(Row(seq, event) for seq, event in enumerate(events, 1))
    return Tables(head._replace(last_seq=len(rows)), rows, commands)


PAUSED = ("ExecutionPausing", "ExecutionPaused")
MOVED_PAUSE = (Command(1, "pause", after_seq=2, fate="moved"),)

BROKEN = {
    Invariant.LOG_IS_ONE_LINE: Tables(Head(last_seq=1), (Row(1, "ExecutionCreated"), Row(1, "NodeStarted A"))),
    Invariant.ANSWER_KEPT: tables(*AT_POINT, "PausePointExpired", commands=(Command(1, "answer", after_seq=4),)),
    Invariant.PAUSE_OBEYED: tables(*AT_POINT, "NodeStarted B", commands=(Command(1, "pause", after_seq=4),)),
    Invariant.CANCEL_ENDS: tables(*STARTED_A, commands=(Command(1, "cancel", after_seq=1),)),
    Invariant.DONE_ONCE: tables(*STARTED_A, "NodeCompleted A", "NodeStarted A"),
    Invariant.PAUSED_NAMES_ALL: tables(*STARTED_A, *PAUSED, head=RESTING, commands=MOVED_PAUSE),
    Invariant.CLOSED_IS_CLOSED: tables("ExecutionCreated", "ExecutionCompleted", "NodeStarted A", head=RESTING),
    Invariant.COMMANDS_SETTLED: tables("ExecutionCreated", "ExecutionResumed"),
    Invariant.NO_SPINNING: tables(*STARTED_A, head=OWNED._replace(idle_claims=TAKEOVER_LIMIT + 2)),
    Invariant.NO_STILLNESS: tables(*AT_POINT, head=RESTING),
}


@pytest.mark.parametrize(("invariant", "broken"), BROKEN.items(), ids=lambda value: getattr(value, "name", ""))
def test_a_promise_can_be_broken(invariant: Invariant, broken: Tables) -> None:
    assert broken_promise(broken) is invariant


def test_sound_tables_break_nothing() -> None:
    assert broken_promise(tables(*AT_POINT)) is None
    assert broken_promise(tables(*AT_POINT, head=RESTING._replace(wake_at="deadline"))) is None


def test_a_pause_is_an_end_and_an_open_point_is_none() -> None:
    paused = tables(*AT_POINT, *PAUSED, head=RESTING, commands=MOVED_PAUSE)
    assert is_end(paused._replace(head=paused.head._replace(commands_seq=1, commands_done=1)))
    assert not is_end(tables(*AT_POINT, head=RESTING))
