"""Executions, and what is asked about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from layover.core.engine.state import ExecutionStatus
from layover.core.moments import Moment
from layover.errors import Failure
from layover.model.pause_ends import CronLine, MomentText, ResumeSignal, ResumeSignalBody, ZoneName
from layover.model.points import PausePoint
from layover.model.shared import (
    Body,
    ContextId,
    ExecutionId,
    Length,
    Reason,
    Resource,
    Uuid,
    Value,
    WorkflowName,
)


class WaitingOn(Resource, frozen=True, kw_only=True):
    """Something that an execution waits for; `for` is the pause point, if it is one.

    `failure` is what went wrong before: with an attempt, or after the last answer to a pause point that opened again.
    """

    context_id: str
    kind: str
    since: Moment | None = None
    until: Moment | None = None
    point: str | None = msgspec.field(name="for", default=None)
    failure: Failure | None = None


class Lease(Resource, frozen=True, kw_only=True):
    """Which instance drives an execution."""

    instance: str
    epoch: int
    expires_at: Moment | None = None


class WaitingSummary(Resource, frozen=True, kw_only=True):
    """What an execution in a list waits for.

    `kind` is `person`, `timer`, `signal`, `callback`, `child` or `delivery`; `retry` until a call is made again, and
    `operator` if it was paused. `text` says it in a few words, such as `managers, 1 of 2`; `until` is when that wait
    ends by itself. `count` is how many pause points are open, of the 100 newest.
    """

    kind: str
    text: str
    until: Moment | None = None
    count: int = 0


class ExecutionCounts(Resource, frozen=True, kw_only=True):
    """How many executions there are by status, and `on` what they wait: by the words of the filter `on`.

    One that waits for several things counts for each. `more` says that a count of `on` is too low: of each kind, the
    first 10,000 are looked at.
    """

    pending: int = 0
    running: int = 0
    pausing: int = 0
    waiting: int = 0
    paused: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    on: dict[str, int] = {}
    more: bool = False


class ExecutionSummary(Resource, frozen=True, kw_only=True):
    """An execution in a list."""

    id: ExecutionId
    workflow: str
    version: int | None = None
    status: ExecutionStatus
    outcome: str = ""
    error: Failure | None = None
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    parent_id: str | None = None
    created_at: Moment
    paused_at: Moment | None = None
    finished_at: Moment | None = None
    resume_count: int = 0
    last_seq: int
    user: str | None = None  # who started it
    updated_at: Moment  # of its last event
    waiting_summary: WaitingSummary | None = None  # if it waits for something


class Execution(Resource, frozen=True, kw_only=True):
    """One execution, as it is.

    `pause_points` and `response` are there when it was just started and has come to rest: `response` is that of the
    first open point that has one. `waiting_on` and `next_nodes` list the first 100. Variables of more than 1,000,000
    bytes together are left out: in place of one stands `{"$omitted": bytes}`. `notifications_sent` counts
    deliveries that were sent: it is counted where one execution is read, and is None in lists and in answers to acts.
    """

    id: ExecutionId
    workflow: str
    version: int | None = None
    status: ExecutionStatus
    outcome: str = ""
    outcome_reason: str = ""
    input: Value = None
    output: Value = None
    error: Failure | None = None
    variables: dict[str, Value] = {}
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    parent_id: str | None = None
    forked_from: str | None = None  # the execution whose results it began with
    forked_at: int | None = None  # the number of the event after which that was taken
    trigger: Value = None
    trigger_cursors: dict[str, str] = {}  # of the poll or schedule that started it, by its name, as it is now
    user: str | None = None
    created_at: Moment
    started_at: Moment | None = None
    finished_at: Moment | None = None
    duration_ms: int | None = None
    paused_at: Moment | None = None
    paused_reason: str | None = None
    paused_node: str | None = None
    resume_at: Moment | None = None  # when an operator's pause ends by itself
    resume_on: ResumeSignal | None = None  # the signal that ends it
    breakpoints: dict[str, str] = {}  # nodes before which it pauses once, and why
    next_nodes: tuple[str, ...] = ()
    resume_count: int = 0
    last_resumed_at: Moment | None = None
    resume_data: Value = None
    nodes_executed: int = 0
    notifications_sent: int | None = None
    last_seq: int
    waiting_on: tuple[WaitingOn, ...] = ()
    lease: Lease | None = None
    hash: str = ""
    pause_points: tuple[PausePoint, ...] | msgspec.UnsetType = msgspec.UNSET
    response: Value | msgspec.UnsetType = msgspec.UNSET

    @property
    def closed(self) -> bool:
        """Whether it has come to its end."""
        return self.status in ("completed", "failed", "cancelled")


class PausedExecutions(Resource, frozen=True, kw_only=True):
    """Executions that are paused, the one paused longest first; `count` is how many there are here."""

    executions: tuple[Execution, ...]
    count: int
    next: str | None = None


class Event(Resource, frozen=True, kw_only=True):
    """One entry of a log."""

    seq: int
    at: Moment
    type: str
    data: dict[str, Value]
    context_id: str | None = None
    attempt: int | None = None


class Attempt(Resource, frozen=True, kw_only=True):
    """One try of a call."""

    attempt: int
    cause: str
    scheduled_at: Moment
    started_at: Moment | None = None
    finished_at: Moment | None = None
    error: Failure | None = None
    retry_at: Moment | None = None


class Progress(Resource, frozen=True, kw_only=True):
    """How far a running call is, as its function has reported last; it is live, and in no log."""

    context_id: ContextId
    attempt: int
    done: float
    total: float | None = None
    text: str = ""
    at: Moment


class LogLine(Resource, frozen=True, kw_only=True):
    """A line that a node function has logged; it is kept if the setting `node_logs` is on."""

    context_id: ContextId
    attempt: int
    at: Moment
    level: str
    logger: str
    text: str


class NodeExecution(Resource, frozen=True, kw_only=True):
    """What became of one node in one scope."""

    context_id: ContextId
    node: str
    type: str
    status: str
    attempt: int = 0
    input: Value = None
    output: Value = None
    port: str = ""
    error: Failure | None = None
    started_at: Moment | None = None
    finished_at: Moment | None = None
    duration_ms: int | None = None
    attempts: tuple[Attempt, ...] = ()
    progress: Progress | None = None  # of a running call that reports it


class Leg(Resource, frozen=True, kw_only=True):
    """A stretch of work between two rests, or what the answer to a pause point released: then it has a `point_id`.

    `parent` is the leg before it, `depth` how many there are before it.
    """

    id: str
    parent: str | None = None
    depth: int
    cause: str
    instance: str
    from_seq: int
    to_seq: int
    started_at: Moment
    point_id: str | None = None


class ReplayStep(Resource, frozen=True, kw_only=True):
    """The state of an execution right after one of its events; `nodes` has those of scopes that were not done yet."""

    event: Event
    status: str
    nodes: dict[str, str] = {}
    variables: dict[str, Value] = {}
    next_nodes: tuple[str, ...] = ()
    waiting_on: tuple[WaitingOn, ...] = ()


class Position(Resource, frozen=True, kw_only=True):
    """Where a builder draws a node."""

    x: float
    y: float


class GraphNode(Resource, frozen=True, kw_only=True):
    """A node of a graph; one in a container has that as `parent`, and both in its id: `count:lines`.

    Its state is that of its latest run in any scope.
    """

    id: str
    node: str
    type: str
    label: str | None = None
    parent: str | None = None
    branch: str | None = None
    status: str | None = None
    runs: dict[str, int] = {}
    position: Position | None = None


class GraphEdge(Resource, frozen=True, kw_only=True):
    """An edge of a graph; `taken` says how often."""

    source: str
    target: str
    port: str
    taken: int = 0


class Graph(Resource, frozen=True, kw_only=True):
    """The graph of an execution, with the states of its nodes; `runs` counts by status where a node ran in scopes."""

    workflow: str
    version: int | None = None
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


class WhyReason(Resource, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is waited for, or because of which it failed.

    If that is another execution, `because` says what that one waits for; if it is a pause point, whom it told, or why
    not yet. The `failure` is that of a failed attempt.
    """

    kind: str
    text: str
    context_id: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    execution: str | None = None
    point: str | None = None
    failure: Failure | None = None
    because: tuple[WhyReason, ...] = ()


