"""Bugs found by the laws and the naive interpreter, each in its smallest form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev

from .flows import failing, only, rehearse, types

if TYPE_CHECKING:
    from layover.testing import Rehearsal


def _without_running(nodes: str, settings: str = "{}", given: object = None) -> Rehearsal:
    """Return an execution that has started, with its calls still out."""
    flow = rehearse(nodes, settings=settings)
    flow.send(cmd.Create(id="execution", input=given))
    return flow


def _complete(flow: Rehearsal, node: str, output: object = None) -> None:
    flow.send(cmd.Complete(node=node, attempt=flow.state.node(node).attempt, output=output))


def _fail(flow: Rehearsal, node: str) -> None:
    error = ev.Error(code="failed", type="OSError", message="lost")
    flow.send(cmd.Fail(node=node, attempt=flow.state.node(node).attempt, error=error))


# Joining and leaving


def test_a_merge_has_only_outputs_from_edges_that_were_taken() -> None:
    flow = rehearse(
        """
  - {id: a, type: f, next: {done: b, error: m}}
  - {id: b, type: compute, output: 2, next: m}
  - {id: m, type: merge}
"""
    ).start()
    assert flow.output == {"b": 2}


def test_a_merge_has_null_of_a_branch_that_went_on_without_its_result() -> None:
    flow = rehearse(
        """
  - {id: s, type: compute, output: 0, next: [a, b]}
  - {id: a, type: broken, on_error: continue, next: m}
  - {id: b, type: compute, output: 2, next: m}
  - {id: m, type: merge}
""",
        {"broken": failing},
    ).start()
    assert flow.output == {"a": None, "b": 2}


def test_a_leaf_that_went_on_without_its_result_is_a_leaf() -> None:
    flow = rehearse(
        """
  - {id: s, type: compute, output: 0, next: [a, b]}
  - {id: a, type: broken, on_error: continue}
  - {id: b, type: compute, output: 2}
""",
        {"broken": failing},
    ).start()
    assert flow.output == {"a": None, "b": 2}


@pytest.mark.parametrize("field", ["code", "type", "message", "retryable", "attempt", "context_id"])
def test_an_error_has_all_its_fields_even_those_with_the_usual_value(field: str) -> None:
    flow = rehearse(
        f"""
  - {{id: a, type: broken, next: {{error: e}}}}
  - {{id: e, type: compute, output: '${{errors.a.{field}}}'}}
""",
        {"broken": failing},
    ).start()
    assert flow.status == "completed"


def test_a_failed_approval_with_on_error_continue_is_not_approved() -> None:
    flow = rehearse(
        """
  - {id: a, type: approval, deadline: 1h, on_deadline: fail, on_error: continue, next: {approved: pay}}
  - {id: pay, type: compute, output: paid}
"""
    ).start()
    flow.skip(3_600_000)
    assert flow.status == "completed"
    assert flow.output is None


# Containers


@pytest.mark.parametrize(("on_failure", "output"), [("continue", [None, 1]), ("wait", None), ("fail_fast", None)])
def test_a_branch_whose_collect_fails_is_a_branch_that_failed(on_failure: str, output: object) -> None:
    flow = _without_running(
        f"""
  - id: p
    type: parallel
    for_each: "[0, 1]"
    on_failure: {on_failure}
    collect: ${{1 / item}}
    body: [{{id: a, type: f}}]
    next: {{done: z, error: e}}
  - {{id: z, type: compute, output: '${{nodes.p}}'}}
  - {{id: e, type: compute, output: null}}
"""
    )
    _complete(flow, "a:p.0")
    _complete(flow, "a:p.1")
    assert flow.status == "completed"
    assert flow.output == output
    assert set(flow.state.scopes.rows) == {""}


def test_more_times_than_iterations_fail_before_the_first_as_more_items_do() -> None:
    flow = rehearse("  - {id: l, type: loop, times: 3, max_iterations: 2, body: [{id: a, type: compute, output: 1}]}\n")
    flow.start()
    assert flow.status == "failed"
    assert only(flow, ev.ScopeOpened) == []


# Behind a closed gate


def test_a_call_lost_while_pausing_is_in_doubt_and_made_again_at_resume() -> None:
    flow = _without_running("  - {id: a, type: f}\n")
    flow.send(cmd.Pause(by="op"))
    assert flow.send(cmd.Recover()) == [ev.ExecutionPaused(fates={"a": "in_doubt"})]
    assert flow.send(cmd.Recover()) == []
    flow.send(cmd.Resume(by="op"))
    assert types(flow)[-3:] == ["ExecutionResumed", "NodeScheduled", "NodeStarted"]
    assert flow.state.node("a").attempt == 2


INCIDENTS = """
  - {id: s, type: compute, output: 0, next: [a, b]}
  - {id: a, type: f, input: '${vars.count + 1}', retry: {max_attempts: 1, on_exhausted: pause}}
  - {id: b, type: f, input: '${vars.count + 1}', retry: {max_attempts: 1, on_exhausted: pause}}
