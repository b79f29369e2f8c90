"""Why an operation cannot be applied to an execution as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.context_ids import ContextId, MalformedContextId, ScopeStep, format_context_id, parse_context_id
from layover.core.engine import commands as cmd
from layover.core.engine.breakpoints import has_node
from layover.core.plan import planned_at
from layover.core.schemas import misfits
from layover.errors import InvalidInput, NotFound, WrongState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.core.engine.state import ExecutionState as State
    from layover.core.plan import Plan, PlannedGraph
    from layover.model.executions import Execution

MOST_BREAKPOINTS: Final = 100  # of an execution, or of a workflow


def unless_closed(view: Execution) -> Execution:
    """Return an execution that something was asked of, unless what was ahead of it in line led to the end."""
    if view.closed:
        raise WrongState(f"The execution is {view.status}.", view.status)
    return view


def check_breakpoint(plan: Plan, node: str, known: Mapping[str, str]) -> None:
    """Refuse a breakpoint before a node that a workflow does not have, or one more than there may be."""
    if "/" in node or not (has_node(plan, node) or _is_planned(plan, node)):  # behind it is the key of a journal
        raise unknown_node(plan, plan.definition.name, node)
    if node not in known and len(known) >= MOST_BREAKPOINTS:
        message = f"There are {MOST_BREAKPOINTS} breakpoints already: clear some."
        raise InvalidInput(message, (("before", message),), code="too_many_breakpoints")


def check_resume_data(plan: Plan, given: dict[str, object]) -> None:
    """Refuse data that does not fit what a workflow expects of a resume."""
    errors = misfits(plan.definition.settings.resume_data, given)
    if errors:
        places = tuple((f"resume_data/{place}".rstrip("/"), fault) for place, fault in errors)
        raise InvalidInput(f"The data does not fit what the workflow expects of a resume: {errors[0][1]}.", places)


def does_not_fit(state: State, command: cmd.AnyCommand) -> WrongState | NotFound:
    """Return why a command would change nothing."""
    if isinstance(command, cmd.Rewind):
        return _cannot_go_back(state, command.to)
    if isinstance(command, cmd.RunNow | cmd.CancelRetry):
        return _waits_for_no_time(state, command)
    undecided = any(one.kind == "approval" and one.status == "open" for one in state.points.rows.values())
    if isinstance(command, cmd.Resume) and undecided:
        return WrongState("It waits for a decision: approve or reject.", state.status, code="decision_required")
    if isinstance(command, cmd.ClearBreakpoint):
        return _no_breakpoint(state, command.node)
    if isinstance(command, cmd.ScheduleResume):
        return WrongState("It is not paused by an operator: there is no pause to end.", state.status)
    if isinstance(command, cmd.Resume) and not state.facts.closed:
        return WrongState(f"No operator has paused it: {_wait_of(state)}.", state.status)
    if isinstance(command, cmd.Retry) and not state.facts.closed:
        return WrongState(f"It is {state.status}, and nothing of it has failed.", state.status)
    return WrongState(f"The execution is {state.status}.", state.status)


def _wait_of(state: State) -> str:
    """Return what an execution does that no operator holds: the first of its questions, or its status."""
    asks = next((one for one in state.points.rows.values() if one.kind == "form" and one.status == "open"), None)
    return f"it is {state.status}" if asks is None else f"it waits for an answer at `{asks.node}`"


def _no_breakpoint(state: State, node: str) -> WrongState | NotFound:
    if state.facts.closed:
        return WrongState(f"The execution is {state.status}.", state.status)
    where = f"before `{node[:200]}`" if node else "before any node"
    return NotFound(f"It has no breakpoint {where}.", code="unknown_breakpoint")


def _waits_for_no_time(state: State, command: cmd.RunNow | cmd.CancelRetry) -> WrongState | NotFound:
    """Return why a wait cannot be ended: the gate is closed, there is no such node, or it waits for something else."""
    status, node = state.status, command.node
    if state.facts.closed:
        return WrongState(f"The execution is {status}.", status)
    if node and not _is_planned(state.plan, node):
        return _unknown_node(state, node)
    if state.facts.gate != "open":
        return WrongState("An operator has paused it, and nothing starts before it is resumed.", status)
    if state.facts.hold:
        return WrongState("A limit holds it back: it starts when that admits it.", status)
    what = "is tried again later" if isinstance(command, cmd.CancelRetry) else "waits for time to pass"
    where = f"`{node[:200]}` is no node that {what}" if node else f"Nothing of it {what}"
    return WrongState(f"{where}.", status)


def _is_planned(plan: Plan, context: str) -> bool:
    try:
        return planned_at(plan, parse_context_id(context)) is not None
    except MalformedContextId:
        return False


def _unknown_node(state: State, context: str) -> NotFound:
    return unknown_node(state.plan, state.facts.workflow, context)


def is_place_of(plan: Plan, context: str) -> bool:
    """Return whether a workflow has a node, in the rounds and branches that are named with it."""
    try:
        place = parse_context_id(context)
    except MalformedContextId:
        return False
    return place.key is None and planned_at(plan, place) is not None


def unknown_node(plan: Plan, workflow: str, context: str) -> NotFound:
    """Return that there is no such node; one that is inside of a container has to be named with its round or branch."""
    message = f"The workflow `{workflow}` has no node `{context[:200]}`."
    scopes = _scopes_of(plan.graph, context)
    if scopes:
        example = format_context_id(ContextId(context, scopes))
        container = scopes[-1].container
        message = f"`{context}` is inside of `{container}`: name its round or branch as well, such as `{example}`."
    return NotFound(message, code="unknown_node")


def _scopes_of(graph: PlannedGraph, node: str) -> tuple[ScopeStep, ...] | None:
    """Return the first rounds and branches that a node is in; None if a graph does not have it."""
    if node in graph.by_id:
        return ()
    for one in graph.nodes:
        for key, body in one.bodies.items():
            inner = _scopes_of(body, node)
            if inner is not None:
                return (ScopeStep(one.id, key or 0), *inner)
    return None


def _cannot_go_back(state: State, to: str) -> WrongState | NotFound:
    """Return why one cannot go back to a node: there is none, it was not reached, or what it was in is done."""
    if not is_place_of(state.plan, to):
        return _unknown_node(state, to)
    path = to.partition(":")[2]
    if path in state.scopes or path in state.halted:
        return WrongState(f"`{to[:200]}` has not been reached, so there is nothing to go back to.", state.status)
    return WrongState(f"`{to[:200]}` is in a round or branch that is done or has not begun.", state.status)
