"""Loops and parallels: rounds, branches, what they collect, how they fail."""

from __future__ import annotations

import pytest

from layover.core.engine import events as ev

from .flows import failing, only, rehearse


def test_a_loop_collects_a_result_for_each_item() -> None:
    flow = rehearse(
        "  - {id: l, type: loop, for_each: input, as: n, body: [{id: d, type: compute, output: '${n * index}'}]}\n"
    ).start([3, 4, 5])
    assert flow.output == [0, 4, 10]


def test_a_loop_can_skip_and_break() -> None:
    flow = rehearse(
        """
  - id: l
    type: loop
    for_each: input
    skip_if: item < 0
    break_if: nodes.d > 100
    collect: ${nodes.d}
    body: [{id: d, type: compute, output: "${item * 10}"}]
"""
    ).start([1, -1, 2, 50, 3])
    assert flow.output == [10, 20, 500]


def test_a_while_is_asked_before_each_round_and_variables_are_written_through() -> None:
    flow = rehearse(
        """
  - {id: l, type: loop, while: vars.count < 3, max_iterations: 10, next: o,
     body: [{id: s, type: set, values: {count: "${vars.count + 1}"}}]}
  - {id: o, type: compute, output: "${vars.count}"}
"""
    ).start()
    assert flow.output == 3


def test_a_loop_stops_at_its_bound() -> None:
    flow = rehearse(
        "  - {id: l, type: loop, while: 'true', max_iterations: 3, body: [{id: c, type: compute, output: 1}]}\n"
    ).start()
    assert flow.error == "too_many_iterations"
    assert len(only(flow, ev.ScopeOpened)) == 3


def test_an_empty_loop_gives_an_empty_list() -> None:
    assert (
        rehearse("  - {id: l, type: loop, for_each: input, body: [{id: c, type: compute, output: 1}]}\n")
        .start([])
        .output
        == []
    )


def test_a_finished_round_leaves_only_its_collected_output() -> None:
    flow = rehearse(
        "  - {id: l, type: loop, for_each: input, next: w, body: [{id: c, type: compute, output: '${item}'}]}\n"
        "  - {id: w, type: form}\n"
    ).start([1, 2, 3])
    assert set(flow.state.nodes.rows) == {"l", "w"}
    assert set(flow.state.scopes.rows) == {""}
    assert flow.state.collected.rows == {}


BRANCHES = """
  - id: p
    type: parallel
    on_failure: %s
    next: {done: o, error: e}
    branches:
      - {id: left, body: [{id: a, type: f}]}
      - {id: right, body: [{id: b, type: form, title: "${input}"}]}
  - {id: o, type: compute, output: {all: "${nodes.p}", problem: "${default(errors.p.details, 'none')}"}}
  - {id: e, type: compute, output: "${errors.p.message}"}
"""


def test_branches_give_a_map_by_id() -> None:
    flow = rehearse(BRANCHES % "wait", {"f": lambda _: "l"}).start()
    assert flow.waiting == ["b:p.right"]
    assert flow.answer("b:p.right", "r").output == {"all": {"left": "l", "right": "r"}, "problem": "none"}


def test_fail_fast_cancels_the_other_branches() -> None:
    flow = rehearse(BRANCHES % "fail_fast", {"f": failing}).start()
    assert flow.output == "broken"
    assert len(only(flow, ev.PausePointCancelled)) == 1


def test_wait_lets_the_other_branches_finish_first() -> None:
    flow = rehearse(BRANCHES % "wait", {"f": failing}).start()
    assert flow.waiting == ["b:p.right"]
    assert flow.answer("b:p.right", "r").output == "broken"


def test_on_failure_continue_gives_null_for_failed_branches() -> None:
    flow = rehearse(BRANCHES % "continue", {"f": failing}).start().answer("b:p.right", "r")
    assert flow.output == {
        "all": {"left": None, "right": "r"},
        "problem": [{"key": "left", "code": "failed", "message": "broken"}],
    }


@pytest.mark.parametrize("concurrency", [1, 2, 10])
def test_results_of_a_parallel_keep_the_order_of_the_items(concurrency: int) -> None:
    flow = rehearse(
        f"  - {{id: p, type: parallel, for_each: input, concurrency: {concurrency},"
        " body: [{id: q, type: form, title: '${item}'}]}\n"
    ).start(["a", "b", "c", "d"])
    assert len(flow.waiting) == min(concurrency, 4)
    while flow.waiting:
        last = flow.waiting[-1]
        flow.answer(last, flow.point(last).details["title"])
    assert flow.output == ["a", "b", "c", "d"]


def test_a_parallel_scope_works_on_a_copy_of_the_variables() -> None:
    flow = rehearse(
        """
  - {id: p, type: parallel, for_each: input, next: o,
     body: [{id: s, type: set, values: {count: "${vars.count + item}"}, next: c},
            {id: c, type: compute, output: "${vars.count}"}]}
  - {id: o, type: compute, output: {each: "${nodes.p}", after: "${vars.count}"}}
"""
    ).start([1, 2])
    assert flow.output == {"each": [1, 2], "after": 0}


def test_containers_nest_and_their_pauses_have_addresses_of_their_own() -> None:
    flow = rehearse(
        """
  - id: orders
    type: parallel
    for_each: input
    as: order
    body:
      - {id: lines, type: loop, for_each: order, as: line, body: [{id: ask, type: form, title: "${line}"}]}
"""
    ).start([["a", "b"], ["c"]])
    assert flow.waiting == ["ask:orders.0:lines.0", "ask:orders.1:lines.0"]
    flow.answer("ask:orders.1:lines.0", "C").answer("ask:orders.0:lines.0", "A")
    assert flow.waiting == ["ask:orders.0:lines.1"]
    assert flow.answer("ask:orders.0:lines.1", "B").output == [["A", "B"], ["C"]]


def test_a_failure_in_a_nested_body_reaches_the_error_port_of_the_outermost_container_that_has_one() -> None:
    flow = rehearse(
        """
  - id: outer
    type: loop
    times: 2
    next: {error: e}
    body: [{id: inner, type: loop, times: 2, body: [{id: a, type: f}]}]
  - {id: e, type: compute, output: "${errors.outer.context_id}"}
""",
        {"f": failing},
    ).start()
    assert flow.output == "a:outer.0:inner.0"
