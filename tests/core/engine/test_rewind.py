"""Retry, rewind, and the timeout of an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.commands import Cancel, Complete, Create, Retry, Rewind
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState
from layover.core.engine.timing import wake_at

from .flows import fails_times, only, rehearse

if TYPE_CHECKING:
    from layover.testing import Behaviour


def test_a_retry_continues_from_the_failed_node() -> None:
    calls: list[object] = []

    def count(given: object) -> object:
        calls.append(given)
        return given

    flow = rehearse(
        "  - {id: a, type: count, input: 1, next: b}\n  - {id: b, type: f, next: c}\n  - {id: c, type: count}\n",
        {"f": fails_times(1, "mended"), "count": count},
    ).start()
    assert flow.status == "failed"
    flow.send(Retry(by="op"))
    assert flow.run().status == "completed"
    assert calls == [1, None]


def test_a_retry_continues_a_failure_deep_inside_containers() -> None:
    flow = rehearse(
        "  - {id: l, type: loop, for_each: input, body: [{id: a, type: f, input: '${item}'}]}\n",
        {"f": fails_on_second_call()},
    ).start(["x", "y", "z"])
    assert flow.state.facts.failed_node == "a:l.1"
    flow.send(Retry())
    assert flow.run().output == ["x", "y", "z"]
    assert len(only(flow, ev.NodeStarted)) == 1 + 4


def fails_on_second_call() -> Behaviour:
    calls = 0

    def behave(given: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise OSError("once")
        return given

    return behave


def test_a_wait_at_the_failure_is_open_again_after_a_retry() -> None:
    flow = rehearse(
        "  - {id: s, type: compute, output: 0, next: [a, w]}\n  - {id: a, type: f}\n  - {id: w, type: form}\n",
        {"f": fails_times(1)},
    ).start()
    assert flow.status == "failed"
    flow.send(Retry())
    flow.run()
    assert flow.waiting == ["w"]
    assert flow.answer("w", 5).output == {"a": "done", "w": 5}


def test_a_retry_of_an_execution_that_has_not_failed_changes_nothing() -> None:
    flow = rehearse("  - {id: w, type: form}\n").start()
    assert flow.send(Retry()) == []
    flow.answer("w", 1)
    assert flow.send(Retry()) == []


REWOUND = """
  - {id: a, type: form, next: b}
  - {id: b, type: compute, output: "${nodes.a + 1}", next: [c, d]}
  - {id: c, type: compute, output: "${nodes.b * 10}", next: z}
  - {id: d, type: form, next: z}
  - {id: z, type: compute, output: "${[nodes.c, nodes.d]}"}
"""


def test_a_rewind_drops_later_results_and_continues_from_the_node() -> None:
    flow = rehearse(REWOUND).start().answer("a", 1)
    assert flow.waiting == ["d"]
    flow.send(Rewind(to="a", reason="wrong number"))
    assert flow.waiting == ["a"]
    assert only(flow, ev.PausePointCancelled)
    assert flow.answer("a", 4).answer("d", "ok").output == [50, "ok"]


def test_a_completed_execution_can_be_rewound() -> None:
    flow = rehearse(REWOUND).start().answer("a", 1).answer("d", "x")
    assert flow.output == [20, "x"]
    flow.send(Rewind(to="d"))
    assert flow.waiting == ["d"]
    assert flow.answer("d", "y").output == [20, "y"]


def test_a_late_result_of_a_rewound_call_is_fenced() -> None:
    flow = rehearse("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    flow.send(Create(id="execution"))
    flow.call("a")
    assert flow.state.node("b").attempt == 1
    flow.send(Rewind(to="a"))
    assert flow.state.node("a").attempt == 2
    assert flow.send(Complete(node="b", attempt=1, output="late")) == []
    assert flow.send(Complete(node="a", attempt=1, output="late")) == []
    assert flow.run().status == "completed"


def test_a_rewind_to_a_node_that_was_never_reached_changes_nothing() -> None:
    flow = rehearse(REWOUND).start()
    assert flow.send(Rewind(to="z")) == []
    assert flow.send(Rewind(to="nowhere")) == []
    assert flow.send(Rewind(to="a:l.0")) == []


def test_an_execution_has_its_time_and_pauses_do_not_count() -> None:
    flow = rehearse(
        "  - {id: d, type: delay, duration: 6s, next: w}\n  - {id: w, type: form, next: e}\n"
        "  - {id: e, type: delay, duration: 6s}\n",
        settings="{timeout: 10s}",
    ).start()
    flow.skip(6_000)
    assert flow.status == "paused"
    flow.skip(100_000)
    flow.answer("w", 1)
    assert wake_at(flow.state) == flow.now + 4_000
    flow.skip(4_000)
    assert flow.error == "timeout"


REOPENED = """
  - {id: a, type: form, next: b}
  - {id: b, type: f, input: "${nodes.a}"}
"""


def test_work_released_by_an_answer_that_fails_can_open_the_point_again() -> None:
    flow = rehearse(REOPENED, {"f": fails_times(1, "well")}, settings="{on_resume_failure: reopen}").start()
    first = flow.point("a").id
    flow.answer("a", "wrong")
    assert flow.status == "paused"
    again = flow.point("a")
    assert again.id != first
    assert again.details["failure"] == {"code": "failed", "message": "not yet", "context_id": "b"}
    assert flow.answer("a", "right").output == "well"


def test_a_failure_after_an_answer_fails_the_execution_by_default() -> None:
    flow = rehearse(REOPENED, {"f": fails_times(1)}, settings="{on_resume_failure: fail}").start().answer("a", 1)
    assert flow.status == "failed"


def test_a_failure_that_no_answer_led_to_fails_the_execution_in_any_case() -> None:
    flow = rehearse("  - {id: b, type: f}\n", {"f": fails_times(1)}, settings="{on_resume_failure: reopen}").start()
    assert flow.status == "failed"


def test_a_retry_or_rewind_after_a_timeout_restarts_the_timeout() -> None:
    nodes = "  - {id: a, type: delay, duration: 50m, next: b}\n  - {id: b, type: delay, duration: 50m}\n"
    for again in (Retry(), Rewind(to="b")):
        flow = rehearse(nodes, settings="{timeout: 1h}").start()
        assert flow.skip(3_600_000).error == "timeout"
        flow.skip(86_400_000)
        flow.send(again)
        assert wake_at(flow.state) == flow.now + 50 * 60_000
        assert flow.skip(3_600_000).status == "completed"


def test_a_reopening_in_old_logs_does_not_restart_the_timeout() -> None:
    flow = rehearse("  - {id: a, type: delay, duration: 50m}\n", settings="{timeout: 1h}").start().skip(1_800_000)
    flow.send(Cancel())
    old = [*flow.log, (flow.now, ev.ExecutionReopened(why="rewind")), (flow.now, ev.NodeRewound(node="a"))]
    assert fold(ExecutionState(flow.plan), old).facts.active_ms == 1_800_000
