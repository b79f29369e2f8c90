"""Pause points: what is waited for, and what people say to it. The paths of `/api/resume` speak camelCase."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from layover.core.engine.events import PointKind
from layover.core.moments import Moment
from layover.core.point_questions import LONGEST_QUESTION
from layover.errors import Failure
from layover.model.shared import Body, Comment, ContextId, ExecutionId, Length, Resource, Value

QuestionText = Annotated[str, Meta(min_length=1, max_length=LONGEST_QUESTION, examples=["Which cost centre is it?"])]


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
    seen: str | None = None  # the view that they had seen, if they said so
    final_at: Moment | None = None  # until then they can take it back


class Question(Resource, frozen=True, kw_only=True):
    """What a person asked back before answering, and the reply."""

    number: int
    by: str
    to: str
    at: Moment
    question: str
    reply: str | None = None
    replied_by: str | None = None
    replied_at: Moment | None = None


class WhyNot(Resource, frozen=True, kw_only=True):
    """Why the caller may not answer: the code and the message that the attempt would get."""

    code: str
    message: str


class May(Resource, frozen=True, kw_only=True):
    """What the caller may do at a pause point now: answer it, or reply to a question there."""

    answer: bool
    why_not: WhyNot | None = None
    reply: bool = False


class PausePoint(Resource, frozen=True, kw_only=True):
    """A place where an execution waits for something outside.

    A timer that fired is `completed`; `expired` is a deadline that was missed. `failure` is what went wrong after the
    last answer, if the point was opened again because of it. `leads_to` says by port what an answer leads to. It takes
    `need` people to approve and `reject_need` to reject; by `order` each decides in their turn; with
    `comment_required`, a decision without a comment is refused. `view`
    is the SHA-256 of what a person is shown: the title, the shown values, the form, what the answers lead to, the
    deadline. An answer may name it (`seen`), and is refused if the point shows something else. Until `final_at` the
    answer can be taken back, and then it is applied. `taken_back_by` are those who did, and have not answered since.
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
    leads_to: dict[str, str] = {}
    view: str | None = None
    approvers: Approvers | None = None
    need: int | None = None
    reject_need: int | None = None
    order: Literal["any", "sequence"] | None = None
    comment_required: bool = False
    decisions: tuple[Decision, ...] = ()
    answer: Value = None
    answered_by: str | None = None
    answered_at: Moment | None = None
    seen: str | None = None
    final_at: Moment | None = None
    taken_back_by: tuple[str, ...] = ()
    applied_at: Moment | None = None
    queue_position: int | None = None
    snapshot_ready: bool = True
    parallel_scope: ParallelScope | None = None
    loop_scope: LoopScope | None = None
    requester: str | None = None
    claimed_by: str | None = None
    claimed_until: Moment | None = None
    questions: tuple[Question, ...] = ()
    may: May | None = None


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


class LinkBody(Body, frozen=True, kw_only=True):
    """For whom a link is, and for how long; without that, for as long as there is the pause point."""

    user: Annotated[str, Meta(min_length=1, max_length=255, examples=["ada"])]
    expires_in: Length | None = None


class PointLink(Resource, frozen=True, kw_only=True):
    """A link that was just made: `url` is shown this once. Whoever has it may be taken for the user."""

    url: str | None
    user: str
    expires_at: Moment | None = None


class RevokedLinks(Resource, frozen=True, kw_only=True):
    """How many links lead nowhere from now on."""

    revoked: int


class ClaimBody(Body, frozen=True, kw_only=True):
    """Whether to take the pause point over from a person who has claimed it."""

    take: bool = False


class AskBackBody(Body, frozen=True, kw_only=True):
    """What to ask before answering, and whom, if that is not the requester."""

    question: QuestionText
    to: Annotated[str, Meta(min_length=1, max_length=255)] | None = None


class ReplyBody(Body, frozen=True, kw_only=True):
    """A reply to a question: to the oldest that has none, unless its number is given."""

    text: QuestionText
    number: Annotated[int, Meta(ge=1, le=1_000)] | None = None


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


PausedStatus: TypeAlias = Literal["paused", "partially_resumed", "fully_resumed", "expired"]


class PausedExecution(Resource, frozen=True, kw_only=True, rename="camel"):
    """An execution with pause points: none of them resumed yet, some, or all; or one that was not resumed in time."""

    execution_id: ExecutionId
    status: PausedStatus
    pause_scope: Literal["execution", "branch"]
    total_pause_count: int
    resumed_count: int
    paused_at: Moment
    expires_at: Moment | None = None
    pause_points: tuple[PausedPoint, ...]


class PausedOfWorkflow(Resource, frozen=True, kw_only=True):
    """Executions of a workflow that people are awaited in, or were."""

    executions: tuple[PausedExecution, ...]
    next: str | None = None
