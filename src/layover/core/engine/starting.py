"""When an execution starts: at once, at a moment, when a limit admits it, or when its gate opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.engine import events as ev

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext


def create(context: DecisionContext, command: cmd.Create) -> None:
    """Create an execution and start it, or let it wait for its start; if it starts at once, the creator drives it."""
    plan = context.state.plan
    created = ev.ExecutionCreated(
        id=command.id,
        workflow=plan.definition.name,
        hash=plan.hash,
        input=command.input,
        trigger=command.trigger,
        user=command.user,
        start_at=command.start_at,
        hold=command.hold,
        version=command.version,
        tags=command.tags,
        priority=command.priority,
        correlation_id=command.correlation_id,
        traceparent=command.traceparent,
    )
    if command.parent is not None:
        parent, point, depth = command.parent, command.parent_point, command.depth
        created = replace(created, parent=parent, parent_point=point, depth=depth)
    context.emit(created)
    if (fork := command.fork) is not None:
        context.emit(
            ev.ExecutionForked(
                origin=fork.origin,
                at=fork.at,
                from_node=fork.from_node,
                nodes=fork.nodes,
                sets=fork.sets,
                reason=fork.reason,
                by=fork.by,
            )
        )
    if command.paused:
        context.emit(ev.ExecutionPausing(reason=command.paused, by=command.paused_by))
    if command.instance and _may_start(context):
        context.emit(ev.LegStarted(cause="created", instance=command.instance, traceparent=command.leg_traceparent))
    start(context)


def admit(context: DecisionContext) -> None:
    """Admit an execution that a limit held; behind a closed gate it starts when the gate opens."""
    if context.state.facts.hold:
        context.emit(ev.ExecutionAdmitted())
        start(context)


def start(context: DecisionContext) -> None:
    """Start an execution that has not started, if nothing prevents it."""
    if _may_start(context):
        context.emit(ev.ExecutionStarted())
        if not context.state.scopes.rows[""].open:  # a fork whose results are complete
            context.settled.append("")


def _may_start(context: DecisionContext) -> bool:
    facts = context.state.facts
    if facts.started_at or facts.closed or facts.hold or facts.gate != "open":
        return False
    return facts.start_at is None or facts.start_at <= context.now
