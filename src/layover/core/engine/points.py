"""Answers, reports and deadlines of pause points.

An answer is recorded at once and applied when its turn comes: in a `sequential` workflow the work that one answer
releases drains before the next is applied; in a `concurrent` one it is applied at once. Behind a closed gate answers
are recorded and nothing is applied. Answer and deadline race only in the order in which they are decided.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, Approver, DecisionRefused, check_delegation
from layover.core.definitions.node_types import Callback
from layover.core.engine import commands as cmd
from layover.core.engine import events as ev
from layover.core.engine.activate import attempt, complete, user_names
from layover.core.engine.answers import decision_of, refusal, schema_problem
from layover.core.engine.approvals import decision_output, settle_approval
from layover.core.engine.failures import TIMEOUT, attempt_failed, error_of, fail
from layover.core.engine.node_transitions import variable_scope
from layover.core.engine.rewind import call_out, give_up
from layover.core.engine.sizes import bounded
from layover.core.engine.take_backs import make_final
from layover.core.engine.undo_windows import end_of_window, next_final
from layover.core.expressions import ExpressionError

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import ExecutionState, Point

# Each heartbeat is an event, so not every one of them is written.
_MOST_BEATS = 4
_SILENT = ev.Error(
    code="heartbeat_timeout", type="TimeoutError", message="No callback and no heartbeat arrived in time."
)
_LOST = ev.Error(
    code="call_lost",
    message="its instance was lost while it ran, and it is not known whether it had its effect.",
    retryable=False,
)
_UNWIRED = {"rejected": "rejected", "expired": "pause_expired"}


def answer(context: DecisionContext, command: cmd.Answer) -> None:
    """Record the answer of a person; a refused or repeated answer changes nothing.

    An answer counts when it is read: the moment at which it was given does not decide whether a deadline came first.
    """
    if refusal(context.state, command) is not None:
        return
    point = context.state.points[command.point]
    at = command.at if command.at != context.now else None
    if point.kind == "form":
        context.emit(
            ev.PausePointAnswered(
                point=point.id,
                output=command.data,
                by=command.by,
                at=at,
                variables=command.variables,
                seen=command.seen,
                final_at=end_of_window(point, context.now if at is None else at),
            )
        )
        return
    decision = decision_of(point, command, context.now if at is None else at)
    if decision is None:
        return
    context.emit(ev.PausePointDecided(point=point.id, decision=decision, variables=command.variables))
    settle_approval(context, point.id, at)


def delegate(context: DecisionContext, command: cmd.Delegate) -> None:
    """Let another person act in the place of an approver."""
    point = context.state.points.get(command.point)
    if point is None or point.status != "open" or point.kind != "approval":
        return
    person = Approver(command.by, command.roles)
    found = check_delegation(point.rules or ApprovalRules(), person, point.decisions, command.to)
    if not isinstance(found, DecisionRefused) and found not in (point.rules or ApprovalRules()).delegates:
        context.emit(ev.PausePointDelegated(point=point.id, giver=found[0], taker=found[1]))
        if point.claim is not None and point.claim.by == command.by:  # the other one is at it now
            context.emit(ev.PausePointClaimEnded(point=point.id, by=command.by))


def report(context: DecisionContext, command: cmd.Report) -> None:
    """Take the result of a callback or of a child execution."""
    point = context.state.points.get(command.point)
    if point is not None and point.status == "open" and point.kind in ("callback", "child"):
        context.emit(ev.PausePointAnswered(point=point.id, output=command.output, error=command.error))
        if context.state.node(point.node).status == "queued":  # the callback is there: no need for another call
            context.emit(ev.NodeHandedOver(node=point.node))


def delivered(context: DecisionContext, command: cmd.Delivered) -> None:
    """Take the outcome of what a node has sent."""
    point = context.state.points.get(command.point)
    if point is None or point.status != "open" or point.kind != "delivery":
        return
    if command.error:
        error = ev.Error(code="delivery_failed", message=command.error)
        context.emit(ev.PausePointAnswered(point=point.id, error=error))
    else:
        context.emit(ev.PausePointAnswered(point=point.id, output={"id": command.id, "at": command.at}))


def beat(context: DecisionContext, command: cmd.Beat) -> None:
    """Record a heartbeat; one that comes soon after the last changes nothing."""
    point = context.state.points.get(command.point)
    if point is None or point.status != "open" or point.beat_by is None:
        return
    node = context.state.planned(point.node).node
    length = (node.heartbeat if isinstance(node, Callback) else None) or 0
    beat_by = context.now + length
    if _MOST_BEATS * (beat_by - point.beat_by) >= length:
        context.emit(ev.PausePointBeat(point=point.id, beat_by=beat_by))


def hold(context: DecisionContext, command: cmd.ChildPaused | cmd.ChildResumed) -> None:
    """Record whether the child of a point is paused.

    Behind a closed gate only the confirmation of this very pause counts: an earlier report of the child may be out of
    date because of a later command to it.
    """
    point = context.state.points.get(command.point)
    if point is None or not point.child:
        return
    if isinstance(command, cmd.ChildPaused):
        if not point.held and _is_of_this_pause(context.state, command.order):
            context.emit(ev.PausePointHeld(point=point.id))
    elif point.held and context.state.facts.gate != "pausing":  # it has confirmed, and was resumed on its own
        context.emit(ev.PausePointReleased(point=point.id))


def _is_of_this_pause(state: ExecutionState, order: int) -> bool:
    facts = state.facts
    return order == (facts.pauses if facts.gate != "open" else 0)


def cancel_point(context: DecisionContext, command: cmd.CancelPoint) -> None:
    """Give up a point: its node fails, and may leave by its error port."""
    point = context.state.points.get(command.point)
    if point is not None:
        give_up(context, point, command.reason, command.by)
        message = command.reason or "The pause was cancelled."
        fail(context, point.node, ev.Error(code="pause_cancelled", message=message, retryable=False))


def next_answered(context: DecisionContext) -> Point | None:
    """Return the next point whose answer may be applied now, if there is one."""
    state = context.state
    sequential = state.plan.definition.settings.resume == "sequential"
    if not state.answered.rows or (sequential and state.busy):
        return None
    return state.points[state.answered[state.counts["first_answer"]]]


def apply(context: DecisionContext, point: Point) -> None:
    """Apply the answer of a point and let its node go on."""
    context.emit(ev.PausePointApplied(point=point.id, call=call_out(context, point)))
    if point.variables:
        _set_variables(context, point)
    if point.doubt:
        _settle_doubt(context, point)
    elif point.key:
        run_again(context, point, point.output)
    elif point.error is not None:
        attempt_failed(context, point.node, point.error)
    else:
        _leave(context, point.node, point.port, point.output)


def _set_variables(context: DecisionContext, point: Point) -> None:
    """Set the variables of an answer: in the execution, as a resume does, and in the scope that the branch reads."""
    scopes = dict.fromkeys(("", variable_scope(context.state, context.scope_of(point.node))))
    for scope in scopes:
        context.emit(ev.VariableSet(node=point.node, scope=scope, values=point.variables))


def _settle_doubt(context: DecisionContext, point: Point) -> None:
    """Go on with a node as the operator said: its lost call had its effect, is made again or undone, or has failed."""
    said, name = cast("dict[str, object]", point.output), point.node
    number = context.state.node(name).attempt
    if said["happened"]:
        complete(context, name, said.get("output"))
    elif said.get("otherwise") == "fail":
        context.emit(ev.NodeInDoubt(node=name, attempt=number))  # it still is, for a retry of the execution
        fail(context, name, replace(_LOST, message=f"{point.by or 'An operator'} failed it: {_LOST.message}"))
    else:
        if said.get("otherwise") == "undo":
            context.emit(ev.NodeUndoRequested(node=name, attempt=number))
        attempt(context, name, context.state.planned(name), "recovered")


def run_again(context: DecisionContext, point: Point, value: object) -> None:
    """Record a value that a function waited for and run the function again: it finds the value under its key."""
    context.emit(ev.NodeRecorded(node=point.node, key=point.key, value=value))
    attempt(context, point.node, context.state.planned(point.node), "answered")


def rest(context: DecisionContext, command: cmd.Ask | cmd.Sleep) -> None:
    """Let a running function rest at a point of its own; a key that has a value already is not asked again."""
    if command.key in context.state.node(command.node).journal:
        return
    if isinstance(command, cmd.Ask) and (problem := schema_problem(command.schema)) is not None:
        error = ev.Error(code="bad_schema", message=f"The question `{command.key}`: {problem}", retryable=False)
        attempt_failed(context, command.node, error)
        return
    if isinstance(command, cmd.Sleep):
        kind: ev.PointKind = "timer"
        deadline: int | None = context.now + command.length_ms
        details: dict[str, object] = {}
    else:
        kind = "form"
        deadline = context.now + command.deadline_ms if command.deadline_ms is not None else None
        details = {"title": command.title, "schema": command.schema}
    context.emit(
        ev.PausePointOpened(
            node=command.node,
            point=context.new_id(),
            kind=kind,
            key=command.key,
            deadline=deadline,
            on_deadline="fail" if kind == "form" and deadline is not None else None,
            details=details,
        )
    )


def act_on_time(context: DecisionContext, point: Point) -> None:
    """Do what is due at a point: make final, remind, escalate, end a silent callback, or let the deadline decide."""
    final = next_final(point)
    if final is not None and final <= context.now:
        make_final(context, point)
    elif _is_silent(context, point):
        context.emit(ev.PausePointExpired(point=point.id, call=call_out(context, point)))
        attempt_failed(context, point.node, _SILENT)
    elif point.deadline is not None and point.deadline <= context.now:
        expire(context, point)
    elif point.escalate_at is not None and point.escalate_at <= context.now:
        _escalate(context, point)
    else:
        context.emit(ev.PausePointReminded(point=point.id, number=point.reminded + 1))


def _is_silent(context: DecisionContext, point: Point) -> bool:
    """Return whether a heartbeat is due, and was before the deadline."""
    if point.beat_by is None or point.beat_by > context.now:
        return False
    return point.deadline is None or point.beat_by < point.deadline


def expire(context: DecisionContext, point: Point) -> None:
    """Decide the effect of a deadline that has passed."""
    context.emit(ev.PausePointExpired(point=point.id, child=point.child, call=call_out(context, point)))
    if point.key and point.kind == "timer":
        run_again(context, point, None)
        return
    match point.on_deadline:
        case "partial":
            _complete_partly(context, point)
        case None | "continue":
            complete(context, point.node, None)
        case "approve" | "reject":
            approved = point.on_deadline == "approve"
            output = decision_output(context.now, point.decisions, approved=approved, by=None)
            _leave(context, point.node, "approved" if approved else "rejected", output)
        case "expired":
            _leave(context, point.node, "expired", None)
        case "timeout":
            attempt_failed(context, point.node, TIMEOUT)
        case _:
            message = "The deadline passed without an answer."
            fail(context, point.node, ev.Error(code="deadline_passed", message=message, retryable=False))


def _complete_partly(context: DecisionContext, point: Point) -> None:
    """Go on with the signals that have come, if they are not too large for an event."""
    try:
        complete(context, point.node, bounded(point.received or None, "The received data"))
    except ExpressionError as failure:
        fail(context, point.node, error_of(failure))


def _escalate(context: DecisionContext, point: Point) -> None:
    """Ask more people; a name whose expression fails is left out, so that the others are still asked."""
    planned = context.state.planned(point.node)
    found: dict[str, list[str]] = {"users": [], "roles": []}
    for field in planned.renderers:
        if field.startswith(("escalate.to.users.", "escalate.to.roles.")):
            with suppress(ExpressionError):
                found[field.split(".")[2]].append(context.text(point.node, planned, field))
        elif field == "escalate.to.expression":
            with suppress(ExpressionError):
                found["users"].extend(user_names(context, point.node, planned, field))
    context.emit(ev.PausePointEscalated(point=point.id, users=tuple(found["users"]), roles=tuple(found["roles"])))


def _leave(context: DecisionContext, name: str, port: str, output: object) -> None:
    """Leave by a port; a rejection or an expiry without an edge fails the scope of the node."""
    code = _UNWIRED.get(port)
    if code is not None and not context.state.planned(name).targets(port):
        message = "The request was rejected." if port == "rejected" else "The time to answer has passed."
        fail(context, name, ev.Error(code=code, message=message, retryable=False), caught=False)
        return
    complete(context, name, output, port)
