"""The first step of a node that has become ready, by its type."""

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
    Form,
    Http,
    Merge,
    Send,
    Set,
    Switch,
)
from layover.core.definitions.secret_use import HTTP_FIELDS
from layover.core.engine import events as ev
from layover.core.engine.approvals import settle_approval
from layover.core.engine.consequences import PREFIX, consequences
from layover.core.engine.containers import enter
from layover.core.engine.failures import cancel_points, error_of, fail
from layover.core.engine.in_doubt import ask_about, is_asked_about, purpose_of
from layover.core.engine.letters import letter, send_id
from layover.core.engine.node_transitions import variable_scope
from layover.core.engine.sizes import bounded
from layover.core.expressions import ExpressionError, Meter
from layover.core.expressions.instants import LAST_MOMENT, parse_timestamp
from layover.core.expressions.values import display, equal
from layover.core.requesters import requester_of
from layover.core.signal_texts import fault_in

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.plan import PlannedNode


def activate(context: DecisionContext, name: str) -> None:
    """Decide the first step of a ready node; afterwards it is no longer ready."""
    planned = context.state.planned(name)
    try:
        match planned.role:
            case "call" | "callback" | "awaited" | "detached":
                node = context.state.nodes.rows[name]
                if node.doubt and is_asked_about(context.state, name):
                    ask_about(context, name)
                else:
                    attempt(context, name, planned, "recovered" if node.recoveries else "reached")
            case "inline":
                _decide_inline(context, name, planned)
            case "container":
                enter(context, name, planned)
            case "wait":
                _wait(context, name, planned)
            case _:
                assert_never(planned.role)
    except ExpressionError as failure:
        fail(context, name, error_of(failure))


def attempt(context: DecisionContext, name: str, planned: PlannedNode, cause: ev.Cause, *, lost: bool = True) -> None:
    """Make another attempt of a node that calls something, or that calls something and waits for its callback.

    A recovered attempt counts as `lost`, unless its instance was stopped in order.
    """
    number = (context.state.node(name).attempt or context.state.counts.rows["old_attempts"]) + 1
    node_type = planned.node.type
    if planned.role == "call":
        queued = not context.slots.take(node_type)
    else:
        queued = planned.role == "callback" and not context.slots.take(planned.calls)
    context.emit(
        ev.NodeScheduled(node=name, node_type=node_type, attempt=number, cause=cause, queued=queued, lost=lost)
    )
    if not queued:
        start_attempt(context, name, planned, number)


def start_queued(context: DecisionContext, name: str) -> None:
    """Start a call that waits for a call slot, if one is free now."""
    node = context.state.node(name)
    if node.status == "queued" and context.state.facts.gate == "open":
        planned = context.state.planned(name)
        if context.slots.take(planned.calls):
            start_attempt(context, name, planned, node.attempt)


def start_attempt(context: DecisionContext, name: str, planned: PlannedNode, number: int) -> None:
    """Start an attempt that has been scheduled: its templates are rendered now and make its input."""
    try:
        if planned.role == "awaited":
            _wait(context, name, planned)
            return
        given = _input(context, name, planned)
        timeout = _span(context, name, planned, "timeout")
        opened: ev.PausePointOpened | None = None
        # A call that is repeated after its instance was lost replies to the point that is open already.
        if planned.role == "callback" and not context.state.node(name).point:
            opened = _build_point_opened(context, name, planned)
    except ExpressionError as failure:
        fail(context, name, error_of(failure))
        return
    until = context.now + timeout if timeout is not None else None
    context.emit(ev.NodeStarted(node=name, attempt=number, input=given, timeout_at=until))
    if opened is not None:
        context.emit(opened)
    if planned.role == "detached":  # nothing waits for the child, or for what is sent: the node is done
        if isinstance(planned.node, Send):
            complete(context, name, {"id": send_id(context.state, name, number)})
        else:
            complete(context, name, {"execution_id": context.state.child_id(name, number)})


def complete(context: DecisionContext, name: str, output: object, port: str = "done") -> None:
    """Decide that a node is done."""
    started = context.state.node(name).started_at
    duration = context.now - started if started else 0
    context.emit(ev.NodeCompleted(node=name, output=output, port=port, duration_ms=duration))
    path = context.scope_of(name)
    if not context.state.scopes.rows[path].open:
        context.settled.append(path)


# Nodes that the engine decides by itself


def _decide_inline(context: DecisionContext, name: str, planned: PlannedNode) -> None:
    node = planned.node
    match node:
        case Condition():
            held = context.holds(context.scope_of(name), name, planned, "if", None)
            complete(context, name, held, "true" if held else "false")
        case Switch():
            complete(context, name, None, _chosen_port(context, name, planned, node))
        case Set():
            values = cast("dict[str, object]", context.render(name, planned, "values"))
            scope = variable_scope(context.state, context.scope_of(name))
            context.emit(ev.VariableSet(node=name, scope=scope, values=values))
            complete(context, name, None)
        case Compute():
            complete(context, name, context.render(name, planned, "output"))
        case Merge():
            complete(context, name, _merged(context, name, planned, node))
        case End():
            _end(context, name, planned, node)
        case _:
            raise TypeError(f"no rule activates a node of type {node.type}")


