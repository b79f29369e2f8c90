"""The rules for calls that failed, and for probes and undos of lost calls.

The call of a callback node may still be out while its point is open. If the callback has arrived already, a failure of
that call changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine import events as ev
from layover.core.engine.activate import complete
from layover.core.engine.failures import attempt_failed, retry_of
from layover.core.engine.in_doubt import ask_about, purpose_of

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext


def failed(context: DecisionContext, name: str, error: ev.Error, report: cmd.Fail | None = None) -> None:
    """Decide what follows a call that failed, with what it reported, or that timed out."""
    node = context.state.node(name)
    if node.doubt and (purpose := purpose_of(context.state, name)) != "work":
        if purpose == "probe":
            _cannot_tell(context, name, error.message)
        else:
            _undo_failed(context, name, error, report)
        return
    point = context.state.points.get(node.point) if node.point else None
    if point is not None:
        if point.status == "answered":
            context.emit(ev.NodeHandedOver(node=name))
            return
        context.emit(ev.PausePointCancelled(point=point.id, reason=error.message))
    attempt_failed(context, name, error, report)


def probed(context: DecisionContext, command: cmd.Probed) -> None:
    """Take the result of a probe: the node is done, is called again, or an operator is asked."""
    name = command.node
    if purpose_of(context.state, name) != "probe":
        return
    if command.happened is None:
        _cannot_tell(context, name, command.problem)
        return
    context.emit(ev.NodeProbed(node=name, attempt=command.attempt, happened=command.happened))
    if command.happened:
        complete(context, name, command.output)


def undone(context: DecisionContext, command: cmd.Undone) -> None:
    """Take the end of an undo: the node is called again."""
    if purpose_of(context.state, command.node) == "undo":
        context.emit(ev.NodeUndone(node=command.node, attempt=command.attempt))


def stop_undoing(context: DecisionContext, name: str, error: ev.Error, report: cmd.Fail | None = None) -> None:
    """Decide that an undo has failed for good: an operator is asked."""
    node = context.state.node(name)
    error = replace(error, attempt=node.attempt, context_id=name)
    traceback = report.traceback if report is not None else None
    context.emit(ev.NodeUndoFailed(node=name, attempt=node.attempt, error=error, traceback=traceback))
    ask_about(context, name, f"The undo failed: {error.message}")


def _undo_failed(context: DecisionContext, name: str, error: ev.Error, report: cmd.Fail | None) -> None:
    """Decide what follows an undo that failed: another attempt, as the node's `retry` says, or a question."""
    node = context.state.node(name)
    found = retry_of(context, name, error, node.undo_failures + 1, report)
    if found.retry_at is None:
        stop_undoing(context, name, error, report)
        return
    context.emit(
        ev.NodeUndoFailed(
            node=name, attempt=node.attempt, error=found.error, retry_at=found.retry_at, traceback=found.traceback
        )
    )


def _cannot_tell(context: DecisionContext, name: str, problem: str) -> None:
    attempt = context.state.node(name).attempt
    context.emit(ev.NodeProbed(node=name, attempt=attempt, problem=problem))
    ask_about(context, name, problem)
