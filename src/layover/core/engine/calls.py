"""The rules for calls that failed, and for probes of lost calls.

The call of a callback node may still be out while its point is open. If the callback has arrived already, a failure of
that call changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.activate import complete
from layover.core.engine.failures import attempt_failed
from layover.core.engine.in_doubt import ask_about, is_probing

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext


def failed(context: DecisionContext, name: str, error: ev.Error, report: cmd.Fail | None = None) -> None:
    """Decide what follows a call that failed, with what it reported, or that timed out."""
    node = context.state.node(name)
    if node.doubt and is_probing(context.state, name):
        _cannot_tell(context, name, error.message)
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
    if not is_probing(context.state, name):
        return
    if command.happened is None:
        _cannot_tell(context, name, command.problem)
        return
    context.emit(ev.NodeProbed(node=name, attempt=command.attempt, happened=command.happened))
    if command.happened:
        complete(context, name, command.output)


def _cannot_tell(context: DecisionContext, name: str, problem: str) -> None:
    attempt = context.state.node(name).attempt
    context.emit(ev.NodeProbed(node=name, attempt=attempt, problem=problem))
    ask_about(context, name, problem)
