"""How the events of the execution as a whole change the state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from layover.core.engine.apply_fork import take_over
from layover.core.engine.apply_points import release_children
from layover.core.engine.gate import calls_out
from layover.core.engine.halting import resume_container
from layover.core.engine.node_transitions import as_reached, forget_rounds, make_ready, open_scope, set_variables
from layover.core.engine.state import ExecutionState, Scope

if TYPE_CHECKING:
    from layover.core.engine import events as ev

_GATE_OPEN: Final = {
    "gate": "open",
    "paused_reason": "",
    "paused_at": 0,
    "resume_at": None,
    "resume_on": None,
    "resume_by": None,
    "in_flight": (),
    "fates": {},
}


def created(state: ExecutionState, event: ev.ExecutionCreated, at: int) -> None:
    facts = replace(
        state.facts,
        id=event.id,
        workflow=event.workflow,
        hash=event.hash,
        input=event.input,
        trigger=event.trigger,
        user=event.user,
        start_at=event.start_at,
        hold=event.hold,
        version=event.version,
        tags=event.tags,
        priority=event.priority,
        correlation_id=event.correlation_id,
        traceparent=event.traceparent,
        created_at=at,
    )
    if event.parent is not None:
        facts = replace(facts, parent=event.parent, parent_point=event.parent_point, depth=event.depth)
    state.set_facts(facts)


def admitted(state: ExecutionState, _event: ev.ExecutionAdmitted, _at: int) -> None:
    state.change(hold=False, start_at=None)


def started(state: ExecutionState, _event: ev.ExecutionStarted, at: int) -> None:
    facts, variables = state.facts, state.plan.definition.variables
    for values in (*(one.values for one in facts.carried_sets), facts.early):
        if values:
            variables = {**variables, **values}
    state.change(started_at=at, early={}, carried={}, carried_sets=())
    graph = state.plan.graph
    open_scope(state, "", Scope(open=len(graph.nodes), variables=variables), graph)
    if facts.carried:
        take_over(state, facts.carried)


def leg_started(state: ExecutionState, event: ev.LegStarted, _at: int) -> None:
    state.change(legs=state.facts.legs + 1, traceparent=event.traceparent)
    if event.losses or state.counts["losses"]:
        state.counts.put("losses", event.losses)


def pausing(state: ExecutionState, event: ev.ExecutionPausing, at: int) -> None:
    release_children(state)  # an earlier pause no longer holds them: this one reaches them
    state.change(
        gate="pausing",
        paused_reason=event.reason,
        paused_at=at,
        resume_at=event.resume_at,
        resume_on=event.resume_on,
        resume_by=event.by if event.resume_at is not None or event.resume_on is not None else None,
        pauses=state.facts.pauses + 1,
        order=event.order,
        in_flight=calls_out(state),
    )
    if event.before:
        _stopped_before(state, event.before)


def _stopped_before(state: ExecutionState, name: str) -> None:
    """Note that a node has had its stop; a breakpoint of the execution itself is used up by it."""
    once = {name, name.partition(":")[0]}
    left = {node: reason for node, reason in state.facts.breakpoints.items() if node not in once}
    state.change(stopped_at=state.node(name).ticket, breakpoints=left)


def breakpoint_set(state: ExecutionState, event: ev.BreakpointSet, _at: int) -> None:
    state.change(breakpoints={**state.facts.breakpoints, event.node: event.reason})


def breakpoint_cleared(state: ExecutionState, event: ev.BreakpointCleared, _at: int) -> None:
    left = {node: reason for node, reason in state.facts.breakpoints.items() if node != event.node}
    state.change(breakpoints=left)


def paused(state: ExecutionState, event: ev.ExecutionPaused, _at: int) -> None:
    state.change(gate="paused", in_flight=(), fates=event.fates)


def pause_noted(state: ExecutionState, event: ev.ExecutionPauseNoted, _at: int) -> None:
    state.change(order=event.order)


def resume_scheduled(state: ExecutionState, event: ev.ExecutionResumeScheduled, _at: int) -> None:
    by = event.by if event.at is not None or event.on is not None else None
    state.change(resume_at=event.at, resume_on=event.on, resume_by=by)


def resumed(state: ExecutionState, event: ev.ExecutionResumed, at: int) -> None:
    count, data = state.facts.resume_count + 1, event.data or None
    state.change(**_GATE_OPEN, resume_count=count, resumed_at=at, resume_data=data)
    release_children(state)
    if event.data and state.facts.started_at:
        set_variables(state, "", event.data)
    elif event.data:
        state.change(early={**state.facts.early, **event.data})


def execution_completed(state: ExecutionState, event: ev.ExecutionCompleted, _at: int) -> None:
    _close(state, closed="completed", output=event.output, outcome=event.outcome, outcome_reason=event.reason)


def execution_failed(state: ExecutionState, event: ev.ExecutionFailed, _at: int) -> None:
    _close(state, closed="failed", error=event.error, failed_node=event.node)


def cancelled(state: ExecutionState, event: ev.ExecutionCancelled, _at: int) -> None:
    _close(state, closed="cancelled", outcome_reason=event.reason)


def _close(state: ExecutionState, **facts: object) -> None:
    state.change(**_GATE_OPEN, **facts)


def reopened(state: ExecutionState, event: ev.ExecutionReopened, _at: int) -> None:
    state.change(closed="", error=None, failed_node=None, output=None, outcome="", outcome_reason="")
    if event.time_anew:
        state.change(active_ms=0, active_since=None)
    state.counts.put("old_attempts", state.counts["attempts"])
    for name in event.nodes:
        node = state.node(name)
        forget_rounds(state, name, node)
        make_ready(state, name, as_reached(node))
    for name in event.containers:
        resume_container(state, name)


def count_active_time(state: ExecutionState, at: int) -> None:
    """Add the time at work up to now: the time in which a person or an operator is awaited does not count."""
    facts = state.facts
    active = state.status in ("running", "waiting", "pausing")
    if active and facts.active_since is None:
        state.change(active_since=at)
    elif not active and facts.active_since is not None:
        state.change(active_since=None, active_ms=facts.active_ms + at - facts.active_since)
