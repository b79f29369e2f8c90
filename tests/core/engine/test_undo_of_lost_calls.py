"""Lost calls that are undone before they are made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.core.engine.answers import refusal, schema_of
from layover.core.engine.codec import decode_state, encode_state
from layover.core.engine.commands import (
    Answer,
    Cancel,
    CancelPoint,
    CancelRetry,
    Checkpoint,
    Complete,
    Create,
    Fail,
    Pause,
    Record,
    Recover,
    Resume,
    Retry,
    Rewind,
    RunNow,
    StopDraining,
    Undone,
    Wake,
)
from layover.core.engine.effects import LogFailure, MakeCall, effects
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState

from .flows import only, rehearse, types
from .laws import tables

if TYPE_CHECKING:
    from layover.core.engine.commands import AnyCommand
    from layover.testing import Rehearsal

ERROR = ev.Error(code="failed", type="OSError", message="no answer")
NODES = """
  - {id: s, type: set, values: {amount: 7}, next: [charge, wait]}
  - {id: charge, type: f, on_crash: %s, input: {amount: "${vars.amount}"}}
  - {id: wait, type: form, next: more}
  - {id: more, type: set, values: {amount: 8}}
"""
RETRIED = "undo, retry: {max_attempts: 2, delay: 1s, jitter: 0}"


def begun(on_crash: str, settings: str = "{}", *, has_undo: bool = True) -> Rehearsal:
    flow = rehearse(NODES % on_crash, settings=settings)
    if has_undo:
        flow.undos["f"] = lambda _: None
    flow.send(Create(id="execution"))
    return flow


def lost(on_crash: str, settings: str = "{}") -> Rehearsal:
    """Return an execution whose call was lost with its instance."""
    flow = begun(on_crash, settings)
    flow.send(Recover())
    return flow


def calls(flow: Rehearsal, command: AnyCommand) -> list[tuple[int, str]]:
    """Return the calls that a command leads to: their attempts, and what they are for."""
    return [(one.attempt, one.purpose) for one in effects(flow.state, flow.send(command)) if isinstance(one, MakeCall)]


def answer(flow: Rehearsal, **data: object) -> Answer:
    return Answer(point=asked(flow), data=data, by="op")


def asked(flow: Rehearsal) -> str:
    """Return the point that asks about the lost call."""
    return flow.point("charge").id


def fail(attempt: int = 2, error: ev.Error = ERROR) -> Fail:
    return Fail(node="charge", attempt=attempt, error=error)


def unretryable(attempt: int) -> Fail:
    return fail(attempt, ev.Error(code="failed", type="OSError", message="no answer", retryable=False))


def test_a_lost_call_is_undone_and_then_made_again() -> None:
    flow = begun("undo")
    assert calls(flow, Recover()) == [(2, "undo")]
    assert types(flow)[-3:] == ["NodeInDoubt", "NodeScheduled", "NodeStarted"]
    assert calls(flow, Undone(node="charge", attempt=2)) == [(3, "work")]
    assert types(flow)[-3:] == ["NodeUndone", "NodeScheduled", "NodeStarted"]
    node = flow.state.node("charge")
    assert (node.doubt, node.recoveries) == (False, 1)
    flow.send(Complete(node="charge", attempt=3, output="paid"))
    assert flow.state.node("charge").output == "paid"


def test_an_undo_gets_the_input_of_the_lost_call_and_the_call_that_follows_its_own() -> None:
    flow = begun("undo", "{resume: concurrent}")
    flow.send(Answer(point=flow.point("wait").id, data={}, by="ann"))
    (made,) = [one for one in effects(flow.state, flow.send(Recover())) if isinstance(one, MakeCall)]
    assert (made.purpose, made.input) == ("undo", {"amount": 7})
    (made,) = [
        one for one in effects(flow.state, flow.send(Undone(node="charge", attempt=2))) if isinstance(one, MakeCall)
    ]
    assert (made.purpose, made.input) == ("work", {"amount": 8})


def test_what_the_lost_call_had_recorded_is_forgotten_with_it() -> None:
    flow = begun("undo")
    flow.send(Record(node="charge", attempt=1, key="receipt", value=5))
    flow.send(Checkpoint(node="charge", attempt=1, data="half"))
    (made,) = [one for one in effects(flow.state, flow.send(Recover())) if isinstance(one, MakeCall)]
    assert made.checkpoint == "half"  # the undo may need to know how far it had come
    (made,) = [
        one for one in effects(flow.state, flow.send(Undone(node="charge", attempt=2))) if isinstance(one, MakeCall)
    ]
    assert (made.checkpoint, made.journal) == (None, {})


def test_a_lost_undo_is_made_again() -> None:
    flow = lost("undo")
    assert calls(flow, Recover()) == [(3, "undo")]
    assert len(only(flow, ev.NodeInDoubt)) == 1


def test_an_undo_that_fails_is_tried_again_as_its_node_says_and_then_an_operator_is_asked() -> None:
    flow = lost(RETRIED)
    events = flow.send(fail())
    assert [type(event) for event in events] == [ev.NodeUndoFailed]
    assert any(isinstance(one, LogFailure) for one in effects(flow.state, events))
    node = flow.state.node("charge")
    assert (node.status, node.undo_failures, node.failures) == ("backoff", 1, 0)
    flow.now += 1_000
    assert calls(flow, Wake()) == [(3, "undo")]
    assert calls(flow, fail(3)) == []
    point = flow.point("charge")
    assert (point.doubt, point.details["problem"]) == (True, "The undo failed: no answer")
    assert point.details["otherwise"] == ["repeat", "undo", "fail"]


def test_an_undo_has_all_its_attempts_whatever_the_call_has_had() -> None:
    flow = begun(RETRIED)
    flow.send(fail(1))
    flow.now += 1_000
    flow.send(Wake())
    flow.send(Recover())
    flow.send(fail(3))
    assert flow.state.node("charge").status == "backoff"
    flow.now += 1_000
    flow.send(Wake())
    flow.send(Undone(node="charge", attempt=4))
    node = flow.state.node("charge")
    assert (node.status, node.failures, node.undo_failures) == ("running", 1, 0)


def test_an_undo_that_must_not_be_tried_again_or_takes_too_long_is_asked_about() -> None:
    flow = lost(RETRIED)
    flow.send(unretryable(2))
    assert flow.point("charge").doubt
    flow = lost("undo, timeout: 5s")
    flow.now += 5_000
    flow.send(Wake())
    assert "timeout" in str(flow.point("charge").details["problem"])


def test_what_comes_late_or_unasked_undoes_nothing() -> None:
    flow = lost("undo")
    assert flow.send(Undone(node="charge", attempt=1)) == []
    flow.send(Undone(node="charge", attempt=2))
    assert flow.send(Undone(node="charge", attempt=3)) == []


@pytest.mark.parametrize("on_crash", ["pause", "probe", "undo"])
def test_an_operator_can_have_it_undone(on_crash: str) -> None:
    flow = lost(on_crash)
    if on_crash != "pause":
        flow.send(unretryable(2))
    attempt = flow.state.node("charge").attempt
    assert calls(flow, answer(flow, happened=False, otherwise="undo")) == [(attempt + 1, "undo")]
    [requested] = only(flow, ev.NodeUndoRequested)
    assert requested == ev.NodeUndoRequested(node="charge", attempt=attempt)
    assert calls(flow, Recover()) == [(attempt + 2, "undo")]
    assert calls(flow, Undone(node="charge", attempt=attempt + 2)) == [(attempt + 3, "work")]
    assert not flow.state.node("charge").undo


def test_an_undo_that_an_operator_asked_for_leads_back_to_them_when_it_fails() -> None:
    flow = lost("pause")
    flow.send(answer(flow, happened=False, otherwise="undo"))
    flow.send(fail())
    assert flow.point("charge").doubt
    flow.send(CancelPoint(point=asked(flow)))
    assert flow.error == "pause_cancelled"
    assert calls(flow, Retry()) == []  # the question is asked again, and nothing is undone by itself
    assert flow.point("charge").doubt


def test_an_operator_can_have_it_made_again_as_it_is() -> None:
    flow = lost("undo")
    flow.send(Record(node="charge", attempt=2, key="receipt", value=5))
    flow.send(unretryable(2))
    assert calls(flow, answer(flow, happened=False, otherwise="repeat")) == [(3, "work")]
    assert calls(flow, Rewind(to="charge")) == [(4, "work")]


def test_an_operator_can_fail_the_node() -> None:
    flow = lost("pause")
    flow.send(answer(flow, happened=False, otherwise="fail"))
    assert flow.error == "call_lost"
    error = flow.state.facts.error
    assert error is not None
    assert error.message.startswith("op failed it: its instance was lost")
    assert calls(flow, Retry()) == []  # it is still not known whether it happened
    assert flow.point("charge").doubt


def test_a_node_that_an_operator_fails_leaves_by_its_error_port() -> None:
    flow = rehearse(
        "  - {id: charge, type: f, on_crash: pause, next: {error: sorry}}\n  - {id: sorry, type: compute, output: 1}\n"
    )
    flow.send(Create(id="execution"))
    flow.send(Recover())
    flow.send(answer(flow, happened=False, otherwise="fail"))
    assert (flow.status, flow.output) == ("completed", 1)


def test_what_happened_is_not_asked_for_anything_else() -> None:
    flow = lost("pause")
    assert calls(flow, answer(flow, happened=True, output="paid", otherwise="undo")) == []
    assert flow.state.node("charge").output == "paid"


def test_an_undo_is_offered_where_there_is_one() -> None:
    flow = begun("pause", has_undo=False)
    flow.send(Recover())
    refused = refusal(flow.state, answer(flow, happened=False, otherwise="undo"))
    assert refused is not None
    assert refused.code == "invalid_answer"
    schema = schema_of(flow.state, flow.point("charge"))
    assert isinstance(schema, dict)
    assert schema["properties"]["otherwise"]["enum"] == ["repeat", "fail"]


def test_a_question_of_an_earlier_release_takes_the_answers_that_it_took() -> None:
    flow = begun("pause")
    flow.send(Pause())
    flow.send(StopDraining())
    at = flow.now
    for event in (
        ev.ExecutionResumed(),
        ev.NodeInDoubt(node="charge", attempt=1),
        ev.PausePointOpened(node="charge", point="p", kind="form", details={"title": "Did it happen?"}, doubt=True),
    ):
        flow.log.append((at, event))
        fold(flow.state, [(at, event)])
    flow.state.undo_log.keep()
    assert refusal(flow.state, answer(flow, happened=False, otherwise="undo")) is not None
    assert calls(flow, answer(flow, happened=False)) == [(2, "work")]


def test_going_back_leaves_nothing_to_undo() -> None:
    flow = lost("pause")
    flow.send(answer(flow, happened=False, otherwise="undo"))
    assert calls(flow, Rewind(to="charge")) == [(3, "work")]
    node = flow.state.node("charge")
    assert (node.doubt, node.undo) == (False, False)


def test_a_call_that_was_undone_is_made_again_when_the_gate_opens() -> None:
    flow = lost("undo")
    flow.send(Pause())
    assert calls(flow, Undone(node="charge", attempt=2)) == []
    assert flow.status == "paused"
    assert calls(flow, Resume()) == [(3, "work")]


def test_a_call_in_doubt_at_a_pause_is_undone_when_the_gate_opens() -> None:
    flow = begun("undo")
    flow.send(Pause())
    flow.send(StopDraining())
    assert calls(flow, Resume()) == [(2, "undo")]


def test_a_retry_after_the_last_recovery_still_undoes() -> None:
    flow = begun("undo", "{max_recoveries: 0}")
    flow.send(Recover())
    assert flow.error == "max_recoveries"
    (made,) = [one for one in effects(flow.state, flow.send(Retry())) if isinstance(one, MakeCall)]
    assert (made.purpose, made.input) == ("undo", {"amount": 7})


def test_a_lost_call_in_a_branch_that_was_stopped_is_undone_with_its_own_input() -> None:
    flow = rehearse(
        """
  - {id: s, type: set, values: {amount: 7}, next: p}
  - id: p
    type: parallel
    on_failure: fail_fast
    branches:
      - {id: a, body: [{id: charge, type: f, on_crash: undo, input: "${vars.amount}"}]}
      - {id: b, body: [{id: bad, type: g}]}
