"""Attempts: retries, their delays, incidents, timeouts, recoveries."""

from __future__ import annotations

from layover.core.engine import events as ev
from layover.core.engine.commands import Complete, Create, Recover, Resume, StartLeg, Wake
from layover.core.engine.timing import wake_at

from .flows import failing, fails_times, only, rehearse


def test_a_failed_attempt_is_made_again_after_its_delay() -> None:
    flow = rehearse(
        "  - {id: a, type: f, retry: {max_attempts: 3, delay: 10s, multiplier: 3}}\n", {"f": fails_times(2)}
    )
    flow.start()
    assert flow.state.node("a").status == "backoff"
    assert flow.status == "waiting"
    assert wake_at(flow.state) == flow.now + 10_000
    flow.skip(10_000)
    assert wake_at(flow.state) == flow.now + 30_000
    assert flow.skip(30_000).output == "done"


def test_attempts_are_exhausted_after_max_attempts_calls() -> None:
    flow = rehearse("  - {id: a, type: f, retry: {max_attempts: 3, delay: 1s}}\n", {"f": failing}).start().skip(60_000)
    assert flow.status == "failed"
    assert len(only(flow, ev.NodeStarted)) == 3


def test_an_ignored_error_is_not_tried_again() -> None:
    flow = rehearse("  - {id: a, type: f, retry: {ignore: [ValueError]}}\n", {"f": failing}).start()
    assert flow.status == "failed"


def test_an_exhausted_node_can_wait_for_an_operator() -> None:
    flow = rehearse(
        "  - {id: a, type: f, retry: {max_attempts: 1, on_exhausted: pause}}\n", {"f": fails_times(1, "mended")}
    ).start()
    assert flow.status == "paused"
    assert wake_at(flow.state) is None
    flow.send(Resume(by="op"))
    assert flow.run().output == "mended"


def test_a_call_past_its_timeout_fails_and_its_late_result_is_fenced() -> None:
    flow = rehearse("  - {id: a, type: f, timeout: 5s}\n")
    flow.send(Create(id="execution"))
    assert wake_at(flow.state) == flow.now + 5_000
    flow.now += 5_000
    flow.send(Wake())
    assert flow.status == "failed"
    assert flow.error == "timeout"


def test_a_wake_before_its_time_changes_nothing() -> None:
    flow = rehearse("  - {id: a, type: f, timeout: 5s}\n")
    flow.send(Create(id="execution"))
    assert flow.send(Wake()) == []


def test_a_lost_call_is_made_again_and_costs_no_attempt() -> None:
    flow = rehearse("  - {id: a, type: f, retry: {max_attempts: 1}}\n", {"f": lambda _: "done"})
    flow.send(Create(id="execution"))
    flow.send(Recover())
    node = flow.state.node("a")
    assert (node.attempt, node.failures, node.recoveries) == (2, 0, 1)
    assert flow.run().output == "done"


def test_a_node_that_keeps_losing_its_instance_fails() -> None:
    flow = rehearse("  - {id: a, type: f}\n", settings="{max_recoveries: 2}")
    flow.send(Create(id="execution"))
    for _ in range(3):
        flow.send(Recover())
    assert flow.status == "failed"
    assert flow.error == "max_recoveries"


def test_losses_that_a_leg_has_noted_are_known_until_there_is_progress() -> None:
    flow = rehearse("  - {id: a, type: f}\n  - {id: b, type: f}\nedges: [{from: a, to: b}]\n")
    flow.send(Create(id="execution"))
    assert flow.state.counts["losses"] == 0
    for _ in range(2):
        flow.send(StartLeg(cause="recovered", instance="i", losses=2))
        flow.send(Recover())
        assert flow.state.counts["losses"] == 2
    flow.send(Complete(node="a", attempt=3, output=1))
    assert flow.state.counts["losses"] == 0
    flow.send(StartLeg(cause="recovered", instance="i", losses=1))
    assert flow.state.counts["losses"] == 1
    flow.send(StartLeg(cause="recovered", instance="i"))
    assert flow.state.counts["losses"] == 0
