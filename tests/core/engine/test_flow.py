"""Chains, branches, joins, variables, ends: the order of nodes."""

from __future__ import annotations

from layover.core.engine import events as ev
from layover.core.engine.commands import Complete, Create
from layover.core.engine.state import ExecutionState

from .flows import failing, only, rehearse, types


def test_a_chain_runs_in_order_and_gives_the_output_of_its_leaf() -> None:
    flow = rehearse(
        "  - {id: a, type: f, input: '${input}', next: b}\n  - {id: b, type: g, input: '${nodes.a + 1}'}\n",
        {"f": lambda given: given, "g": lambda given: [given]},
    ).start(41)
    assert flow.status == "completed"
    assert flow.output == [42]
    assert types(flow) == [
        "ExecutionCreated",
        "ExecutionStarted",
        "NodeScheduled",
        "NodeStarted",
        "NodeCompleted",
        "NodeScheduled",
        "NodeStarted",
        "NodeCompleted",
        "ExecutionCompleted",
    ]


def test_the_next_call_starts_in_the_same_decision_as_the_last_one_ends() -> None:
    flow = rehearse("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    flow.send(Create(id="execution"))
    flow.call("a")
    assert [type(event).__name__ for _, event in flow.log][-3:] == ["NodeCompleted", "NodeScheduled", "NodeStarted"]


BRANCHES = """
  - {id: c, type: condition, if: input > 10, next: {true: high, false: low}}
  - {id: high, type: compute, output: high, next: join}
  - {id: low, type: compute, output: low, next: join}
  - {id: join, type: merge}
"""


def test_a_condition_takes_one_way_and_the_join_does_not_wait_for_the_other() -> None:
    assert rehearse(BRANCHES).start(11).output == {"high": "high"}
    assert rehearse(BRANCHES).start(9).output == {"low": "low"}


def test_dead_paths_settle_transitively_and_are_not_logged() -> None:
    flow = rehearse(
        """
  - {id: c, type: condition, if: 'false', next: {true: a, false: z}}
  - {id: a, type: delay, duration: 1d, next: b}
  - {id: b, type: delay, duration: 1d, next: z}
  - {id: z, type: compute, output: 7}
"""
    ).start()
    assert flow.output == 7
    assert [event.node for event in only(flow, ev.NodeCompleted) if isinstance(event, ev.NodeCompleted)] == ["c", "z"]


def test_a_join_of_any_runs_once_at_the_first_arrival() -> None:
    flow = rehearse(
        """
  - {id: s, type: compute, output: 0, next: [a, b]}
  - {id: a, type: f, input: 1, next: j}
  - {id: b, type: f, input: 2, next: j}
  - {id: j, type: g, join: any, input: '${default(nodes.a, nodes.b)}'}
"""
    )
    flow.send(Create(id="execution"))
    flow.call("b")
    assert flow.state.node("j").input == 2
    flow.run()
    assert [event for event in only(flow, ev.NodeStarted) if isinstance(event, ev.NodeStarted) and event.node == "j"]
    assert flow.output == 2


def test_a_switch_takes_the_first_case_that_fits() -> None:
    nodes = """
  - {id: s, type: switch, value: input.a, cases: [{equals: x, port: p}, {if: input.b > 5, port: q}],
     next: {p: one, q: two, default: three}}
  - {id: one, type: compute, output: 1}
  - {id: two, type: compute, output: 2}
  - {id: three, type: compute, output: 3}
"""
    assert rehearse(nodes).start({"a": "x", "b": 9}).output == 1
    assert rehearse(nodes).start({"a": "y", "b": 9}).output == 2
    assert rehearse(nodes).start({"a": "y", "b": 1}).output == 3


def test_set_changes_variables_for_later_nodes() -> None:
    flow = rehearse(
        "  - {id: s, type: set, values: {count: '${vars.count + 5}'}, next: o}\n"
        "  - {id: o, type: compute, output: '${vars.count}'}\n"
    ).start()
    assert flow.output == 5


def test_an_end_ends_the_execution_and_cancels_open_points() -> None:
    flow = rehearse(
        """
  - {id: s, type: compute, output: 1, next: [wait, stop]}
  - {id: wait, type: form}
  - {id: stop, type: end, outcome: blocked, reason: "because ${input}", output: {a: 1}}
"""
    ).start("x")
    assert flow.status == "completed"
    assert (flow.state.facts.outcome, flow.state.facts.outcome_reason) == ("blocked", "because x")
    assert flow.output == {"a": 1}
    assert len(only(flow, ev.PausePointCancelled)) == 1
    assert flow.waiting == []


def test_several_leaves_give_a_map_by_id() -> None:
    flow = rehearse(
        "  - {id: a, type: compute, output: 1, next: [b, c]}\n"
        "  - {id: b, type: compute, output: 2}\n  - {id: c, type: compute, output: 3}\n"
    ).start()
    assert flow.output == {"b": 2, "c": 3}


def test_an_unhandled_failure_fails_the_execution() -> None:
    flow = rehearse("  - {id: a, type: f, next: b}\n  - {id: b, type: g}\n", {"f": failing}).start()
    assert flow.status == "failed"
    assert flow.state.facts.failed_node == "a"
    assert flow.state.facts.error is not None
    assert flow.state.facts.error.message == "broken"


def test_a_wired_error_port_takes_a_final_failure() -> None:
    flow = rehearse(
        "  - {id: a, type: f, next: {done: b, error: e}}\n  - {id: b, type: compute, output: fine}\n"
        "  - {id: e, type: compute, output: '${errors.a.message} ${errors.a.type}'}\n",
        {"f": failing},
    ).start()
    assert flow.output == "broken ValueError"


def test_on_error_continue_gives_null_as_output() -> None:
    flow = rehearse(
        "  - {id: a, type: f, on_error: continue, next: b}\n"
        "  - {id: b, type: compute, output: {a: '${nodes.a}', e: '${errors.a.code}'}}\n",
        {"f": failing},
    ).start()
    assert flow.output == {"a": None, "e": "failed"}


def test_an_expression_that_fails_fails_its_node() -> None:
    flow = rehearse(
        "  - {id: a, type: compute, output: '${input.missing}', next: {error: e}}\n"
        "  - {id: e, type: compute, output: '${errors.a.code}'}\n"
    ).start({})
    assert flow.output == "no_such_key"


def test_a_stale_or_repeated_result_changes_nothing() -> None:
    flow = rehearse("  - {id: a, type: f, next: b}\n  - {id: b, type: f}\n")
    flow.send(Create(id="execution"))
    assert flow.send(Create(id="execution")) == []
    assert flow.send(Complete(node="a", attempt=2, output="early")) == []
    flow.call("a")
    assert flow.send(Complete(node="a", attempt=1, output="again")) == []
    flow.run()
    assert flow.send(Complete(node="b", attempt=1, output="late")) == []


def test_an_execution_without_events_is_pending() -> None:
    assert ExecutionState(rehearse("  - {id: a, type: f}\n").plan).status == "pending"
