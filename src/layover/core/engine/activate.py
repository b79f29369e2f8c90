"""What a node does when it is reached, by its type."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, cast

from msgspec import UNSET
from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules
from layover.core.context_ids import context_id
from layover.core.definitions.durations import parse_duration
from layover.core.definitions.node_types import (
    Approval,
    AskingNode,
    Callback,
    ChildWorkflow,
    Compute,
    Condition,
    Delay,
    End,
    Http,
    Merge,
    Set,
    Switch,
)
from layover.core.engine import events as ev
from layover.core.engine.approvals import settle_approval
from layover.core.engine.containers import enter
from layover.core.engine.failures import cancel_points, error_of, fail
from layover.core.engine.in_doubt import ask_about, is_asked_about
from layover.core.engine.node_transitions import variable_scope
from layover.core.engine.sizes import bounded
from layover.core.expressions import ExpressionError, Meter
from layover.core.expressions.instants import LAST_MOMENT, parse_timestamp
from layover.core.expressions.values import equal, shown
from layover.core.signal_texts import fault_in

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.plan import PlannedNode


def begin(turn: DecisionContext, name: str) -> None:
    """Decide what a ready node does first; afterwards it is no longer ready."""
    planned = turn.state.planned(name)
    try:
        match planned.role:
            case "call" | "callback" | "awaited" | "detached":
                node = turn.state.nodes.rows[name]
                if node.doubt and is_asked_about(turn.state, name):
                    ask_about(turn, name)
                else:
                    attempt(turn, name, planned, "recovered" if node.recoveries else "reached")
            case "inline":
                _decide_inline(turn, name, planned)
            case "container":
                enter(turn, name, planned)
            case "wait":
                _wait(turn, name, planned)
            case _:
                assert_never(planned.role)
    except ExpressionError as failure:
        fail(turn, name, error_of(failure))


def attempt(turn: DecisionContext, name: str, planned: PlannedNode, cause: ev.Cause, *, lost: bool = True) -> None:
    """Make another attempt of a node that calls something, or has something called and waits for it.

    One that is recovered counts as `lost`, unless its instance was stopped in order.
    """
    number = (turn.state.node(name).attempt or turn.state.counts.rows["old_attempts"]) + 1
    node_type = planned.node.type
    if planned.role == "call":
        queued = not turn.places.take(node_type)
    else:
        queued = planned.role == "callback" and not turn.places.take(planned.calls)
    turn.emit(ev.NodeScheduled(node=name, node_type=node_type, attempt=number, cause=cause, queued=queued, lost=lost))
    if not queued:
        start_attempt(turn, name, planned, number)


def start_queued(turn: DecisionContext, name: str) -> None:
    """Start a call that waits for a place, if there is one now."""
    node = turn.state.node(name)
    if node.status == "queued" and turn.state.facts.gate == "open":
        planned = turn.state.planned(name)
        if turn.places.take(planned.calls):
            start_attempt(turn, name, planned, node.attempt)


def start_attempt(turn: DecisionContext, name: str, planned: PlannedNode, number: int) -> None:
    """Start an attempt that has been scheduled: its input is what its templates give now."""
    try:
        if planned.role == "awaited":
            _wait(turn, name, planned)
            return
        given = _input(turn, name, planned)
        timeout = _span(turn, name, planned, "timeout")
        opened: ev.PausePointOpened | None = None
        # Whoever is called once more, after its instance was lost, replies to the point that is open already.
        if planned.role == "callback" and not turn.state.node(name).point:
            opened = _opened(turn, name, planned)
    except ExpressionError as failure:
        fail(turn, name, error_of(failure))
        return
    until = turn.now + timeout if timeout is not None else None
    turn.emit(ev.NodeStarted(node=name, attempt=number, input=given, timeout_at=until))
    if opened is not None:
        turn.emit(opened)
    if planned.role == "detached":  # that it will be started is all there is to it
        complete(turn, name, {"execution_id": turn.state.child_id(name, number)})


def complete(turn: DecisionContext, name: str, output: object, port: str = "done") -> None:
    """Decide that a node is done."""
    started = turn.state.node(name).started_at
    duration = turn.now - started if started else 0
    turn.emit(ev.NodeCompleted(node=name, output=output, port=port, duration_ms=duration))
    path = turn.scope_of(name)
    if not turn.state.scopes.rows[path].open:
        turn.settled.append(path)


# Nodes that the engine decides by itself


def _decide_inline(turn: DecisionContext, name: str, planned: PlannedNode) -> None:
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


def _chosen_port(turn: DecisionContext, name: str, planned: PlannedNode, node: Switch) -> str:
    value = turn.evaluate(name, planned, "value") if node.value is not None else None
    for index, case in enumerate(node.cases):
        if case.equals is not UNSET:
            if equal(value, turn.render(name, planned, f"cases.{index}.equals"), Meter()):
                return case.port
        elif turn.holds(turn.scope_of(name), name, planned, f"cases.{index}.if", None):
            return case.port
    return "default"


def _merged(turn: DecisionContext, name: str, planned: PlannedNode, node: Merge) -> object:
    if node.strategy == "custom":
        return turn.render(name, planned, "output")
    path = turn.scope_of(name)
    nodes = turn.state.graph(path).nodes
    rows = {nodes[one]: turn.state.node(context_id(path, nodes[one].id)) for one in planned.sources}
    arrived = {
        one.id: row
        for one, row in rows.items()
        if planned.index in one.targets(row.port) and (not node.branches or one.id in node.branches)
    }
    if node.strategy == "all":
        return bounded({id_: row.output for id_, row in arrived.items()}, "What it merged")
    by_time = sorted(arrived.values(), key=lambda row: row.closed_seq)
    if not by_time:
        return None
    return by_time[0 if node.strategy == "first" else -1].output


def _end(turn: DecisionContext, name: str, planned: PlannedNode, node: End) -> None:
    output = turn.render(name, planned, "output")
    reason = turn.text(name, planned, "reason")
    complete(turn, name, output)
    finish(turn, output, node.outcome, reason)


def finish(turn: DecisionContext, output: object, outcome: str = "executed", reason: str = "") -> None:
    """End the execution as planned; what still waits is cancelled."""
    cancel_points(turn, "")
    duration = turn.now - turn.state.facts.started_at
    turn.emit(ev.ExecutionCompleted(output=output, outcome=outcome, reason=reason, duration_ms=duration))


# Nodes that call


def _input(turn: DecisionContext, name: str, planned: PlannedNode) -> object:
    if planned.node.type == "http":
        fields = ("url", "headers", "query", "body", "auth")
        return {
            "method": cast("Http", planned.node).method,
            **{field: turn.render(name, planned, field) for field in fields if field in planned.fillings},
        }
    return turn.render(name, planned, "input")


# Nodes that wait


def _wait(turn: DecisionContext, name: str, planned: PlannedNode) -> None:
    node = planned.node
    if isinstance(node, Delay):
        until = _until(turn, name, planned, node)
        if until <= turn.now:
            complete(turn, name, None)
        else:
            turn.emit(ev.PausePointOpened(node=name, point=turn.new_id(), kind="timer", deadline=until))
        return
    opened = _opened(turn, name, planned)
    turn.emit(opened)
    settle_approval(turn, opened.point)  # it may be that nobody who is left could approve it


def _opened(turn: DecisionContext, name: str, planned: PlannedNode) -> ev.PausePointOpened:
    """Return the point at which a node waits for somebody."""
    node = planned.node
    field = "timeout" if isinstance(node, ChildWorkflow) else "deadline"
    length = _span(turn, name, planned, field) if hasattr(node, field) else None
    deadline = turn.now + length if length is not None else None
    on_deadline = cast("str | None", getattr(node, "on_deadline", None))
    if isinstance(node, ChildWorkflow) and deadline is not None:
        on_deadline = "timeout"
    rules: ApprovalRules | None = None
    remind_at: tuple[int, ...] = ()
    escalate_at: int | None = None
    if isinstance(node, AskingNode):
        rules = _rules(turn, name, planned, node)
        remind_at = tuple(sorted(turn.now + after for after in node.remind))
        escalate_at = turn.now + node.escalate.after if node.escalate is not None else None
        longest = turn.state.plan.definition.settings.max_pause
        if deadline is None and isinstance(longest, int):
            deadline, on_deadline = turn.now + longest, "expired"
    heartbeat = node.heartbeat if isinstance(node, Callback) else None
    return ev.PausePointOpened(
        node=name,
        point=turn.new_id(),
        kind=_POINT_KINDS[node.type],
        deadline=deadline,
        on_deadline=on_deadline,
        details=_details(turn, name, planned),
        rules=rules,
        remind_at=remind_at,
        escalate_at=escalate_at,
        beat_by=turn.now + heartbeat if heartbeat else None,
    )


def _details(turn: DecisionContext, name: str, planned: PlannedNode) -> dict[str, object]:
    """Return what whoever is waited for is shown, with its templates filled."""
    details: dict[str, object] = {}
    for field in planned.fillings:
        last = field.rpartition(".")[2]
        if last in ("title", "signal", "key"):
            details[field] = turn.text(name, planned, field)
            # A wait for what cannot come would be a wait for ever.
            what = {"signal": "name", "key": "key"}.get(last)
            if what is not None and (fault := fault_in(what, details[field])) is not None:
                raise ExpressionError(f"`{field}`: {fault}", code="invalid_argument")
        elif field == "input" and planned.role == "callback":
            continue  # it is the call's
        elif not field.startswith(("deadline", "timeout", "approvers", "escalate")):
            details[field] = turn.render(name, planned, field)
    if isinstance(planned.node, ChildWorkflow):
        details["child"] = turn.state.child_id(name, turn.state.node(name).attempt)
    failure = turn.state.node(name).error
    if failure is not None:
        details["failure"] = {"code": failure.code, "message": failure.message, "context_id": failure.context_id}
    return details


def user_names(turn: DecisionContext, name: str, planned: PlannedNode, field: str) -> list[str]:
    """Return the users that an expression names."""
    found = turn.render(name, planned, field)
    if not isinstance(found, list) or not all(isinstance(user, str) and user for user in found):
        raise ExpressionError(f"`{field}` needs a list of user names.", code="invalid_argument")
    return found


def _rules(turn: DecisionContext, name: str, planned: PlannedNode, node: AskingNode) -> ApprovalRules | None:
    """Return who is asked and how they decide, with names and roles filled in."""
    users = [turn.text(name, planned, field) for field in planned.fillings if field.startswith("approvers.users.")]
    roles = [turn.text(name, planned, field) for field in planned.fillings if field.startswith("approvers.roles.")]
    if "approvers.expression" in planned.fillings:
        users.extend(user_names(turn, name, planned, "approvers.expression"))
    if node.approvers is not None and not any((*users, *roles)):
        raise ExpressionError("`approvers` names nobody, so nobody could decide.", code="invalid_argument")
    asked = ApprovalRules(users=tuple(users), roles=tuple(roles), escalation_ahead=node.escalate is not None)
    if isinstance(node, Approval):
        return replace(
            asked,
            need=node.need,
            reject_need=node.reject_need,
            exclude_requester=node.exclude_requester,
            requester=turn.state.facts.user,
            order=node.order,
            comment_required=node.comment == "required",
        )
    return asked if node.approvers is not None else None


_POINT_KINDS: dict[str, ev.PointKind] = {
    "approval": "approval",
    "form": "form",
    "wait_signal": "signal",
    "callback": "callback",
    "workflow": "child",
}


def _until(turn: DecisionContext, name: str, planned: PlannedNode, node: Delay) -> int:
    if node.until is None:
        return turn.now + (_span(turn, name, planned, "duration") or 0)
    moment = turn.render(name, planned, "until")
    if isinstance(moment, int) and not isinstance(moment, bool):
        if moment > LAST_MOMENT:
            raise ExpressionError(f"`until`: {shown(moment)} ms lies after the year 9999.", code="invalid_argument")
        return moment
    if isinstance(moment, str):
        return parse_timestamp(moment).ns // 1_000_000
    raise ExpressionError("`until` needs a timestamp.", code="invalid_argument")


def _span(turn: DecisionContext, name: str, planned: PlannedNode, field: str) -> int | None:
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
