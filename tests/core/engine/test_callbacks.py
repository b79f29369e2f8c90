"""Callbacks: a function is called with a callback address, and the node waits for the callback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.core.engine.commands import (
    Ask,
    Beat,
    CancelPoint,
    Complete,
    Create,
    Fail,
    Pause,
    Recover,
    Report,
    Resume,
    StartQueued,
    StopDraining,
    Wake,
)
from layover.core.engine.effects import MakeCall, OpenPoint, StopCall, effects
from layover.core.engine.free_slots import FreeSlots
from layover.core.engine.timing import wake_at

from .flows import only, rehearse, types

if TYPE_CHECKING:
    from layover.core.engine.commands import AnyCommand
    from layover.core.engine.effects import Effect
    from layover.testing import Rehearsal

ERROR = ev.Error(code="failed", type="OSError", message="lost")
ONE = "  - {id: c, type: callback, call: send, next: d}\n  - {id: d, type: f}\n"
RETRIED = "  - {id: c, type: callback, call: send, %s retry: {max_attempts: 2, delay: 1s}}\n"
CONCURRENT = "{resume: concurrent}"


def begun(nodes: str, settings: str = "{}") -> Rehearsal:
    flow = rehearse(nodes, settings=settings)
    flow.send(Create(id="execution", input={"id": 7}))
    return flow


def told(flow: Rehearsal, command: AnyCommand) -> list[Effect]:
    return effects(flow.state, flow.send(command))


def calls(flow: Rehearsal, command: AnyCommand) -> list[Effect]:
    return [one for one in told(flow, command) if isinstance(one, MakeCall | StopCall)]


# The call


def test_the_point_is_open_before_the_call_is_made() -> None:
    flow = rehearse(
        "  - {id: c, type: callback, call: send, input: {n: 1}, timeout: 5s, deadline: 1h, on_deadline: fail}\n"
    )
    done = told(flow, Create(id="execution"))
    point = flow.point("c")
    assert types(flow)[2:] == ["NodeScheduled", "NodeStarted", "PausePointOpened"]
    assert done == [MakeCall("c", "send", 1, {"n": 1}, flow.now + 5_000, point=point.id), OpenPoint(point)]
    assert (point.kind, point.status, point.deadline) == ("callback", "open", flow.now + 3_600_000)
    assert (flow.state.node("c").status, flow.status) == ("running", "running")


def test_a_callback_node_waits_after_its_call_has_returned() -> None:
    flow = begun(ONE)
    assert flow.send(Complete(node="c", attempt=1, output="sent")) == [ev.NodeHandedOver(node="c", output="sent")]
    assert (flow.state.node("c").status, flow.status) == ("waiting", "waiting")
    flow.send(Report(point=flow.point("c").id, output=3))
    assert flow.state.node("c").output == 3


def test_a_callback_node_without_a_function_only_waits() -> None:
    flow = begun("  - {id: c, type: callback, input: {n: 1}}\n")
    assert (flow.state.node("c").status, flow.point("c").details["input"]) == ("waiting", {"n": 1})
    flow.send(Report(point=flow.point("c").id, output=3))
    assert flow.output == 3


def test_a_callback_call_waits_for_a_slot_of_its_function() -> None:
    flow = rehearse(ONE)
    flow.slots = FreeSlots(1, known={"callback"})
    flow.send(Create(id="execution"))
    assert (flow.state.node("c").status, flow.waiting) == ("queued", [])
    flow.slots = FreeSlots(1, known={"send"})
    assert calls(flow, StartQueued(node="c")) == [MakeCall("c", "send", 1, None, point=flow.point("c").id)]


def test_the_callback_address_is_passed_as_a_token() -> None:
    flow = begun("  - {id: c, type: callback, call: send, input: ['${callback.url}', {t: '${callback.token}'}]}\n")
    assert flow.state.node("c").input == [{"$token": "url"}, {"t": {"$token": "token"}}]


@pytest.mark.parametrize("given", ["see ${callback.url}", "${callback.token}/x", "${callback.url + 'x'}"])
def test_a_token_cannot_be_part_of_a_longer_text(given: str) -> None:
    flow = begun(f'  - {{id: c, type: callback, call: send, input: "{given}"}}\n')
    assert flow.error in ("invalid_argument", "no_such_overload")
    assert only(flow, ev.PausePointOpened) == []


def test_a_function_with_a_callback_cannot_ask() -> None:
    flow = begun(ONE)
    flow.send(Ask(node="c", attempt=1, key="size"))
    assert flow.error == "cannot_rest"


# A reply while the call is out


def test_a_reply_is_taken_while_the_call_is_out_and_applied_after_it() -> None:
    flow = begun(ONE)
    assert calls(flow, Report(point=flow.point("c").id, output=3)) == []
    assert types(flow)[-1] == "PausePointAnswered"
    flow.send(Complete(node="c", attempt=1))
    assert types(flow)[-5:] == [
        "NodeHandedOver",
        "PausePointApplied",
        "NodeCompleted",
        "NodeScheduled",
        "NodeStarted",
    ]


def test_in_a_concurrent_workflow_a_callback_stops_its_call() -> None:
    flow = begun(ONE, CONCURRENT)
    assert calls(flow, Report(point=flow.point("c").id, output=3))[0] == StopCall("c")
    assert flow.state.node("c").output == 3
    assert flow.send(Complete(node="c", attempt=1)) == []


def test_a_failed_call_does_not_matter_when_the_reply_is_there() -> None:
    flow = begun(ONE)
    flow.send(Report(point=flow.point("c").id, output=3))
    flow.send(Fail(node="c", attempt=1, error=ERROR))
    assert flow.state.node("c").output == 3


def test_a_call_that_takes_too_long_does_not_matter_when_the_reply_is_there() -> None:
    flow = begun("  - {id: c, type: callback, call: send, timeout: 5s}\n")
    flow.send(Report(point=flow.point("c").id, output=3))
    flow.now += 5_000
    flow.send(Wake())
    assert flow.output == 3


# Failing


def test_a_failed_call_gives_its_point_up_and_is_made_again_with_another() -> None:
    flow = begun(RETRIED % "")
    first = flow.point("c").id
    assert calls(flow, Fail(node="c", attempt=1, error=ERROR)) == []
    assert [type(event).__name__ for _, event in flow.log[-2:]] == ["PausePointCancelled", "NodeFailed"]
    assert (flow.state.node("c").status, flow.waiting) == ("backoff", [])
    flow.now += 1_000
    flow.send(Wake())
    assert flow.point("c").id != first
    assert flow.send(Report(point=first, output=1)) == []


def test_a_call_that_takes_too_long_has_failed() -> None:
    flow = begun(RETRIED % "timeout: 5s,")
    flow.skip(5_000)
    error = flow.state.node("c").error
    assert error is not None
    assert (error.code, flow.waiting) == ("timeout", [])


def test_a_reply_that_is_a_failure_is_tried_again() -> None:
    flow = begun(RETRIED % "")
    flow.send(Complete(node="c", attempt=1))
    flow.send(Report(point=flow.point("c").id, error=ERROR))
    assert flow.state.node("c").status == "backoff"


def test_a_deadline_counts_from_the_opening_and_stops_the_call() -> None:
    flow = begun(
        "  - {id: c, type: callback, call: send, deadline: 1h, on_deadline: continue, next: d}\n  - {id: d, type: f}\n"
    )
    flow.now += 3_600_000
    assert calls(flow, Wake())[0] == StopCall("c")
    assert flow.state.node("c").status == "completed"


def test_a_point_that_is_given_up_stops_the_call() -> None:
    flow = begun(ONE)
    assert StopCall("c") in told(flow, CancelPoint(point=flow.point("c").id))
    assert flow.error == "pause_cancelled"


def test_a_call_that_is_over_is_not_stopped() -> None:
    flow = begun(ONE)
    flow.send(Complete(node="c", attempt=1))
    assert StopCall("c") not in told(flow, CancelPoint(point=flow.point("c").id))


# Recovering


def test_a_lost_call_is_made_again_for_the_same_point() -> None:
    flow = begun(ONE)
    point = flow.point("c").id
    assert calls(flow, Recover()) == [MakeCall("c", "send", 2, None, point=point)]
    assert (flow.waiting, flow.state.node("c").recoveries) == (["c"], 1)
    flow.send(Report(point=point, output=3))
    flow.send(Complete(node="c", attempt=2))
    assert flow.state.node("c").output == 3


def test_a_callback_that_has_arrived_prevents_another_call() -> None:
    flow = begun(ONE)
    flow.send(Report(point=flow.point("c").id, output=3))
    assert [one.node for one in calls(flow, Recover()) if isinstance(one, MakeCall)] == ["d"]


def test_a_callback_that_arrives_while_the_call_is_queued_prevents_the_call() -> None:
    flow = begun(ONE)
    flow.slots = FreeSlots(0)
    flow.send(Recover())
    assert flow.state.node("c").status == "queued"
    flow.send(Report(point=flow.point("c").id, output=3))
    assert flow.state.node("c").status == "completed"


def test_a_call_that_keeps_losing_its_instance_leaves_no_point() -> None:
    flow = begun(ONE, "{max_recoveries: 1}")
    flow.send(Recover())
    flow.send(Recover())
    assert (flow.error, flow.waiting) == ("max_recoveries", [])


def test_a_paused_execution_waits_for_the_call_and_not_for_the_reply() -> None:
    flow = begun(ONE)
    flow.send(Pause())
    assert flow.status == "pausing"
    flow.send(Complete(node="c", attempt=1))
    assert flow.status == "paused"


def test_a_call_that_was_in_doubt_is_made_again_for_the_same_point() -> None:
    flow = begun(ONE)
    point = flow.point("c").id
    flow.send(Pause())
    flow.send(StopDraining())
    assert calls(flow, Resume()) == [MakeCall("c", "send", 2, None, point=point)]


# Heartbeats

BEATING = RETRIED % "heartbeat: 40s,"


def test_a_callback_without_a_heartbeat_fails() -> None:
    flow = begun(BEATING)
    assert wake_at(flow.state) == flow.now + 40_000
    flow.now += 40_000
    assert calls(flow, Wake()) == [StopCall("c")]
    error = flow.state.node("c").error
    assert error is not None
    assert (error.code, flow.state.node("c").status) == ("heartbeat_timeout", "backoff")
    assert len(only(flow, ev.PausePointExpired)) == 1


def test_a_heartbeat_keeps_a_callback_waiting() -> None:
    flow = begun(BEATING)
    flow.call("c")
    point = flow.point("c").id
    for _ in range(3):
        flow.now += 39_999
        assert flow.send(Wake()) == []
        assert flow.send(Beat(point=point)) == [ev.PausePointBeat(point=point, beat_by=flow.now + 40_000)]
    assert flow.skip(40_000).state.node("c").status == "backoff"


def test_a_beat_soon_after_another_changes_nothing() -> None:
    flow = begun(BEATING)
    point = flow.point("c").id
    flow.now += 9_999
    assert flow.send(Beat(point=point)) == []
    flow.now += 1
    assert len(flow.send(Beat(point=point))) == 1
    assert flow.send(Beat(point=point)) == []


@pytest.mark.parametrize("nodes", [ONE, "  - {id: c, type: form}\n"])
def test_a_heartbeat_counts_only_for_a_callback_that_declares_one(nodes: str) -> None:
    flow = begun(nodes)
    flow.now += 100_000
    assert flow.send(Beat(point=flow.point("c").id)) == []
    assert flow.send(Beat(point="nowhere")) == []


def test_a_callback_that_has_arrived_needs_no_heartbeat() -> None:
    flow = begun(BEATING)
    point = flow.point("c").id
    flow.send(Report(point=point, output=1))
    flow.now += 100_000
    assert flow.send(Beat(point=point)) == []
    assert flow.send(Wake()) == []


def test_of_deadline_and_heartbeat_the_earlier_counts() -> None:
    flow = begun("  - {id: c, type: callback, heartbeat: 2h, deadline: 1h, on_deadline: continue}\n").skip(10_000_000)
    assert flow.status == "completed"
    flow = begun("  - {id: c, type: callback, heartbeat: 1h, deadline: 2h, on_deadline: continue}\n")
    flow.now += 10_000_000
    flow.send(Wake())
    assert flow.error == "heartbeat_timeout"
