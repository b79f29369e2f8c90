"""Child executions: started once, paused and cancelled with their parent, reporting their end to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.engine import events as ev
from layover.core.engine.commands import (
    Cancel,
    CancelPoint,
    ChildPaused,
    ChildResumed,
    Complete,
    Create,
    Fail,
    Pause,
    Recover,
    Report,
    Resume,
    Rewind,
    StopDraining,
    Wake,
)
from layover.core.engine.effects import Close, StartChild, StopCalls, TellChild, TellParent, effects
from layover.core.ids import child_id

from .flows import only, rehearse, types

if TYPE_CHECKING:
    from layover.core.engine.commands import AnyCommand
    from layover.core.engine.effects import Effect
    from layover.testing import Rehearsal

CHILD = child_id("execution", "c", 1)
ONE = "  - {id: c, type: workflow, workflow: other, next: d}\n  - {id: d, type: f}\n"
BESIDE_A_CALL = """
  - {id: s, type: compute, output: 0, next: [a, c]}
  - {id: a, type: f, next: last}
  - {id: c, type: workflow, workflow: other}
  - {id: last, type: %s}
"""


def begun(nodes: str) -> Rehearsal:
    flow = rehearse(nodes)
    flow.send(Create(id="execution", input={}))
    return flow


def told(flow: Rehearsal, command: AnyCommand) -> list[Effect]:
    """Return the messages to child and parent that a command leads to, without their numbers."""
    return [replace(one, seq=0) for one in messages(flow, command)]


def messages(flow: Rehearsal, command: AnyCommand) -> list[StartChild | TellChild | TellParent]:
    told = effects(flow.state, flow.send(command))
    return [one for one in told if isinstance(one, StartChild | TellChild | TellParent)]


# Starting


def test_each_attempt_starts_a_child_of_its_own() -> None:
    flow = begun("  - {id: c, type: workflow, workflow: other, version: 3, retry: {max_attempts: 2, delay: 1s}}\n")
    flow.send(Report(point=flow.point("c").id, error=ev.Error(code="failed", message="broken")))
    flow.now += 1_000
    again = told(flow, Wake())
    assert again == [StartChild(flow.point("c").id, "other", 3, None, False, child_id("execution", "c", 2))]


def test_a_detached_child_is_started_and_not_waited_for() -> None:
    flow = rehearse(
        "  - {id: c, type: workflow, workflow: other, input: {n: '${input}'}, detached: true, next: o}\n"
        "  - {id: o, type: compute, output: '${nodes.c.execution_id}'}\n"
    )
    assert told(flow, Create(id="execution", input=4)) == [StartChild("", "other", None, {"n": 4}, True, CHILD)]
    assert flow.output == CHILD
    assert types(flow)[2:5] == ["NodeScheduled", "NodeStarted", "NodeCompleted"]
    assert only(flow, ev.PausePointOpened) == []


def test_a_detached_child_whose_input_cannot_be_worked_out_is_not_started() -> None:
    flow = rehearse("  - {id: c, type: workflow, workflow: other, input: '${input.missing}', detached: true}\n")
    assert told(flow, Create(id="execution", input={})) == []
    assert flow.error == "no_such_key"


def test_a_detached_child_gets_no_messages_after_its_start() -> None:
    flow = begun(
        "  - {id: c, type: workflow, workflow: other, detached: true, next: a}\n  - {id: a, type: f, next: b}\n"
        "  - {id: b, type: f}\n"
    )
    assert told(flow, Pause()) == []
    assert told(flow, Cancel()) == []


# Cancelling


def test_a_cancelled_parent_cancels_its_children() -> None:
    flow = begun(ONE)
    assert told(flow, Cancel(reason="enough")) == [TellChild(CHILD, "cancel", "enough")]


def test_a_child_that_has_reported_gets_no_cancel() -> None:
    flow = begun(ONE)
    flow.send(Pause())
    flow.send(Report(point=flow.point("c").id, output=1))
    assert told(flow, Cancel()) == []


@pytest.mark.parametrize(("then", "status"), [("end", "completed"), ("compute, output: '${input.missing}'", "failed")])
def test_an_execution_that_ends_without_its_child_cancels_it(then: str, status: str) -> None:
    flow = begun(BESIDE_A_CALL % then)
    assert told(flow, Complete(node="a", attempt=1)) == [TellChild(CHILD, "cancel", "")]
    assert flow.status == status


def test_a_scope_that_is_given_up_cancels_the_children_in_it() -> None:
    flow = begun(
        "  - {id: p, type: parallel, next: {error: e}, branches: [{id: x, body: [{id: a, type: f}]},"
        " {id: y, body: [{id: c, type: workflow, workflow: other}]}]}\n  - {id: e, type: f}\n"
    )
    failed = Fail(node="a:p.x", attempt=1, error=ev.Error(code="failed", message="no"))
    assert told(flow, failed) == [TellChild(child_id("execution", "c:p.y", 1), "cancel", "")]


def test_going_back_cancels_the_children_behind_and_starts_others() -> None:
    flow = begun("  - {id: a, type: f, next: c}\n  - {id: c, type: workflow, workflow: other}\n")
    flow.call("a")
    assert told(flow, Rewind(to="a", reason="again")) == [TellChild(CHILD, "cancel", "again")]
    started = told(flow, Complete(node="a", attempt=flow.state.node("a").attempt))
    assert [one.child != CHILD for one in started if isinstance(one, StartChild)] == [True]


def test_a_point_that_is_given_up_cancels_its_child() -> None:
    flow = begun(ONE)
    given_up = CancelPoint(point=flow.point("c").id, reason="not needed")
    assert told(flow, given_up) == [TellChild(CHILD, "cancel", "not needed")]


def test_a_child_that_takes_too_long_is_cancelled_and_tried_again_by_the_policy() -> None:
    flow = begun(
        "  - {id: c, type: workflow, workflow: other, timeout: 1h, retry: {max_attempts: 2, delay: 1s}, next: d}\n"
        "  - {id: d, type: f}\n"
    )
    flow.now += 3_600_000
    [cancelled] = told(flow, Wake())
    assert isinstance(cancelled, TellChild)
    assert (cancelled.child, cancelled.what) == (CHILD, "cancel")
    assert flow.state.node("c").status == "backoff"
    flow.now += 1_000
    assert [type(one) for one in told(flow, Wake())] == [StartChild]
    flow.now += 3_600_000
    flow.send(Wake())
    assert flow.error == "timeout"


def test_a_child_that_was_never_started_gets_no_cancel() -> None:
    flow = begun(
        "  - {id: a, type: f, next: [c, bad]}\n  - {id: c, type: workflow, workflow: other}\n"
        "  - {id: bad, type: compute, output: '${input.missing}'}\n"
    )
    assert told(flow, Complete(node="a", attempt=1)) == []
    assert flow.status == "failed"
    assert len(only(flow, ev.PausePointCancelled)) == 1


# Pausing


def test_a_parent_pauses_when_its_child_has() -> None:
    flow = begun(ONE)
    assert told(flow, Pause(reason="hold")) == [TellChild(CHILD, "pause", "hold", order=1)]
    assert flow.status == "pausing"
    point = flow.point("c").id
    assert flow.send(ChildPaused(point=point, order=1)) == [ev.PausePointHeld(point=point), ev.ExecutionPaused()]
    assert flow.status == "paused"
    assert flow.send(ChildPaused(point=point, order=1)) == []
    assert told(flow, Resume(reason="go")) == [TellChild(CHILD, "resume", "go")]
    assert not flow.point("c").held


def test_a_parent_pauses_when_its_child_is_closed_instead() -> None:
    flow = begun(ONE)
    flow.send(Pause())
    assert types(flow)[-1] == "ExecutionPausing"
    flow.send(Report(point=flow.point("c").id, output=1))
    assert types(flow)[-2:] == ["PausePointAnswered", "ExecutionPaused"]
    flow.send(Resume())
    assert flow.state.node("c").output == 1


def test_a_parent_waits_for_its_calls_and_its_children() -> None:
    flow = begun(BESIDE_A_CALL % "end")
    flow.send(Pause())
    flow.send(ChildPaused(point=flow.point("c").id, order=1))
    assert flow.status == "pausing"
    flow.call("a")
    assert flow.status == "paused"


def test_a_pause_can_stop_waiting_for_children() -> None:
    flow = begun(ONE)
    flow.send(Pause())
    assert flow.send(StopDraining()) == [ev.ExecutionPaused()]


def test_a_lost_instance_takes_no_child_with_it() -> None:
    flow = begun(ONE)
    flow.send(Pause())
    assert flow.send(Recover()) == []
    assert flow.status == "pausing"


def test_a_child_that_is_given_up_is_not_waited_for() -> None:
    flow = begun("  - {id: a, type: f, next: c}\n  - {id: c, type: workflow, workflow: other}\n")
    flow.call("a")
    flow.send(Pause())
    flow.send(Rewind(to="a"))
    assert flow.status == "paused"


def test_a_child_that_was_paused_before_has_to_confirm_as_well() -> None:
    flow = begun(ONE)
    flow.send(ChildPaused(point=flow.point("c").id))
    assert flow.status == "waiting"
    assert flow.point("c").held
    assert told(flow, Pause()) == [TellChild(CHILD, "pause", "Paused by an operator", order=1)]
    assert flow.status == "pausing"
    flow.send(ChildPaused(point=flow.point("c").id, order=1))
    assert flow.status == "paused"


def test_a_child_that_resumes_is_waited_for_again() -> None:
    flow = begun(ONE)
    point = flow.point("c").id
    flow.send(ChildPaused(point=point))
    assert flow.send(ChildResumed(point=point)) == [ev.PausePointReleased(point=point)]
    assert flow.send(ChildResumed(point=point)) == []
    flow.send(Pause())
    assert flow.status == "pausing"


def test_the_confirmation_of_an_earlier_pause_does_not_end_a_later_one() -> None:
    flow = begun(ONE)
    point = flow.point("c").id
    flow.send(Pause())
    flow.send(Resume())
    assert told(flow, Pause(reason="again")) == [TellChild(CHILD, "pause", "again", order=2)]
    assert flow.send(ChildPaused(point=point, order=1)) == []
    assert flow.status == "pausing"
    flow.send(ChildPaused(point=point, order=2))
    assert flow.status == "paused"


def test_the_confirmation_of_a_pause_that_is_over_changes_nothing() -> None:
    flow = begun(ONE)
    flow.send(Pause())
    flow.send(Resume())
    assert flow.send(ChildPaused(point=flow.point("c").id, order=1)) == []
    assert not flow.point("c").held


def test_a_pause_by_the_childs_own_operator_does_not_confirm_the_parents_pause() -> None:
    flow = begun(ONE)  # a later resume may still be on its way to the child
    flow.send(Pause())
    flow.send(Resume())
    flow.send(Pause())
    assert flow.send(ChildPaused(point=flow.point("c").id)) == []
    assert flow.status == "pausing"


def test_pauses_that_are_decided_together_have_their_own_numbers() -> None:
    flow = begun(ONE)
    events = [event for command in (Pause(), Resume(), Pause()) for event in flow.send(command)]
    orders = [(one.what, one.order) for one in effects(flow.state, events) if isinstance(one, TellChild)]
    assert orders == [("pause", 1), ("resume", 0), ("pause", 2)]


def test_only_a_child_is_held() -> None:
    flow = begun("  - {id: c, type: callback}\n")
    assert flow.send(ChildPaused(point=flow.point("c").id)) == []
    assert flow.send(ChildPaused(point="nowhere")) == []


def test_a_child_that_starts_when_the_gate_opens_gets_no_resume() -> None:
    flow = begun("  - {id: a, type: f, next: c}\n  - {id: c, type: workflow, workflow: other}\n")
    flow.send(Pause())
    flow.send(Complete(node="a", attempt=1))
    assert [type(one) for one in told(flow, Resume())] == [StartChild]


# Telling the parent


def child(nodes: str, *, point: str | None = "point") -> Rehearsal:
    flow = rehearse(nodes)
    flow.send(Create(id="child", input={}, parent="parent", parent_point=point))
    return flow


def test_a_child_reports_its_result() -> None:
    flow = child("  - {id: a, type: f}\n")
    done = effects(flow.state, flow.send(Complete(node="a", attempt=1, output=7)))
    assert done == [StopCalls(""), Close("completed"), TellParent("parent", "point", "closed", output=7, seq=5)]
    assert isinstance(flow.log[5][1], ev.ExecutionCompleted)


def test_a_child_reports_its_failure() -> None:
    flow = child("  - {id: a, type: f}\n")
    [failed] = told(flow, Fail(node="a", attempt=1, error=ev.Error(code="failed", message="no")))
    assert isinstance(failed, TellParent)
    assert (failed.what, failed.error) == ("closed", flow.state.facts.error)


def test_a_cancelled_child_is_a_failure_that_is_not_tried_again() -> None:
    flow = child("  - {id: a, type: f}\n")
    error = ev.Error(code="child_cancelled", message="enough", retryable=False)
    assert told(flow, Cancel(reason="enough")) == [TellParent("parent", "point", "closed", error=error)]


def test_a_child_reports_its_pause_and_its_resume() -> None:
    flow = child("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    assert told(flow, Pause()) == []
    assert told(flow, Complete(node="a", attempt=1)) == [TellParent("parent", "point", "paused")]
    assert told(flow, Resume()) == [TellParent("parent", "point", "resumed")]


def test_a_child_reports_which_pause_of_its_parent_it_confirms() -> None:
    flow = child("  - {id: a, type: f, next: b}\n  - {id: b, type: f, next: c}\n  - {id: c, type: f}\n")
    flow.send(Pause(order=3))
    assert told(flow, Complete(node="a", attempt=1)) == [TellParent("parent", "point", "paused", order=3)]
    flow.send(Resume())
    flow.send(Pause())
    assert told(flow, Complete(node="b", attempt=1)) == [TellParent("parent", "point", "paused")]


def test_a_paused_child_confirms_its_parents_pause_at_once() -> None:
    flow = child("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    flow.send(Pause(reason="mine"))
    flow.send(Complete(node="a", attempt=1))
    assert told(flow, Pause(order=1, reason="yours")) == [TellParent("parent", "point", "paused", order=1)]
    assert (flow.status, flow.state.facts.paused_reason) == ("paused", "mine")
    assert told(flow, Pause(order=1)) == []
    assert told(flow, Pause()) == []


def test_a_pausing_child_confirms_once_it_is_paused() -> None:
    flow = child("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    flow.send(Pause())
    assert told(flow, Pause(order=2)) == []
    assert told(flow, Complete(node="a", attempt=1)) == [TellParent("parent", "point", "paused", order=2)]


def test_a_child_that_resumes_in_the_same_step_reports_both() -> None:
    flow = child("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    flow.send(Pause())
    flow.send(Complete(node="a", attempt=1))
    events = [event for command in (Pause(order=1), Resume()) for event in flow.send(command)]
    said = [one.what for one in effects(flow.state, events) if isinstance(one, TellParent)]
    assert said == ["paused", "resumed"]


def test_a_message_has_the_number_of_its_event() -> None:
    flow = begun(ONE)
    for command in (Pause(), Resume(), Cancel()):
        [message] = messages(flow, command)
        kinds = (ev.ExecutionPausing, ev.ExecutionResumed, ev.PausePointCancelled)
        assert isinstance(flow.log[message.seq][1], kinds)


def test_a_detached_child_knows_its_parent_and_reports_nothing() -> None:
    flow = child("  - {id: a, type: compute, output: '${execution.parent_id}'}\n", point=None)
    assert flow.output == "parent"
    assert effects(flow.state, [event for _, event in flow.log]) == [StopCalls(""), Close("completed")]
