"""The spans of a leg and its attempts, as the runtime sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.runtime.execution.pause_cause import pause_cause
from layover.tracing.current import current_traceparent
from layover.tracing.leg_facts import LegFacts

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionState
    from layover.ports.records import Rest
    from layover.runtime.execution.command_cursor import CommandCursor
    from layover.tracing.tracer import LegSpan, Tracer

C = TypeVar("C", bound=cmd.Command)


class TracedExecution(Protocol):
    """An active execution whose leg may have a span."""

    leg_span: LegSpan | None

    @property
    def state(self) -> ExecutionState:
        """Its state."""

    @property
    def command_cursor(self) -> CommandCursor:
        """How far the commands have been read."""


def sent_here(tracer: Tracer | None, command: C) -> C:
    """Return a command with the current span as the one from which it is sent; without a tracer, as it is."""
    span = current_traceparent() if tracer is not None else ""
    return replace(command, traceparent=span) if span else command


def begin_leg(
    tracer: Tracer, active: TracedExecution, inputs: list[cmd.AnyCommand], instance: str, now: int
) -> list[cmd.AnyCommand]:
    """Begin the span of the leg that one of the inputs starts; return the inputs with the span to be written."""
    for index, command in enumerate(inputs):
        cause = _cause(command, now)
        if not cause:
            continue
        before, facts = _facts(active.state, command, cause, instance)
        senders = active.command_cursor.senders
        if isinstance(command, cmd.Retry | cmd.Rewind) and command.traceparent:
            senders.append(command.traceparent)
        active.leg_span = span = tracer.begin_leg(facts, before, senders)
        if span is None:
            return inputs
        stamped: cmd.AnyCommand = replace(command, leg_traceparent=span.traceparent)
        return [*inputs[:index], stamped, *inputs[index + 1 :]]
    return inputs


def end_leg(span: LegSpan, state: ExecutionState, rest: Rest) -> None:
    """End the span of a leg whose execution rests or is closed."""
    facts = state.facts
    if not facts.closed:
        span.end("paused", pause_cause=pause_cause(state, rest))
    elif facts.error is not None:
        span.end(facts.closed, error_type=facts.error.type or facts.error.code)
    else:
        span.end(facts.closed)


def _cause(command: cmd.AnyCommand, now: int) -> str:
    """Return the cause of the leg that a command starts; empty if it starts none."""
    match command:
        case cmd.StartLeg():
            return command.cause
        case cmd.Create():
            waits = command.hold or command.paused or (command.start_at or 0) > now
            return "" if waits or not command.instance else "created"
        case cmd.Retry(instance=str(by)) if by:
            return "retry"
        case cmd.Rewind(instance=str(by)) if by:
            return "rewind"
        case _:
            return ""


def _facts(state: ExecutionState, command: cmd.AnyCommand, cause: str, instance: str) -> tuple[str, LegFacts]:
    """Return the span before a leg, and what its own span says."""
    workflow = state.plan.definition.name
    if isinstance(command, cmd.Create):
        return command.traceparent, LegFacts(command.id, workflow, command.version, command.depth, 1, cause, instance)
    facts = state.facts
    return facts.traceparent, LegFacts(facts.id, workflow, facts.version, facts.depth, facts.legs + 1, cause, instance)
