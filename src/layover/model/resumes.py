"""The resume queue of an execution."""

from __future__ import annotations

from typing import Literal, TypeAlias

from layover.core.moments import Moment
from layover.model.shared import ContextId, ExecutionId, Resource, Value

ResumeStatus: TypeAlias = Literal["pending", "claimed", "completed", "failed"]


class ResumeEntry(Resource, frozen=True, kw_only=True):
    """An answer to a pause point in the resume queue of its execution.

    It is `pending` until it has its turn, `claimed` while what it released is at work or is to be tried again, and
    `completed` once that has come to rest. It has `failed` if the execution failed or was cancelled meanwhile, a node
    waits for an operator, its question is asked again since the work after it failed, or the answer never had its
    turn: `failure_reason` says which. Only what is pending has a `position`, counted from 1;
    an answer that can still be taken back has none yet. `leg_id` is the leg that applies it, known from the start;
    `parent_leg_id` and `depth` are those of that leg.
    """

    point_id: str
    execution_id: ExecutionId
    context_id: ContextId
    status: ResumeStatus
    position: int | None = None
    answer: Value = None
    answered_by: str | None = None
    queued_at: Moment
    claimed_at: Moment | None = None
    completed_at: Moment | None = None
    failure_reason: str | None = None
    leg_id: str
    parent_leg_id: str | None = None
    depth: int | None = None
