"""The log lines of a leg: what became durable, told by its events.

A leg looks up once whether anything below a warning is wanted, and pays nothing for this otherwise. No line has a
payload in it: inputs, outputs and answers are in the log of the execution, for those who may read them.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from layover.core.engine import events as ev
from layover.core.moments import moment
from layover.redaction import redact
from layover.tracebacks import error_summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.state import ExecutionState
    from layover.runtime.execution.pending_append import PendingAppend

_log = logging.getLogger("layover.execution")

_PEOPLE: Final = frozenset({"approval", "form"})


def log_level() -> int:
    """Return the lowest level at which a leg has anything to log now; 0 if that is only what failed."""
    if not _log.isEnabledFor(logging.INFO):
        return 0
    return logging.DEBUG if _log.isEnabledFor(logging.DEBUG) else logging.INFO


def log_step(state: ExecutionState, step: PendingAppend, level: int) -> None:
    """Log what the events of a durable step say, if that is wanted; but not yet that the execution failed."""
    lines = _LINES[level]
    for event in step.events:
        line = lines.get(type(event))
        if line is not None:
            line(state, event)


def log_failed(state: ExecutionState, step: PendingAppend) -> None:
    """Log that an execution has failed, behind the attempts that it failed with."""
    for event in step.events:
        if isinstance(event, ev.ExecutionFailed):
            facts, error = state.facts, event.error
            _log.error(
                "execution_failed execution=%s workflow=%s node=%s code=%s error=%s",
                *(facts.id, facts.workflow, event.node, error.code, redact(error_summary(error.type, error.message))),
            )


def log_paused(state: ExecutionState) -> None:
    """Log that an execution now waits for people, or was paused by an operator."""
    facts = state.facts
    kinds = sorted({point.kind for point in state.points.rows.values() if point.status == "open"} & _PEOPLE)
    cause = "operator" if facts.gate != "open" else ",".join(kinds) or "incident"
    _log.info("execution_paused execution=%s workflow=%s cause=%s", facts.id, facts.workflow, cause)


def _started(state: ExecutionState, _event: ev.ExecutionStarted) -> None:
    facts = state.facts
    _log.info("execution_started execution=%s workflow=%s version=%s", facts.id, facts.workflow, facts.version)


def _pausing(state: ExecutionState, event: ev.ExecutionPausing) -> None:
    facts = state.facts
    _log.info(
        "execution_pausing execution=%s workflow=%s by=%s reason=%s", facts.id, facts.workflow, event.by, event.reason
    )


def _opened(state: ExecutionState, event: ev.PausePointOpened) -> None:
    facts, deadline = state.facts, moment(event.deadline)
    _log.info(
        "pause_created execution=%s workflow=%s node=%s point=%s kind=%s deadline=%s",
        *(facts.id, facts.workflow, event.node, event.point, event.kind, deadline),
    )


def _answered(state: ExecutionState, event: ev.PausePointAnswered) -> None:
    facts = state.facts
    _log.info(
        "pause_answered execution=%s workflow=%s point=%s port=%s by=%s",
        *(facts.id, facts.workflow, event.point, event.port, event.by),
    )


def _taken_back(state: ExecutionState, event: ev.PausePointTakenBack) -> None:
    facts = state.facts
    _log.info(
        "pause_taken_back execution=%s workflow=%s point=%s by=%s", facts.id, facts.workflow, event.point, event.by
    )


def _applied(state: ExecutionState, event: ev.PausePointApplied) -> None:
    facts, by = state.facts, None
    _log.info("execution_resumed execution=%s workflow=%s point=%s by=%s", facts.id, facts.workflow, event.point, by)


def _resumed(state: ExecutionState, event: ev.ExecutionResumed) -> None:
    facts, point = state.facts, None
    _log.info("execution_resumed execution=%s workflow=%s point=%s by=%s", facts.id, facts.workflow, point, event.by)


def _expired(state: ExecutionState, event: ev.PausePointExpired) -> None:
    _log.info("pause_expired execution=%s workflow=%s point=%s", state.facts.id, state.facts.workflow, event.point)


def _retried(state: ExecutionState, event: ev.NodeFailed | ev.NodeUndoFailed) -> None:
    if event.retry_at is not None:
        facts, error = state.facts, event.error
        _log.debug(
            "retry_scheduled execution=%s workflow=%s node=%s attempt=%d at=%s code=%s",
            *(facts.id, facts.workflow, event.node, event.attempt, moment(event.retry_at), error.code),
        )


def _reopened(state: ExecutionState, event: ev.ExecutionReopened) -> None:
    facts = state.facts
    _log.info("execution_reopened execution=%s workflow=%s why=%s by=%s", facts.id, facts.workflow, event.why, event.by)


def _moved(state: ExecutionState, event: ev.ExecutionMoved) -> None:
    id_, workflow = state.facts.id, state.facts.workflow
    _log.info("execution_moved execution=%s workflow=%s version=%s by=%s", id_, workflow, event.version, event.by)


def _completed(state: ExecutionState, event: ev.ExecutionCompleted) -> None:
    facts = state.facts
    _log.info(
        "execution_completed execution=%s workflow=%s outcome=%s ms=%d",
        *(facts.id, facts.workflow, event.outcome, event.duration_ms),
    )


def _cancelled(state: ExecutionState, event: ev.ExecutionCancelled) -> None:
    facts = state.facts
    _log.info(
        "execution_cancelled execution=%s workflow=%s by=%s reason=%s", facts.id, facts.workflow, event.by, event.reason
    )


def _call_started(state: ExecutionState, event: ev.NodeStarted) -> None:
    facts = state.facts
    _log.debug(
        "node_started execution=%s workflow=%s node=%s attempt=%d", facts.id, facts.workflow, event.node, event.attempt
    )


def _call_completed(state: ExecutionState, event: ev.NodeCompleted) -> None:
    facts = state.facts
    _log.debug(
        "node_completed execution=%s workflow=%s node=%s port=%s ms=%d",
        *(facts.id, facts.workflow, event.node, event.port, event.duration_ms),
    )


_Lines: TypeAlias = "dict[type[ev.AnyEvent], Callable[[ExecutionState, Any], None]]"

_INFO: Final[_Lines] = {
    ev.ExecutionStarted: _started,
    ev.ExecutionPausing: _pausing,
    ev.PausePointOpened: _opened,
    ev.PausePointAnswered: _answered,
    ev.PausePointTakenBack: _taken_back,
    ev.PausePointApplied: _applied,
    ev.PausePointExpired: _expired,
    ev.ExecutionResumed: _resumed,
    ev.ExecutionReopened: _reopened,
    ev.ExecutionMoved: _moved,
    ev.ExecutionCompleted: _completed,
    ev.ExecutionCancelled: _cancelled,
}
_LINES: Final[dict[int, _Lines]] = {
    logging.INFO: _INFO,
    logging.DEBUG: {
        **_INFO,
        ev.NodeStarted: _call_started,
        ev.NodeCompleted: _call_completed,
        ev.NodeFailed: _retried,
        ev.NodeUndoFailed: _retried,
    },
}
