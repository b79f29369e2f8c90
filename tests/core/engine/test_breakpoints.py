"""Breakpoints: an execution pauses before a node."""

from __future__ import annotations

from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.breakpoints import has_node
from layover.core.engine.evolve import fold
from layover.core.engine.state import ExecutionState

from .flows import fails_times, only, rehearse, types

_CHAIN = """
  - {id: a, type: compute, output: 1, next: b}
  - {id: b, type: compute, output: 2, next: c}
  - {id: c, type: compute, output: 3}
"""
_LOOP = """
  - id: each
    type: loop
    for_each: "[1, 2, 3]"
    body: [{id: one, type: compute, output: "${item}"}]
"""


def test_an_execution_pauses_before_the_node_and_goes_on_when_it_is_resumed() -> None:
    flow = rehearse(_CHAIN)
    flow.state.breakpoints = {"b": "look"}
    flow.start()
    assert (flow.status, flow.state.node("a").status, flow.state.node("b").status) == ("paused", "completed", "ready")
    assert only(flow, ev.ExecutionPausing) == [ev.ExecutionPausing(reason="look", before="b")]
    flow.send(cmd.Resume(by="ann"))
    assert flow.status == "completed"


def test_a_breakpoint_of_the_execution_itself_holds_it_once() -> None:
    flow = rehearse(_CHAIN.replace("type: compute, output: 1", "type: form"))
    flow.start()
    assert flow.send(cmd.SetBreakpoint(node="b", by="ann")) == [
        ev.BreakpointSet(node="b", reason="It pauses before `b`, as ann has asked", by="ann")
    ]
    assert flow.send(cmd.SetBreakpoint(node="b", reason="again")) == []
    flow.answer("a", {})
    assert flow.status == "paused"
    assert flow.state.facts.breakpoints == {}
    flow.send(cmd.Resume())
    assert flow.status == "completed"
    flow.send(cmd.Rewind(to="b"))
    assert flow.status == "completed"


def test_a_breakpoint_of_the_workflow_holds_it_each_time_also_after_a_rewind() -> None:
    flow = rehearse(_LOOP)
    flow.state.breakpoints = {"one": "look"}
    flow.start()
    stops = []
    while flow.status == "paused":
        stops.append(flow.state.queue.rows[flow.state.facts.stopped_at])
        flow.send(cmd.Resume())
    assert stops == ["one:each.0", "one:each.1", "one:each.2"]
    flow.send(cmd.Rewind(to="each"))
    assert flow.status == "paused"


def test_a_context_id_names_one_round() -> None:
    flow = rehearse(_LOOP)
    flow.state.breakpoints = {"one:each.1": "look"}
    flow.start()
    assert only(flow, ev.ExecutionPausing) == [ev.ExecutionPausing(reason="look", before="one:each.1")]
    flow.send(cmd.Resume())
    assert flow.status == "completed"


def test_a_breakpoint_that_was_cleared_holds_nothing() -> None:
    flow = rehearse(_CHAIN.replace("type: compute, output: 1", "type: form"))
    flow.start()
    flow.send(cmd.SetBreakpoint(node="b"))
    flow.send(cmd.SetBreakpoint(node="c"))
    assert flow.send(cmd.ClearBreakpoint(node="x")) == []
    assert flow.send(cmd.ClearBreakpoint(node="b", by="ann")) == [ev.BreakpointCleared(node="b", by="ann")]
    assert flow.send(cmd.ClearBreakpoint()) == [ev.BreakpointCleared(node="c")]
    flow.answer("a", {})
    assert flow.status == "completed"


def test_a_call_that_the_same_step_has_begun_is_made_before_the_pause() -> None:
    flow = rehearse(
        """
  - {id: call, type: f}
  - {id: s, type: compute, output: 1, next: held}
  - {id: held, type: compute, output: 2}
""".replace("  - {id: call", "  - {id: start, type: compute, output: 0, next: [call, s]}\n  - {id: call")
    )
    flow.state.breakpoints = {"held": "look"}
    flow.send(cmd.Create(id="x"))
    assert "ExecutionPausing" not in types(flow)  # else the call would be out while nothing may run
    assert flow.state.node("held").status == "ready"
    flow.send(cmd.Wake())
    assert flow.status == "pausing"
    flow.run()
    assert flow.status == "paused"
    flow.send(cmd.Resume())
    assert flow.run().status == "completed"


def test_another_attempt_is_not_another_stop() -> None:
    flow = rehearse("  - {id: a, type: f, retry: {max_attempts: 3, delay: 1s}}\n", {"f": fails_times(1)})
    flow.state.breakpoints = {"a": "look"}
    flow.start()
    flow.send(cmd.Resume())
    flow.run()
    assert flow.skip(10_000).status == "completed"


def test_who_plays_the_log_needs_no_breakpoints() -> None:
    flow = rehearse(_CHAIN)
    flow.state.breakpoints = {"a": "look", "c": "look"}
    flow.start()
    flow.send(cmd.Resume())
    played = fold(ExecutionState(flow.plan), flow.log)
    assert (played.status, played.facts) == ("paused", flow.state.facts)
    assert played.queue.rows == flow.state.queue.rows


def test_nodes_are_found_at_any_depth() -> None:
    plan = rehearse(_LOOP).plan
    assert has_node(plan, "each")
    assert has_node(plan, "one")
    assert not has_node(plan, "two")