class Why(Resource, frozen=True, kw_only=True):
    """Why an execution stands still; of more than 100 reasons, `left_out` says how many are not listed."""

    summary: str
    reasons: tuple[WhyReason, ...] = ()
    left_out: int = 0


NodeName = Annotated[str, Meta(min_length=1, max_length=4096)]  # its id in the graph, or its context id


class StartBody(Body, frozen=True, kw_only=True):
    """An execution to start. With `wait` (at most 60s) the answer comes when it has ended, or is as `until` says."""

    workflow: WorkflowName
    version: Annotated[int, Meta(ge=1)] | None = None
    input: Value = None
    id: Uuid | None = None
    on_conflict: Literal["reject", "return"] = "reject"
    tags: Annotated[list[Annotated[str, Meta(min_length=1, max_length=255)]], Meta(max_length=50)] = []
    priority: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] = 0
    delay: Length | None = None
    correlation_id: Annotated[str, Meta(max_length=255)] | None = None
    trigger: Annotated[Value, Meta(description="What started it; expressions read it as `trigger`.")] = None
    wait: Length | None = None
    until: Literal["rest", "people", "end"] = "people"


class ResumeBody(Body, frozen=True, kw_only=True):
    """What to go on with: it becomes part of the variables.

    `approved` decides the only open approval, if the caller may; it may also stand in `resume_data`. With `at`, or with
    the next time of a `cron` line in a `zone`, it does not go on now: that is when the pause of an operator ends. With
    `on` it ends when that signal arrives.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {
        "input": "Give a decision as `approved` at the top of the body, and variables in `resume_data`",
        "data": "Give variables in `resume_data`",
        "comment": "Give a comment as `reason`",
    }

    resume_data: dict[str, Value] | None = None
    reason: Reason | None = None
    approved: bool | None = None
    at: MomentText | None = None
    cron: CronLine | None = None
    zone: ZoneName | None = None
    on: ResumeSignalBody | None = None


class PauseBody(Body, frozen=True, kw_only=True):
    """Why, and when the pause ends by itself.

    It does at a moment, at the next time of a cron line in a time zone, or when a signal arrives. With `before`, the
    execution goes on until it comes to that node, and pauses there, once; such a pause does not end by itself.
    """

    reason: Reason | None = None
    before: NodeName | None = None
    until: MomentText | None = None
    until_cron: CronLine | None = None
    zone: ZoneName | None = None
    resume_on: ResumeSignalBody | None = None


class RetryBody(Body, frozen=True, kw_only=True):
    """Why an execution is tried again."""

    reason: Reason | None = None
    dry_run: bool = False  # answer the plan, and change nothing


class RewindBody(Body, frozen=True, kw_only=True):
    """The node to go back to; in a scope, its context id."""

    to: Annotated[str, Meta(max_length=4096)]
    reason: Reason | None = None
    dry_run: bool = False  # answer the plan, and change nothing
