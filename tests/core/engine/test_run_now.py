"""Waits for time that an operator ends, and retries that are cancelled."""

from __future__ import annotations

import pytest

from layover.core.engine import events as ev
from layover.core.engine.commands import CancelRetry, Create, Pause, RunNow
from layover.core.engine.run_now import waits_for_time

from .flows import fails_times, only, rehearse

_DELAYS = """
  - {id: s, type: compute, output: 1, next: [a, b]}
  - {id: a, type: delay, duration: 3d, next: c}
  - {id: b, type: delay, duration: 1h}
  - {id: c, type: form}
"""


def test_a_delay_is_run_now_and_the_log_says_by_whom() -> None:
    flow = rehearse(_DELAYS).start()
    assert waits_for_time(flow.state) == ("a", "b")
    flow.send(RunNow(node="a", by="ann", reason="hurry"))
    assert only(flow, ev.WaitSkipped) == [ev.WaitSkipped(node="a", by="ann", reason="hurry")]
    assert flow.waiting == ["b", "c"]
    assert flow.send(RunNow(node="a")) == []


def test_without_a_node_all_that_waits_for_time_goes_on() -> None:
    flow = rehearse(_DELAYS).start()
    flow.send(RunNow(by="ann"))
    assert flow.waiting == ["c"]
    assert waits_for_time(flow.state) == ()


def test_a_delayed_start_is_run_now() -> None:
    flow = rehearse(_DELAYS)
    flow.send(Create(id="x", start_at=flow.now + 5_000))
    assert flow.status == "pending"
    flow.send(RunNow())
    assert flow.waiting == ["a", "b"]


def test_an_execution_that_a_limit_holds_is_not_run_now() -> None:
    flow = rehearse(_DELAYS)
    flow.send(Create(id="x", start_at=flow.now + 5_000, hold=True))
    assert flow.send(RunNow()) == []


@pytest.mark.parametrize("wanted", ["", "a"])
def test_a_retry_is_made_now(wanted: str) -> None:
    flow = rehearse(
        "  - {id: a, type: f, retry: {max_attempts: 3, delay: 2d, max_delay: 2d}}\n", {"f": fails_times(1)}
    ).start()
    assert waits_for_time(flow.state) == ("a",)
    flow.send(RunNow(node=wanted))
    flow.run()
    assert flow.status == "completed"
    assert [one.cause for one in only(flow, ev.NodeScheduled) if isinstance(one, ev.NodeScheduled)] == [
        "reached",
        "retried",
    ]


def test_nothing_is_run_now_behind_a_closed_gate() -> None:
    flow = rehearse(_DELAYS).start()
    flow.send(Pause())
    assert flow.send(RunNow()) == []
    assert flow.send(RunNow(node="a")) == []


def test_a_cancelled_retry_leaves_by_the_error_port() -> None:
    flow = rehearse(
        "  - {id: a, type: f, retry: {max_attempts: 9, delay: 2d, max_delay: 2d}, next: {done: b, error: c}}\n"
        "  - {id: b, type: form}\n  - {id: c, type: form}\n",
        {"f": fails_times(5)},
    ).start()
    flow.send(CancelRetry(node="a", by="ann"))
    assert flow.waiting == ["c"]
    assert flow.state.node("a").attempt == 1
    assert flow.send(CancelRetry(node="a")) == []


def test_a_cancelled_retry_without_a_way_out_fails_the_execution() -> None:
    flow = rehearse("  - {id: a, type: f, retry: forever}\n", {"f": fails_times(5)}).start()
    flow.send(CancelRetry(node="a"))
    assert flow.status == "failed"
    assert flow.send(CancelRetry(node="a")) == []
