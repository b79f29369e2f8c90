"""Logs attempts that failed, once that is durable: a warning if another follows, else an error."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from layover.core.engine import events as ev
from layover.core.moments import moment
from layover.redaction import redact
from layover.tracebacks import Traceback, error_summary, traceback_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import Facts
    from layover.tracebacks import TracebackFrame

_log = logging.getLogger("layover.execution")

_NO_ATTEMPTS: Final = frozenset({"rejected", "deadline_passed", "pause_cancelled"})  # but what people did, or did not


def log_failed_attempt(
    facts: Facts, event: ev.NodeFailed | ev.NodeUndoFailed, stood_at: Sequence[TracebackFrame] = ()
) -> None:
    """Log a failed attempt with its traceback, or with the place where its function stood when it took too long."""
    error = event.error
    if error.code in _NO_ATTEMPTS or error.context_id not in ("", event.node):
        return  # also a container that failed with what is in it: that has been logged
    level = logging.WARNING if event.retry_at is not None else logging.ERROR
    if not _log.isEnabledFor(level):
        return
    traceback, type_ = event.traceback, error.type or error.code
    message = redact(error.message) if traceback is None else error.message  # that of an exception is redacted
    if traceback is None and stood_at:
        traceback = Traceback(frames=tuple(stood_at))
    text = error_summary(type_, message)
    if isinstance(event, ev.NodeUndoFailed):
        text = f"The undo failed: {text}"
    values = (facts.id, facts.workflow, event.node, event.attempt, error.code, text, moment(event.retry_at))
    if traceback is None:
        _log.log(
            level, "attempt_failed execution=%s workflow=%s node=%s attempt=%d code=%s error=%s retry_at=%s", *values
        )
        return
    lines = traceback_lines(type_, message, traceback)
    _log.log(
        level,
        "attempt_failed execution=%s workflow=%s node=%s attempt=%d code=%s error=%s retry_at=%s traceback=%s",
        *(*values, "\n" + "\n".join(lines)),
    )
