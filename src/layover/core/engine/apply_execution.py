"""What the events of the execution as a whole do to the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine.apply_points import release_children
from layover.core.engine.gate import calls_out
from layover.core.engine.halting import take_up
from layover.core.engine.node_transitions import as_reached, forget_rounds, make_ready, open_scope, set_variables
from layover.core.engine.state import Execution, Scope

if TYPE_CHECKING:
    from layover.core.engine import events as ev

_GATE_OPEN: Final = {"gate": "open", "paused_reason": "", "paused_at": 0, "in_flight": (), "fates": {}}


def created(state: Execution, event: ev.ExecutionCreated, at: int) -> None:
    state.change(
        id=event.id,
        workflow=event.workflow,
        hash=event.hash,
        input=event.input,
        trigger=event.trigger,
        user=event.user,
        parent=event.parent,
        parent_point=event.parent_point,
        start_at=event.start_at,
        hold=event.hold,
        depth=event.depth,
        version=event.version,
        tags=event.tags,
        priority=event.priority,
        correlation_id=event.correlation_id,
        created_at=at,
    )


def admitted(state: Execution, _event: ev.ExecutionAdmitted, _at: int) -> None:
    state.change(hold=False, start_at=None)


def started(state: Execution, _event: ev.ExecutionStarted, at: int) -> None:
    early, variables = state.facts.early, state.plan.definition.variables
    if early:
        variables = {**variables, **early}
    state.change(started_at=at, early={})
    graph = state.plan.graph
    open_scope(state, "", Scope(open=len(graph.nodes), variables=variables), graph)


def leg_started(state: Execution, _event: ev.LegStarted, _at: int) -> None:
    state.change(legs=state.facts.legs + 1)


def pausing(state: Execution, event: ev.ExecutionPausing, at: int) -> None:
    release_children(state)  # what held them before is not what they are told now
    state.change(
        gate="pausing",
        paused_reason=event.reason,
        paused_at=at,
        pauses=state.facts.pauses + 1,
        order=event.order,
        in_flight=calls_out(state),
    )


def paused(state: Execution, event: ev.ExecutionPaused, _at: int) -> None:
    state.change(gate="paused", in_flight=(), fates=event.fates)


def pause_noted(state: Execution, event: ev.ExecutionPauseNoted, _at: int) -> None:
    state.change(order=event.order)


def resumed(state: Execution, event: ev.ExecutionResumed, at: int) -> None:
    count, data = state.facts.resume_count + 1, event.data or None
    state.change(**_GATE_OPEN, resume_count=count, resumed_at=at, resume_data=data)
    release_children(state)
    if event.data and state.facts.started_at:
        set_variables(state, "", event.data)
    elif event.data:
        state.change(early={**state.facts.early, **event.data})


def execution_completed(state: Execution, event: ev.ExecutionCompleted, _at: int) -> None:
    _close(state, closed="completed", output=event.output, outcome=event.outcome, outcome_reason=event.reason)


def execution_failed(state: Execution, event: ev.ExecutionFailed, _at: int) -> None:
    _close(state, closed="failed", error=event.error, failed_node=event.node)


def cancelled(state: Execution, event: ev.ExecutionCancelled, _at: int) -> None:
    _close(state, closed="cancelled", outcome_reason=event.reason)


def _close(state: Execution, **facts: object) -> None:
    state.change(**_GATE_OPEN, **facts)


def reopened(state: Execution, event: ev.ExecutionReopened, _at: int) -> None:
    state.change(closed="", error=None, failed_node=None, output=None, outcome="", outcome_reason="")
    if event.time_anew:
        state.change(active_ms=0, active_since=None)
    state.counts.put("old_attempts", state.counts["attempts"])
    for name in event.nodes:
        node = state.node(name)
        forget_rounds(state, name, node)
        make_ready(state, name, as_reached(node))
    for name in event.containers:
        take_up(state, name)


def count_active_time(state: Execution, at: int) -> None:
    """Keep how long the execution was at work: the time in which it waits for a person or an operator is free."""
    facts = state.facts
    active = state.status in ("running", "waiting", "pausing")
    if active and facts.active_since is None:
        state.change(active_since=at)
    elif not active and facts.active_since is not None:
        state.change(active_since=None, active_ms=facts.active_ms + at - facts.active_since)
