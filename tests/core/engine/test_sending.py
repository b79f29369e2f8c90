"""The `send` node: what it sends is in the log; with `wait` it goes on with the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.effects import SendLetter, effects
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from layover.core.notifications import Sent

from .flows import only, rehearse, types

if TYPE_CHECKING:
    from layover.testing import Rehearsal

MAIL = "  - {id: m, type: send, via: mail, to: ['${input.email}'], subject: Hi, text: 'Order ${input.id}'%s}\n"
GIVEN = {"id": 7, "email": "ann@example.org"}


def sent(flow: Rehearsal) -> list[SendLetter]:
    """Return everything that was to be sent, as the events of the whole log say it."""
    found: list[SendLetter] = []
    state = ExecutionState(flow.plan)
    for entry in flow.log:
        fold(state, [entry])
        found += [one for one in effects(state, [entry[1]]) if isinstance(one, SendLetter)]
    return found


def delivered(flow: Rehearsal, error: str = "") -> list[ev.AnyEvent]:
    return flow.send(cmd.Delivered(point=flow.point("m").id, id="d-1", at=1_234, error=error))


def test_a_node_that_waits_goes_on_with_the_outcome() -> None:
    flow = rehearse(MAIL % "").start(GIVEN)
    assert flow.status == "waiting"
    point = flow.point("m")
    assert (point.kind, point.deadline) == ("delivery", None)
    delivered(flow)
    assert flow.output == {"id": "d-1", "at": 1_234}


def test_what_is_sent_is_rendered_once_and_kept_in_the_log() -> None:
    flow = rehearse(MAIL % ", data: {n: '${input.id}'}").start(GIVEN)
    [letter] = sent(flow)
    [opened] = only(flow, ev.PausePointOpened)
    assert letter == SendLetter(
        flow.point("m").id,
        Sent(via="mail", to=("ann@example.org",), subject="Hi", text="Order 7", data={"n": 7}, awaited=True),
        flow.log.index((flow.now, opened)),
    )


def test_a_node_that_does_not_wait_is_done_at_once() -> None:
    flow = rehearse(MAIL % ", wait: false").start(GIVEN)
    assert types(flow)[-4:] == ["NodeScheduled", "NodeStarted", "NodeCompleted", "ExecutionCompleted"]
    assert list(cast("dict[str, object]", flow.output)) == ["id"]
    [letter] = sent(flow)
    assert (letter.point, letter.sent.awaited, letter.sent.text) == ("", False, "Order 7")


def test_a_delivery_that_is_given_up_leaves_by_the_error_port() -> None:
    flow = rehearse(MAIL % ", next: {error: sorry}" + "  - {id: sorry, type: compute, output: '${errors.m.code}'}\n")
    flow.start(GIVEN)
    delivered(flow, "no such address")
    assert flow.output == "delivery_failed"


def test_without_an_error_port_it_fails_the_execution() -> None:
    flow = rehearse(MAIL % "").start(GIVEN)
    delivered(flow, "no such address")
    error = flow.state.facts.error
    assert error is not None
    assert (flow.status, error.code, error.message) == ("failed", "delivery_failed", "no such address")


def test_a_retry_sends_anew() -> None:
    flow = rehearse(MAIL % ", retry: {max_attempts: 2, delay: 1s}").start(GIVEN)
    first = flow.point("m").id
    delivered(flow, "not now")
    flow.skip(1_000)
    assert flow.point("m").id != first
    assert flow.send(cmd.Delivered(point=first, id="d-0", at=1)) == []
    delivered(flow)
    assert flow.status == "completed"
    assert len(sent(flow)) == 2


def test_a_timeout_is_a_failure_and_a_late_outcome_changes_nothing() -> None:
    flow = rehearse(MAIL % ", timeout: 1h").start(GIVEN)
    point = flow.point("m").id
    flow.skip(3_600_000)
    assert flow.error == "timeout"
    assert flow.send(cmd.Delivered(point=point, id="d-1", at=1)) == []


def test_an_outcome_is_kept_while_an_operator_holds_the_execution() -> None:
    flow = rehearse(MAIL % "").start(GIVEN)
    flow.send(cmd.Pause(by="op"))
    delivered(flow)
    assert flow.status == "paused"
    flow.send(cmd.Resume(by="op"))
    assert flow.output == {"id": "d-1", "at": 1_234}


def test_cancelled_it_takes_no_outcome() -> None:
    flow = rehearse(MAIL % "").start(GIVEN)
    point = flow.point("m").id
    flow.send(cmd.Cancel())
    assert flow.send(cmd.Delivered(point=point, id="d-1", at=1)) == []
    assert flow.status == "cancelled"


def test_rewound_it_sends_once_more_and_takes_the_new_outcome() -> None:
    flow = rehearse(MAIL % "").start(GIVEN)
    first = flow.point("m").id
    flow.send(cmd.Rewind(to="m"))
    assert flow.send(cmd.Delivered(point=first, id="d-0", at=1)) == []
    delivered(flow)
    assert flow.status == "completed"
    assert len(sent(flow)) == 2


def test_a_repeated_outcome_changes_nothing() -> None:
    flow = rehearse(MAIL % ", next: hold" + "  - {id: hold, type: form}\n").start(GIVEN)
    point = flow.point("m").id
    delivered(flow)
    assert flow.send(cmd.Delivered(point=point, id="d-1", at=1)) == []


@pytest.mark.parametrize("point", ["callback", "form"])
def test_an_outcome_answers_no_other_point(point: str) -> None:
    flow = rehearse(f"  - {{id: m, type: {point}}}\n").start(GIVEN)
    assert delivered(flow) == []


@pytest.mark.parametrize("email", ["nobody", "people", "a@b\nBcc: c@d", 3])
def test_an_invalid_recipient_fails_the_node_before_anything_is_sent(email: object) -> None:
    flow = rehearse(MAIL % "").start({"id": 7, "email": email})
    assert flow.error == "invalid_argument"
    assert sent(flow) == []


def test_a_report_of_a_callback_is_no_outcome() -> None:
    flow = rehearse(MAIL % "").start(GIVEN)
    assert flow.send(cmd.Report(point=flow.point("m").id, output=1)) == []
