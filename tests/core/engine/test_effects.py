"""The effects that the runtime has to carry out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine.commands import (
    Cancel,
    Checkpoint,
    Complete,
    Create,
    Fail,
    Record,
    Recover,
    Retry,
    Rewind,
    Wake,
)
from layover.core.engine.effects import Close, ClosePoint, MakeCall, OpenPoint, StartChild, StopCalls, effects
from layover.core.engine.events import Error
from layover.core.ids import child_id

from .flows import rehearse

if TYPE_CHECKING:
    from layover.core.engine.commands import AnyCommand
    from layover.core.engine.effects import Effect
    from layover.testing import Rehearsal


def send(flow: Rehearsal, command: AnyCommand) -> list[Effect]:
    return effects(flow.state, flow.send(command))


def test_a_started_node_is_a_call() -> None:
    flow = rehearse("  - {id: a, type: f, input: {x: 1}, timeout: 5s, next: b}\n  - {id: b, type: g}\n")
    assert send(flow, Create(id="execution")) == [MakeCall("a", "f", 1, {"x": 1}, flow.now + 5_000)]
    assert send(flow, Complete(node="a", attempt=1)) == [MakeCall("b", "g", 1, None)]


def test_a_call_gets_the_journal_and_checkpoint_of_earlier_attempts() -> None:
    flow = rehearse(
        "  - {id: a, type: f, heartbeat: 5s, retry: {max_attempts: 2, delay: 1s}, next: b}\n  - {id: b, type: f}\n"
    )
    assert send(flow, Create(id="execution")) == [MakeCall("a", "f", 1, None, heartbeat=5_000)]
    flow.send(Checkpoint(node="a", attempt=1, data={"row": 3}))
    flow.send(Record(node="a", attempt=1, key="k", value=1))
    told = MakeCall("a", "f", 2, None, heartbeat=5_000, checkpoint={"row": 3}, journal={"k": 1})
    assert send(flow, Recover()) == [told]
    flow.send(Fail(node="a", attempt=2, error=Error(code="failed", message="no")))
    flow.now += 1_000
    assert send(flow, Wake()) == [replace(told, attempt=3)]
    flow.send(Fail(node="a", attempt=3, error=Error(code="failed", message="no")))
    assert flow.status == "failed"
    assert send(flow, Retry()) == [replace(told, attempt=4)]
    flow.send(Complete(node="a", attempt=4))
    node = flow.state.node("a")
    assert (node.checkpoint, node.journal) == (None, {})


def test_a_rewind_drops_the_journal_and_checkpoint_of_earlier_attempts() -> None:
    flow = rehearse("  - {id: a, type: f}\n")
    flow.send(Create(id="execution"))
    flow.send(Checkpoint(node="a", attempt=1, data=1))
    flow.send(Record(node="a", attempt=1, key="k", value=1))
    assert MakeCall("a", "f", 2, None) in send(flow, Rewind(to="a"))


def test_a_point_is_opened_and_closed_with_notifications() -> None:
    flow = rehearse("  - {id: a, type: form}\n")
    opened = send(flow, Create(id="execution"))
    point = flow.point("a")
    assert opened == [OpenPoint(point)]
    assert send(flow, Cancel()) == [ClosePoint(point.id, "cancelled"), StopCalls(""), Close("cancelled")]


def test_a_child_is_started() -> None:
    flow = rehearse("  - {id: c, type: workflow, workflow: other, input: {a: '${input}'}}\n")
    started = send(flow, Create(id="execution", input=4))[-1]
    child = child_id("execution", "c", 1)
    assert started == StartChild(flow.point("c").id, "other", None, {"a": 4}, False, child, seq=3)
    assert flow.point("c").details["child"] == child


def test_a_container_makes_no_call_of_its_own() -> None:
    flow = rehearse("  - {id: l, type: loop, times: 2, body: [{id: a, type: f}]}\n")
    assert send(flow, Create(id="execution")) == [MakeCall("a:l.0", "f", 1, None)]


def test_the_calls_of_a_branch_that_is_given_up_are_stopped() -> None:
    flow = rehearse(
        "  - {id: p, type: parallel, next: {error: e}, branches: [{id: x, body: [{id: a, type: f}]},"
        " {id: y, body: [{id: b, type: f}]}]}\n  - {id: e, type: compute, output: 1}\n"
    )
    flow.send(Create(id="execution"))
    told = send(flow, Fail(node="a:p.x", attempt=1, error=Error(code="failed", message="no")))
    assert [one for one in told if isinstance(one, StopCalls)] == [
        StopCalls("p.x"),
        StopCalls("p.y"),
        StopCalls(""),
    ]
