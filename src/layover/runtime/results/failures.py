"""What went wrong, as callers get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from layover.errors import Failure

if TYPE_CHECKING:
    from layover.core.engine.events import Error
    from layover.tracebacks import Traceback


@overload
def failure_of(error: Error, traceback: Traceback | None = None) -> Failure: ...
@overload
def failure_of(error: Error | None, traceback: Traceback | None = None) -> Failure | None: ...
def failure_of(error: Error | None, traceback: Traceback | None = None) -> Failure | None:
    """Return what went wrong, if something did; a traceback is added only for those who may debug."""
    if error is None:
        return None
    return Failure(
        code=error.code,
        message=error.message,
        type=error.type,
        retryable=error.retryable,
        attempt=error.attempt,
        context_id=error.context_id,
        status=error.status,
        details=error.details,
        traceback=traceback,
    )