"""
    )
    flow.undos["f"] = lambda _: None
    flow.send(Create(id="execution"))
    flow.send(Fail(node="bad:p.b", attempt=1, error=ERROR))
    flow.state = decode_state(encode_state(flow.state), flow.plan)
    made = [one for one in effects(flow.state, flow.send(Retry())) if isinstance(one, MakeCall)]
    assert {(one.node, one.purpose, one.input) for one in made} == {
        ("charge:p.a", "undo", 7),
        ("bad:p.b", "work", None),
    }


def test_an_operator_can_run_a_failed_undo_now_or_end_its_attempts() -> None:
    flow = lost(RETRIED)
    flow.send(fail())
    assert calls(flow, RunNow(node="charge")) == [(3, "undo")]
    flow = lost(RETRIED)
    flow.send(fail())
    flow.send(CancelRetry(node="charge", by="op"))
    assert types(flow)[-3:] == ["RetryCancelled", "NodeUndoFailed", "PausePointOpened"]
    assert flow.point("charge").doubt


def test_the_log_gives_the_same_state_again_and_an_undo_can_be_cancelled() -> None:
    flow = lost(RETRIED)
    flow.send(fail())
    assert tables(fold(ExecutionState(flow.plan), flow.log)) == tables(flow.state)
    flow.send(Cancel())
    assert flow.status == "cancelled"


def test_a_rehearsal_can_undo_a_lost_call() -> None:
    flow = rehearse("  - {id: charge, type: f, on_crash: undo, input: 7}\n", {"f": lambda _: "paid"})
    undone: list[object] = []
    flow.undos["f"] = undone.append
    flow.send(Create(id="execution"))
    flow.send(Recover())
    assert flow.run().output == "paid"
    assert undone == [7]
