"""The rules for failures: another attempt, an operator, the error port, or the failure of the scope around."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.definitions.node_types import Loop, Parallel, WorkingNode
from layover.core.engine import events as ev
from layover.core.engine.node_transitions import open_scopes, points_in, scopes_within
from layover.core.engine.rewind import can_go_back, give_up, go_back, is_behind
from layover.core.light_structs import LightStruct
from layover.core.retry import FailedAttempt, delay_before, is_exhausted, is_retryable
from layover.tracebacks import shorten

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.expressions import ExpressionError
    from layover.tracebacks import Traceback

# A retry may go on forever, and each attempt is in the log. So of attempts that are retried, later ones keep only the
# innermost places, and still later ones only the beginning of their message.
_WHOLE_TRACEBACKS = 5
_WHOLE_MESSAGES = 100
_SHORT_MESSAGE = 300  # characters

TIMEOUT = ev.Error(code="timeout", type="TimeoutError", message="The attempt took longer than its timeout.")


def error_of(failure: ExpressionError) -> ev.Error:
    """Return the error of an expression that cannot be evaluated: another attempt would not help."""
    return ev.Error(code=failure.code, type="ExpressionError", message=failure.message, retryable=False)


class RetryOutlook(LightStruct):
    """What follows a failed attempt: when the next one is due, if there is one, and the error as the log keeps it."""

    error: ev.Error
    traceback: Traceback | None
    retry_at: int | None = None
    waits: bool = False  # for an operator, since the attempts are exhausted


def retry_of(
    context: DecisionContext, name: str, error: ev.Error, failures: int, report: cmd.Fail | None
) -> RetryOutlook:
    """Return what a node's `retry` says about an attempt that failed, the last of so many in a row."""
    planned, node = context.state.planned(name), context.state.node(name)
    retry = planned.node.retry if isinstance(planned.node, WorkingNode) else None
    error = replace(error, attempt=node.attempt, context_id=name)
    bases, jitter, traceback = (
        (report.bases, report.jitter, report.traceback) if report is not None else ((), 0.0, None)
    )
    if retry is None:
        return RetryOutlook(error, traceback)
    failure = FailedAttempt(
        code=error.code,
        type=error.type,
        message=error.message,
        retryable=error.retryable,
        bases=bases,
        status=error.status,
    )
    if not is_retryable(retry, failure):
        return RetryOutlook(error, traceback)
    if is_exhausted(retry, failures):
        return RetryOutlook(error, traceback, waits=retry.on_exhausted == "pause")
    if traceback is not None and failures > _WHOLE_TRACEBACKS:
        traceback = shorten(traceback)
    if failures > _WHOLE_MESSAGES and len(error.message) > _SHORT_MESSAGE:
        error = replace(error, message=f"{error.message[:_SHORT_MESSAGE]}…")
    return RetryOutlook(error, traceback, context.now + delay_before(retry, failures, jitter))


def attempt_failed(context: DecisionContext, name: str, error: ev.Error, report: cmd.Fail | None = None) -> None:
    """Decide what follows a failed attempt of a node that calls something, with what its call reported."""
    node = context.state.node(name)
    found = retry_of(context, name, error, node.failures + 1, report)
    if found.retry_at is not None or found.waits:
        context.emit(
            ev.NodeFailed(
                node=name,
                error=found.error,
                attempt=node.attempt,
                retry_at=found.retry_at,
                incident=found.waits,
                traceback=found.traceback,
            )
        )
    else:
        fail(context, name, found.error, traceback=found.traceback)


def fail(
    context: DecisionContext, name: str, error: ev.Error, *, caught: bool = True, traceback: Traceback | None = None
) -> None:
    """Decide a final failure: the node leaves by its error port, is skipped, or fails its scope.

    A failure that is not to be `caught` by its own node (a rejection without an edge) fails the scope in any case. If
    no container around handles it either, the execution fails at once and its scopes stay as they are, so that a retry
    can continue exactly here.
    """
    waiting = context.state.points.get(context.state.node(name).point)
    if waiting is not None:  # its call is not made again, so no callback will come
        give_up(context, waiting, error.message)
    while True:
        port = _way_out(context, name) if caught else None
        error = replace(error, context_id=error.context_id or name)
        attempt = context.state.node(name).attempt
        context.emit(ev.NodeFailed(node=name, error=error, attempt=attempt, port=port, traceback=traceback))
        path = context.scope_of(name)
        if port is not None:
            context.settled.append(path)
            return
        if not _is_taken_care_of(context, path):
            _fail_execution(context, name, error)
            return
        container = fail_scope(context, path, error)
        if container is None:
            return
        name, caught, traceback = container, True, None


def _fail_execution(context: DecisionContext, name: str, error: ev.Error) -> None:
    """Fail the execution, or ask again for the answer that led here, if the workflow says so."""
    answered = context.state.facts.answered
    wanted = context.state.plan.definition.settings.on_resume_failure == "reopen"
    if (
        wanted
        and answered
        and answered != name
        and can_go_back(context.state, answered)
        and is_behind(context, name, answered)
    ):
        go_back(context, answered, f"The work after the answer failed: {error.message}", error=error)
        return
    cancel_points(context, "")
    context.emit(ev.ExecutionFailed(error=error, node=name))


def _way_out(context: DecisionContext, name: str) -> str | None:
    """Return the port by which a failed node leaves, if there is one."""
    planned = context.state.planned(name)
    if planned.targets("error"):
        return "error"
    return "done" if planned.node.on_error == "continue" else None


def _is_taken_care_of(context: DecisionContext, path: str) -> bool:
    """Return whether a container around a scope handles a failure in it."""
    while path:
        container = context.state.scopes[path].node
        node = context.state.planned(container).node
        if isinstance(node, Parallel) and node.on_failure != "fail_fast":
            return True
        if _way_out(context, container) is not None:
            return True
        path = context.scope_of(container)
    return False


def fail_scope(context: DecisionContext, path: str, error: ev.Error) -> str | None:
    """Close a scope that failed; return its container if it fails with the scope."""
    scope = context.state.scopes[path]
    container = context.state.planned(scope.node).node
    cancel_points(context, path)
    context.emit(ev.ScopeClosed(node=scope.node, key=scope.key, end="failed", error=error))
    if isinstance(container, Loop):
        return scope.node
    if isinstance(container, Parallel) and container.on_failure == "fail_fast":
        cancel_scopes(context, scope.node)
        return scope.node
    context.settled.append(path)
    return None


def cancel_scopes(context: DecisionContext, container: str) -> None:
    """Close every scope of a container that is still open."""
    open_ones = [(path, context.state.scopes[path].key) for path in open_scopes(context.state, container)]
    for path, key in sorted(open_ones, key=lambda pair: str(pair[1])):
        cancel_points(context, path)
        context.emit(ev.ScopeClosed(node=container, key=key, end="cancelled"))


def cancel_points(context: DecisionContext, path: str, reason: str = "") -> None:
    """Cancel every pause point in a scope and in the scopes within it."""
    state = context.state
    found = points_in(state, (path, *scopes_within(state, path))) if path else state.points.rows
    for point in sorted(found):
        give_up(context, state.points[point], reason)