def _chosen_port(context: DecisionContext, name: str, planned: PlannedNode, node: Switch) -> str:
    value = context.evaluate(name, planned, "value") if node.value is not None else None
    for index, case in enumerate(node.cases):
        if case.equals is not UNSET:
            if equal(value, context.render(name, planned, f"cases.{index}.equals"), Meter()):
                return case.port
        elif context.holds(context.scope_of(name), name, planned, f"cases.{index}.if", None):
            return case.port
    return "default"


def _merged(context: DecisionContext, name: str, planned: PlannedNode, node: Merge) -> object:
    if node.strategy == "custom":
        return context.render(name, planned, "output")
    path = context.scope_of(name)
    nodes = context.state.graph(path).nodes
    rows = {nodes[one]: context.state.node(context_id(path, nodes[one].id)) for one in planned.sources}
    arrived = {
        one.id: row
        for one, row in rows.items()
        if planned.index in one.targets(row.port) and (not node.branches or one.id in node.branches)
    }
    if node.strategy == "all":
        return bounded({id_: row.output for id_, row in arrived.items()}, "The merged output")
    by_time = sorted(arrived.values(), key=lambda row: row.closed_seq)
    if not by_time:
        return None
    return by_time[0 if node.strategy == "first" else -1].output


def _end(context: DecisionContext, name: str, planned: PlannedNode, node: End) -> None:
    output = context.render(name, planned, "output")
    reason = context.text(name, planned, "reason")
    complete(context, name, output)
    finish(context, output, node.outcome, reason)


def finish(context: DecisionContext, output: object, outcome: str = "executed", reason: str = "") -> None:
    """End the execution as planned and cancel what still waits."""
    cancel_points(context, "")
    duration = context.now - context.state.facts.started_at
    context.emit(ev.ExecutionCompleted(output=output, outcome=outcome, reason=reason, duration_ms=duration))


# Nodes that call


def _input(context: DecisionContext, name: str, planned: PlannedNode) -> object:
    node = context.state.node(name)
    if node.doubt and node.input is not None and purpose_of(context.state, name) != "work":
        return node.input  # of the call that was lost: its probe, or its undo, is about that
    if isinstance(planned.node, Send):
        return letter(context, name, planned)
    if planned.node.type == "http":
        return {
            "method": cast("Http", planned.node).method,
            **{field: context.render(name, planned, field) for field in HTTP_FIELDS if field in planned.renderers},
        }
    return context.render(name, planned, "input")


# Nodes that wait


def _wait(context: DecisionContext, name: str, planned: PlannedNode) -> None:
    node = planned.node
    if isinstance(node, Delay):
        until = _until(context, name, planned, node)
        if until <= context.now:
            complete(context, name, None)
        else:
            context.emit(ev.PausePointOpened(node=name, point=context.new_id(), kind="timer", deadline=until))
        return
    opened = _build_point_opened(context, name, planned)
    context.emit(opened)
    settle_approval(context, opened.point)  # it is rejected at once if no approver could approve it


def _build_point_opened(context: DecisionContext, name: str, planned: PlannedNode) -> ev.PausePointOpened:
    """Return the event that opens the pause point of a node."""
    node = planned.node
    field = "timeout" if isinstance(node, ChildWorkflow | Send) else "deadline"
    length = _span(context, name, planned, field) if hasattr(node, field) else None
    deadline = context.now + length if length is not None else None
    on_deadline = cast("str | None", getattr(node, "on_deadline", None))
    if isinstance(node, ChildWorkflow | Send) and deadline is not None:
        on_deadline = "timeout"
    rules: ApprovalRules | None = None
    remind_at: tuple[int, ...] = ()
    escalate_at: int | None = None
    if isinstance(node, AskingNode):
        rules = _rules(context, name, planned, node)
        escalate_at = context.now + node.escalate.after if node.escalate is not None else None
        longest = context.state.plan.definition.settings.max_pause
        if deadline is None and isinstance(longest, int):
            deadline, on_deadline = context.now + longest, "expired"
        remind_at = _reminders(node, context.now, deadline)
    heartbeat = node.heartbeat if isinstance(node, Callback) else None
    return ev.PausePointOpened(
        node=name,
        point=context.new_id(),
        kind=_POINT_KINDS[node.type],
        deadline=deadline,
        on_deadline=on_deadline,
        details=_details(context, name, planned),
        rules=rules,
        remind_at=remind_at,
        escalate_at=escalate_at,
        beat_by=context.now + heartbeat if heartbeat else None,
        again=isinstance(node, AskingNode) and context.state.node(name).waited,
        undo=_undo(context, node) if isinstance(node, Approval | Form) else None,
    )


def _undo(context: DecisionContext, node: Approval | Form) -> int | None:
    """Return for how long an answer can be taken back; None if it cannot."""
    length = context.state.plan.definition.settings.undo if node.undo is None else node.undo
    return length or None


