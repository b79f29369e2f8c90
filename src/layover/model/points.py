"""Pause points: what is waited for, and what people say to it. The paths of `/api/resume` speak camelCase."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from layover.core.engine.events import PointKind
from layover.core.moments import Moment
from layover.errors import Failure
from layover.model.shared import Body, Comment, ContextId, ExecutionId, Resource, Value


class ParallelScope(Resource, frozen=True, kw_only=True):
    """The branch of a parallel that something stands in."""

    node: str
    index: int
    count: int


class LoopScope(Resource, frozen=True, kw_only=True):
    """The iteration of a loop that something stands in."""

    node: str
    iteration: int


class Approvers(Resource, frozen=True, kw_only=True):
    """Who is asked; if empty, every user with the permission."""

    users: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


class Decision(Resource, frozen=True, kw_only=True):
    """What one person decided."""

    by: str
    approved: bool
    at: Moment
    comment: str = ""
    data: Value = None
    on_behalf_of: str | None = None


class PausePoint(Resource, frozen=True, kw_only=True):
    """A place where an execution waits for something outside.

    A timer that fired is `completed`; `expired` is a deadline that was missed. `failure` is what went wrong after the
    last answer, if the point was opened again because of it.
    """

    id: str
    execution_id: ExecutionId
    workflow: str
    context_id: ContextId
    node: str
    kind: PointKind
    status: Literal["open", "answered", "applied", "completed", "expired", "cancelled", "superseded"]
    title: str = ""
    schema: Value = None
    shown: Value = None
    response: Value = None
    failure: Failure | None = None
    opened_at: Moment
    deadline: Moment | None = None
    on_deadline: str | None = None
    approvers: Approvers | None = None
    need: int | None = None
    decisions: tuple[Decision, ...] = ()
    answer: Value = None
    answered_by: str | None = None
    answered_at: Moment | None = None
    applied_at: Moment | None = None
    queue_position: int | None = None
    snapshot_ready: bool = True
    parallel_scope: ParallelScope | None = None
    loop_scope: LoopScope | None = None


class AnswerBody(Body, frozen=True, kw_only=True):
    """An answer; for an approval, `approved` decides."""

    data: Value = None
    comment: Comment | None = None
    approved: bool | None = None


class DecisionBody(Body, frozen=True, kw_only=True):
    """What to say with a decision, and what its form asks for."""

    comment: Comment | None = None
    data: Value = None


class DelegateBody(Body, frozen=True, kw_only=True):
    """Who decides in the caller's place."""

    to: Annotated[str, Meta(min_length=1, max_length=255)]
    comment: Comment | None = None


class ResumePointBody(Body, frozen=True, kw_only=True):
    """What a pause point is resumed with: `input` for a form, a decision for an approval."""

    input: Value = None
    approved: bool | None = None
    comment: Comment | None = None
    data: Value = None


class Resumed(Resource, frozen=True, kw_only=True, rename="camel"):
    """What became of a resume: it was started, or waits in line."""

    status: Literal["started", "queued"]
    queue_position: int | None = None
    execution_id: ExecutionId
    context_id: ContextId
    leg_id: str | None = None


class CamelParallelScope(Resource, frozen=True, kw_only=True, rename="camel"):
    """The branch of a parallel that a point stands in."""

    parallel_id: str
    branch_index: int
    branch_count: int


class CamelLoopScope(Resource, frozen=True, kw_only=True, rename="camel"):
    """The iteration of a loop that a point stands in."""

    loop_id: str
    iteration: int


class PausedPoint(Resource, frozen=True, kw_only=True, rename="camel"):
    """A pause point of a paused execution."""

    context_id: ContextId
    point_id: str
    kind: PointKind
    resume_status: Literal["paused", "queued", "resumed", "expired", "cancelled"]
    snapshot_ready: bool
    parallel_scope: CamelParallelScope | None = None
    loop_scope: CamelLoopScope | None = None
    response: Value = None
    queue_position: int | None = None
    registered_at: Moment
    resumed_at: Moment | None = None


class PausedExecution(Resource, frozen=True, kw_only=True, rename="camel"):
    """An execution with pause points that are not all resumed."""

    execution_id: ExecutionId
    status: Literal["paused", "partially_resumed", "fully_resumed", "expired"]
    pause_scope: Literal["execution", "branch"]
    total_pause_count: int
    resumed_count: int
    paused_at: Moment
    expires_at: Moment | None = None
    pause_points: tuple[PausedPoint, ...]


class PausedOfWorkflow(Resource, frozen=True, kw_only=True):
    """The executions of a workflow that people are awaited in, oldest first."""

    executions: tuple[PausedExecution, ...]
    next: str | None = None
