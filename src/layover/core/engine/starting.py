"""When an execution begins: at once, at a moment, when the limit that holds it lets it, or when its gate opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext


def create(context: DecisionContext, command: cmd.Create) -> None:
    """Begin an execution, or let it wait for its start; whoever begins it at once drives its first leg."""
    plan = context.state.plan
    context.emit(
        ev.ExecutionCreated(
            id=command.id,
            workflow=plan.definition.name,
            hash=plan.hash,
            input=command.input,
            trigger=command.trigger,
            user=command.user,
            parent=command.parent,
            parent_point=command.parent_point,
            start_at=command.start_at,
            hold=command.hold,
            depth=command.depth,
            version=command.version,
            tags=command.tags,
            priority=command.priority,
            correlation_id=command.correlation_id,
        )
    )
    if command.paused:
        context.emit(ev.ExecutionPausing(reason=command.paused, by=command.paused_by))
    if command.instance and _may_start(context):
        context.emit(ev.LegStarted(cause="created", instance=command.instance))
    start(context)


def admit(context: DecisionContext) -> None:
    """Hold an execution no longer; behind a closed gate it starts when that opens."""
    if context.state.facts.hold:
        context.emit(ev.ExecutionAdmitted())
        start(context)


def start(context: DecisionContext) -> None:
    """Start an execution that has not begun, if nothing stands against it."""
    if _may_start(context):
        context.emit(ev.ExecutionStarted())


def _may_start(context: DecisionContext) -> bool:
    facts = context.state.facts
    if facts.started_at or facts.closed or facts.hold or facts.gate != "open":
        return False
    return facts.start_at is None or facts.start_at <= context.now