def _reminders(node: AskingNode, now: int, deadline: int | None) -> tuple[int, ...]:
    """Return when people are reminded; a moment before the deadline that has passed already is none."""
    moments: set[int] = set()
    for one in node.remind:
        if isinstance(one, int):
            moments.add(now + one)
        elif deadline is not None and deadline - one.before > now:
            moments.add(deadline - one.before)
    return tuple(sorted(moments))


def _details(context: DecisionContext, name: str, planned: PlannedNode) -> dict[str, object]:
    """Return the details that a pause point shows, with their templates rendered."""
    if isinstance(planned.node, Send):
        return letter(context, name, planned)
    details: dict[str, object] = {}
    for field in planned.renderers:
        last = field.rpartition(".")[2]
        if last in ("title", "signal", "key"):
            details[field] = context.text(name, planned, field)
            # A wait for a signal that cannot come would never end.
            what = {"signal": "name", "key": "key"}.get(last)
            if what is not None and (fault := fault_in(what, details[field])) is not None:
                raise ExpressionError(f"`{field}`: {fault}", code="invalid_argument")
        elif field == "input" and planned.role == "callback":
            continue  # part of the call, not of the question
        elif field.startswith(PREFIX):
            continue  # together below
        elif not field.startswith(("deadline", "timeout", "approvers", "escalate")):
            details[field] = context.render(name, planned, field)
    if isinstance(planned.node, ChildWorkflow):
        details["child"] = context.state.child_id(name, context.state.node(name).attempt)
    if isinstance(planned.node, AskingNode) and (found := consequences(context, name, planned)):
        details["leads_to"] = found
    failure = context.state.node(name).error
    if failure is not None:
        details["failure"] = {"code": failure.code, "message": failure.message, "context_id": failure.context_id}
    return details


def user_names(context: DecisionContext, name: str, planned: PlannedNode, field: str) -> list[str]:
    """Return the user names that an expression gives."""
    found = context.render(name, planned, field)
    if not isinstance(found, list) or not all(isinstance(user, str) and user for user in found):
        raise ExpressionError(f"`{field}` needs a list of user names.", code="invalid_argument")
    return found


def _rules(context: DecisionContext, name: str, planned: PlannedNode, node: AskingNode) -> ApprovalRules | None:
    """Return the rules of an approval, with user names and roles rendered."""
    users = [context.text(name, planned, field) for field in planned.renderers if field.startswith("approvers.users.")]
    roles = [context.text(name, planned, field) for field in planned.renderers if field.startswith("approvers.roles.")]
    if "approvers.expression" in planned.renderers:
        users.extend(user_names(context, name, planned, "approvers.expression"))
    if node.approvers is not None and not any((*users, *roles)):
        problem = "`approvers` gives neither a user nor a role: an approval needs at least one."
        raise ExpressionError(problem, code="invalid_argument")
    asked = ApprovalRules(users=tuple(users), roles=tuple(roles), escalation_ahead=node.escalate is not None)
    if isinstance(node, Approval):
        return replace(
            asked,
            need=node.need,
            reject_need=node.reject_need,
            exclude_requester=node.exclude_requester,
            requester=_requester(context, node),
            order=node.order,
            comment_required=node.comment == "required",
        )
    return asked if node.approvers is not None else None


def _requester(context: DecisionContext, node: Approval) -> str | None:
    """Return who asked for the execution; an approval that excludes them cannot ask if that is not known."""
    facts = context.state.facts
    requester = requester_of(facts.user, facts.trigger)
    if node.exclude_requester and not requester:
        problem = "`exclude_requester` needs to know who started the execution: start it as a user."
        raise ExpressionError(problem, code="invalid_argument")
    return requester


_POINT_KINDS: dict[str, ev.PointKind] = {
    "approval": "approval",
    "form": "form",
    "wait_signal": "signal",
    "callback": "callback",
    "workflow": "child",
    "send": "delivery",
}


def _until(context: DecisionContext, name: str, planned: PlannedNode, node: Delay) -> int:
    if node.until is None:
        return context.now + (_span(context, name, planned, "duration") or 0)
    moment = context.render(name, planned, "until")
    if isinstance(moment, int) and not isinstance(moment, bool):
        if moment > LAST_MOMENT:
            raise ExpressionError(f"`until`: {display(moment)} ms lies after the year 9999.", code="invalid_argument")
        return moment
    if isinstance(moment, str):
        return parse_timestamp(moment).ns // 1_000_000
    raise ExpressionError("`until` needs a timestamp.", code="invalid_argument")


def _span(context: DecisionContext, name: str, planned: PlannedNode, field: str) -> int | None:
    """Return a duration that a node gives as text or by a template."""
    given: int | str | None = getattr(planned.node, field)
    if given is None or isinstance(given, int):
        return given
    found = context.render(name, planned, field)
    if isinstance(found, str):
        try:
            return parse_duration(found)
        except ValueError as error:
            raise ExpressionError(f"`{field}`: {error}.", code="invalid_argument") from error
    raise ExpressionError(f"`{field}` needs a duration such as `30s`.", code="invalid_argument")
