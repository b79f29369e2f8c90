"""Functions that pause while they run: they ask, sleep and record under keys, and find the values when run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.commands import Answer, Ask, Checkpoint, Complete, Create, Record, Recover, Sleep

from .flows import only, rehearse

if TYPE_CHECKING:
    from layover.testing import Rehearsal


def running() -> Rehearsal:
    flow = rehearse("  - {id: a, type: f}\n")
    flow.send(Create(id="execution"))
    return flow


def test_a_function_that_asks_rests_and_is_run_again_with_the_answer() -> None:
    flow = running()
    flow.send(Ask(node="a", attempt=1, key="size", title="Which size?"))
    assert flow.status == "paused"
    assert flow.point("a").key == "size"
    flow.send(Answer(point=flow.point("a").id, by="ann", data="large"))
    node = flow.state.node("a")
    assert (node.status, node.attempt, node.journal) == ("running", 2, {"size": "large"})
    flow.send(Complete(node="a", attempt=2, output="done"))
    assert flow.output == "done"


def test_a_function_that_sleeps_is_run_again_when_the_time_has_passed() -> None:
    flow = running()
    flow.send(Sleep(node="a", attempt=1, key="nap", length_ms=5_000))
    assert flow.status == "waiting"
    flow.now += 5_000
    flow.skip(0)
    assert flow.status == "completed"
    assert [event.key for event in only(flow, ev.NodeRecorded) if isinstance(event, ev.NodeRecorded)] == ["nap"]


def test_a_recorded_value_survives_a_crash_and_never_changes() -> None:
    flow = running()
    flow.send(Record(node="a", attempt=1, key="reserve", value=17))
    assert flow.send(Record(node="a", attempt=1, key="reserve", value=18)) == []
    flow.send(Recover())
    assert flow.state.node("a").journal == {"reserve": 17}
    assert flow.send(Ask(node="a", attempt=2, key="reserve")) == []


def test_an_unanswered_question_past_its_deadline_fails_the_function() -> None:
    flow = running()
    flow.send(Ask(node="a", attempt=1, key="size", deadline_ms=1_000))
    flow.skip(1_000)
    assert flow.error == "deadline_passed"


def test_a_checkpoint_survives_until_the_node_is_done() -> None:
    flow = running()
    flow.send(Checkpoint(node="a", attempt=1, data={"page": 3}))
    flow.send(Recover())
    assert flow.state.node("a").checkpoint == {"page": 3}
