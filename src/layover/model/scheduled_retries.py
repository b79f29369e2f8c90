"""Attempts that are to be made again later, and what operators do about them."""

from __future__ import annotations

from layover.core.moments import Moment
from layover.errors import Failure
from layover.model.shared import Body, ContextId, ExecutionId, Reason, Resource


class ScheduledRetry(Resource, frozen=True, kw_only=True):
    """A node that has failed and is tried again at a moment; behind the pause of an operator, after it."""

    execution_id: ExecutionId
    workflow: str
    context_id: ContextId
    attempt: int  # that failed last
    failures: int  # so far
    due_at: Moment | None = None
    failure: Failure | None = None


class RunNowBody(Body, frozen=True, kw_only=True):
    """What to run now: a node that waits for time. Without one, all of them, or the start that was delayed."""

    context_id: ContextId | None = None
    reason: Reason | None = None


class CancelRetryBody(Body, frozen=True, kw_only=True):
    """The node that is not to be tried again."""

    context_id: ContextId
    reason: Reason | None = None
