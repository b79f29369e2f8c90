"""What a node does when it is reached, by its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import UNSET

from layover.core.definitions.durations import parse_duration
from layover.core.definitions.node_types import (
    AskingNode,
    Call,
    Callback,
    ChildWorkflow,
    Compute,
    Condition,
    Delay,
    End,
    Http,
    Loop,
    Merge,
    Parallel,
    Set,
    Switch,
    WaitSignal,
)
from layover.core.engine import events as ev
from layover.core.engine.evolve import context_id, variable_scope
from layover.core.engine.failures import cancel_points, error_of, fail
from layover.core.engine.rounds import enter
from layover.core.expressions import ExpressionError, Meter
from layover.core.expressions.instants import parse_timestamp
from layover.core.expressions.values import equal

if TYPE_CHECKING:
    from layover.core.engine.turn import Turn
    from layover.core.plan import PlannedNode


def begin(turn: Turn, name: str) -> None:
    """Decide what a ready node does first; afterwards it is no longer ready."""
    planned = turn.state.planned(name)
    try:
        match planned.node:
            case Loop() | Parallel():
                enter(turn, name, planned)
            case Call() | Http():
                _call(turn, name, planned)
            case Delay() | AskingNode() | WaitSignal() | Callback() | ChildWorkflow():
                _wait(turn, name, planned)
            case _:
                _decide_inline(turn, name, planned)
    except ExpressionError as failure:
        fail(turn, name, error_of(failure))


def start_call(turn: Turn, name: str, planned: PlannedNode, attempt: int) -> None:
    """Make a call that has been scheduled: its input is what its templates give now."""
    try:
        given = _input(turn, name, planned)
        timeout = _span(turn, name, planned, "timeout")
    except ExpressionError as failure:
        fail(turn, name, error_of(failure))
        return
    until = turn.now + timeout if timeout is not None else None
    turn.emit(ev.NodeStarted(node=name, attempt=attempt, input=given, timeout_at=until))


def complete(turn: Turn, name: str, output: object, port: str = "done") -> None:
    """Decide that a node is done."""
    started = turn.state.node(name).started_at
    duration = turn.now - started if started else 0
    turn.emit(ev.NodeCompleted(node=name, output=output, port=port, duration_ms=duration))
    turn.settled.append(turn.scope_of(name))


# Nodes that the engine decides by itself


def _decide_inline(turn: Turn, name: str, planned: PlannedNode) -> None:
    node = planned.node
    match node:
        case Condition():
            held = turn.holds(turn.scope_of(name), name, planned, "if", None)
            complete(turn, name, held, "true" if held else "false")
        case Switch():
            complete(turn, name, None, _chosen_port(turn, name, planned, node))
        case Set():
            values = cast("dict[str, object]", turn.render(name, planned, "values"))
            turn.emit(ev.VariableSet(scope=variable_scope(turn.state, turn.scope_of(name)), values=values))
            complete(turn, name, None)
        case Compute():
            complete(turn, name, turn.render(name, planned, "output"))
        case Merge():
            complete(turn, name, _merged(turn, name, planned, node))
        case End():
            _end(turn, name, planned, node)
        case _:
            raise TypeError(f"nothing begins a node of type {node.type}")


def _chosen_port(turn: Turn, name: str, planned: PlannedNode, node: Switch) -> str:
    value = turn.evaluate(name, planned, "value") if node.value is not None else None
    for index, case in enumerate(node.cases):
        if case.equals is not UNSET:
            if equal(value, turn.render(name, planned, f"cases.{index}.equals"), Meter()):
                return case.port
        elif turn.holds(turn.scope_of(name), name, planned, f"cases.{index}.if", None):
            return case.port
    return "default"


def _merged(turn: Turn, name: str, planned: PlannedNode, node: Merge) -> object:
    if node.strategy == "custom":
        return turn.render(name, planned, "output")
    path = turn.scope_of(name)
    graph = turn.state.graph(path)
    sources = [one for one in graph.nodes if any(planned.index in targets for targets in one.ports.values())]
    rows = {one.id: turn.state.node(context_id(path, one.id)) for one in sources}
    arrived = {
        id_: row
        for id_, row in rows.items()
        if row.status == "completed" and (not node.branches or id_ in node.branches)
    }
    if node.strategy == "all":
        return {id_: row.output for id_, row in arrived.items()}
    by_time = sorted(arrived.values(), key=lambda row: row.closed_seq)
    if not by_time:
        return None
    return by_time[0 if node.strategy == "first" else -1].output


def _end(turn: Turn, name: str, planned: PlannedNode, node: End) -> None:
    output = turn.render(name, planned, "output")
    reason = turn.render(name, planned, "reason", "")
    complete(turn, name, output)
    finish(turn, output, node.outcome, "" if reason is None else str(reason))


def finish(turn: Turn, output: object, outcome: str = "executed", reason: str = "") -> None:
    """End the execution as planned; what still waits is cancelled."""
    cancel_points(turn, "")
    duration = turn.now - turn.state.facts.started_at
    turn.emit(ev.ExecutionCompleted(output=output, outcome=outcome, reason=reason, duration_ms=duration))


# Nodes that call


def _call(turn: Turn, name: str, planned: PlannedNode) -> None:
    attempt = turn.state.node(name).attempt + 1
    turn.emit(ev.NodeScheduled(node=name, node_type=planned.node.type, attempt=attempt))
    start_call(turn, name, planned, attempt)


def _input(turn: Turn, name: str, planned: PlannedNode) -> object:
    if isinstance(planned.node, Http):
        fields = ("url", "headers", "query", "body", "auth")
        return {
            "method": planned.node.method,
            **{field: turn.render(name, planned, field) for field in fields if field in planned.fillings},
        }
    return turn.render(name, planned, "input")


# Nodes that wait


def _wait(turn: Turn, name: str, planned: PlannedNode) -> None:
    node = planned.node
    if isinstance(node, Delay):
        until = _until(turn, name, planned, node)
        if until <= turn.now:
            complete(turn, name, None)
            return
        _open(turn, name, "timer", until, None, {})
        return
    deadline = _span(turn, name, planned, "deadline")
    outcome = cast("str | None", getattr(node, "on_deadline", None))
    at = turn.now + deadline if deadline is not None else None
    if at is None and isinstance(node, AskingNode):
        longest = turn.state.plan.definition.settings.max_pause
        at, outcome = (turn.now + longest, "expired") if isinstance(longest, int) else (None, None)
    details = {field: turn.render(name, planned, field) for field in planned.fillings if field != "deadline"}
    _open(turn, name, _POINT_KINDS[node.type], at, outcome, details)


def _open(
    turn: Turn, name: str, kind: ev.PointKind, deadline: int | None, outcome: str | None, details: dict[str, object]
) -> None:
    point = turn.new_id()
    turn.emit(
        ev.PausePointOpened(node=name, point=point, kind=kind, deadline=deadline, on_deadline=outcome, details=details)
    )


_POINT_KINDS: dict[str, ev.PointKind] = {
    "approval": "approval",
    "form": "form",
    "wait_signal": "signal",
    "callback": "callback",
    "workflow": "child",
}


def _until(turn: Turn, name: str, planned: PlannedNode, node: Delay) -> int:
    if node.until is None:
        return turn.now + (_span(turn, name, planned, "duration") or 0)
    moment = turn.render(name, planned, "until")
    if isinstance(moment, int) and not isinstance(moment, bool):
        return moment
    if isinstance(moment, str):
        return parse_timestamp(moment).ns // 1_000_000
    raise ExpressionError("`until` needs a timestamp.", code="invalid_argument")


def _span(turn: Turn, name: str, planned: PlannedNode, field: str) -> int | None:
    """Return a length of time that a node gives as such or by a template."""
    given: int | str | None = getattr(planned.node, field)
    if given is None or isinstance(given, int):
        return given
    found = turn.render(name, planned, field)
    if isinstance(found, str):
        try:
            return parse_duration(found)
        except ValueError as error:
            raise ExpressionError(f"`{field}`: {error}.", code="invalid_argument") from error
    raise ExpressionError(f"`{field}` needs a duration such as `30s`.", code="invalid_argument")