"""


def test_opening_the_gate_releases_incidents_so_that_a_second_resume_does_nothing() -> None:
    flow = _without_running(INCIDENTS)
    _fail(flow, "a")
    flow.send(cmd.Pause(by="op"))
    _fail(flow, "b")
    assert flow.status == "paused"
    flow.send(cmd.Resume(by="op"))
    assert [flow.state.node(name).attempt for name in "ab"] == [2, 2]
    assert flow.send(cmd.Resume(by="op")) == []


def test_a_retry_behind_a_closed_gate_starts_nothing() -> None:
    flow = _without_running(INCIDENTS)
    _fail(flow, "a")
    _fail(flow, "b")
    flow.send(cmd.Pause(by="op"))
    assert flow.send(cmd.Retry(by="op")) == []


def test_of_two_incidents_the_second_is_not_released_if_the_first_ends_the_execution() -> None:
    flow = _without_running(INCIDENTS)
    _fail(flow, "a")
    _fail(flow, "b")
    flow.send(cmd.Pause(by="op"))
    flow.send(cmd.Resume(by="op", data={"count": "no number"}))
    assert types(flow)[-4:] == ["ExecutionResumed", "NodeScheduled", "NodeFailed", "ExecutionFailed"]


def test_a_container_does_not_continue_after_another_ended_the_execution() -> None:
    flow = _without_running(
        """
  - {id: s, type: compute, output: 0, next: [p, q]}
  - {id: p, type: parallel, on_failure: wait, for_each: "[0]", body: [{id: a, type: f}]}
  - {id: q, type: parallel, on_failure: wait, for_each: "[0]", body: [{id: b, type: f}]}
"""
    )
    flow.send(cmd.Pause(by="op"))
    _fail(flow, "a:p.0")
    _fail(flow, "b:q.0")
    flow.send(cmd.Resume(by="op"))
    assert types(flow)[-3:] == ["ExecutionResumed", "NodeFailed", "ExecutionFailed"]


# Going back


def test_a_rewind_also_retries_failures_elsewhere() -> None:
    flow = _without_running(
        """
  - {id: s, type: compute, output: 0, next: [a, b]}
  - {id: a, type: f}
  - {id: b, type: f}
"""
    )
    _complete(flow, "a")
    _fail(flow, "b")
    assert flow.status == "failed"
    flow.send(cmd.Rewind(to="a", by="op"))
    assert [flow.state.node(name).attempt for name in "ab"] == [2, 2]
    assert flow.run().status == "completed"


LOOP = "  - {id: l, type: loop, times: 1, body: [{id: a, type: f}]}\n"


def test_a_late_result_from_before_a_rewind_is_ignored_inside_a_container() -> None:
    flow = _without_running(LOOP)
    flow.send(cmd.Rewind(to="l", by="op"))
    assert flow.send(cmd.Complete(node="a:l.0", attempt=1, output="late")) == []
    _complete(flow, "a:l.0", "in time")
    assert flow.output == ["in time"]


def test_a_late_result_from_before_a_retry_is_ignored_inside_a_container() -> None:
    flow = _without_running(
        "  - {id: l, type: loop, times: 2, break_if: nodes.a.stop, body: [{id: a, type: f, timeout: 1s}]}\n"
    )
    _complete(flow, "a:l.0", {})
    assert flow.status == "failed"
    flow.send(cmd.Retry(by="op"))
    assert flow.send(cmd.Complete(node="a:l.0", attempt=1, output={"stop": True})) == []


def test_a_failure_without_an_answer_before_it_asks_no_question_again() -> None:
    flow = rehearse(
        """
  - {id: ask, type: form, deadline: 1h, on_deadline: continue, next: a}
  - {id: a, type: broken}
""",
        {"broken": failing},
        settings="{on_resume_failure: reopen}",
    ).start()
    flow.answer("ask", 1)
    assert flow.waiting == ["ask"]
    flow.skip(3_600_000)
    assert flow.status == "failed"


# People


def test_a_repeated_delegation_is_recorded_once() -> None:
    flow = rehearse("  - {id: a, type: approval, approvers: {users: [ann]}}\n").start()
    delegation = cmd.Delegate(point=flow.point("a").id, by="ann", to="bob")
    assert len(flow.send(delegation)) == 1
    assert flow.send(delegation) == []
