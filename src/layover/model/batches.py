"""Batches: one act on many items, and what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from layover.core.moments import Moment
from layover.model.deploy_plans import NodeMap
from layover.model.shared import Body, Comment, Length, Reason, Resource, Uuid, Value, WaitsOn, WorkflowName

BatchAct = Literal["pause", "resume", "cancel", "retry", "rewind", "answer", "redeliver", "replay", "purge", "move"]
BatchStatus = Literal["pending", "running", "watching", "stopped", "completed", "failed"]
BatchItemStatus = Literal["pending", "done", "failed"]

_Text = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[^\x00]*$")]
_Since = Annotated[
    str, Meta(min_length=1, max_length=50, description="A moment, or how long before the batch.", examples=["2d"])
]
_Status = Literal["pending", "running", "pausing", "waiting", "paused", "completed", "failed", "cancelled"]


class WhichItems(Body, frozen=True, kw_only=True):
    """Which items a batch is for: all that is given has to hold, and something has to be given.

    Acts on executions (`pause`, `resume`, `cancel`, `retry`, `rewind`, `move`, `purge`) take `ids`, or the filters of
    the list of executions: `workflow`, `status`, `tag`, `parent_id`, `where`, `contains`, `correlation_id`,
    `error_code`, `since`, `until`, `min_duration`, `max_duration`, `min_resumes`, `resumed`, `user`, `on`, `node_type`
    and `q`. `answer` takes `workflow` and `node`, or `ids` of pause points; `redeliver` takes `state`, `destination`,
    `execution_id` or `ids`; `replay` takes `trigger_id`, and `ids` of inputs.
    """

    workflow: WorkflowName | None = None
    status: Annotated[tuple[_Status, ...], Meta(max_length=20)] = ()
    tag: _Text | None = None
    parent_id: Uuid | None = None
    where: Annotated[tuple[Annotated[str, Meta(max_length=1_000)], ...], Meta(max_length=20)] = ()
    contains: dict[str, Any] | None = None
    correlation_id: _Text | None = None
    error_code: _Text | None = None
    since: _Since | None = None
    until: _Since | None = None
    min_duration: Length | None = None
    max_duration: Length | None = None
    min_resumes: Annotated[int, Meta(ge=0, le=2_147_483_647)] | None = None
    resumed: bool | None = None
    user: _Text | None = None
    on: Annotated[tuple[WaitsOn, ...], Meta(max_length=20)] = ()
    node_type: _Text | None = None
    q: _Text | None = None
    ids: Annotated[tuple[_Text, ...], Meta(max_length=1_000)] = ()
    node: Annotated[str, Meta(min_length=1, max_length=4_096)] | None = None
    state: Literal["dead", "sent", "moot", "discarded"] | None = None
    destination: _Text | None = None
    execution_id: Uuid | None = None
    trigger_id: Uuid | None = None


class CanaryBody(Body, frozen=True, kw_only=True):
    """The first items of a batch: the others follow once none of these has failed for some time."""

    share: Annotated[
        float | str, Meta(description="Of all items: a number above 0 and up to 1, or `5%`.", examples=["5%"])
    ]
    watch: Length  # how long they are watched


class BatchOptions(Body, frozen=True, kw_only=True):
    """How a batch does its act: what the act takes when it is done to one item."""

    reason: Reason | None = None  # of a pause, resume, cancel, retry, rewind or move
    to: Annotated[str, Meta(min_length=1, max_length=4_096)] | None = None  # the node of a rewind
    data: Value | UnsetType = UNSET  # of an answer or a resume
    version: Annotated[int, Meta(ge=1)] | None = None  # of a move
    map: NodeMap = {}  # of a move: the new ids of nodes by their old ones
    approved: bool | None = None  # of an answer to approvals
    comment: Comment | None = None  # of an answer


class BatchBody(Body, frozen=True, kw_only=True):
    """One act on many items, `with` its options. With `dry_run` they are counted, and nothing changes."""

    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        BatchOptions.__struct_fields__, "Give the options of the act in `with`"
    )

    act: BatchAct
    where: WhichItems = WhichItems()
    options: BatchOptions = msgspec.field(default_factory=BatchOptions, name="with")
    dry_run: bool = False
    rate: Annotated[str, Meta(max_length=50, examples=["100/s", "20/m"])] | None = None
    canary: CanaryBody | None = None


class BatchCanary(Resource, frozen=True, kw_only=True):
    """The canary of a batch: how many items it has, and until when they are watched."""

    share: float
    watch: str
    count: int | None = None  # of acts; None until all items are collected
    watched_until: Moment | None = None


class BatchItem(Resource, frozen=True, kw_only=True):
    """One item of a batch, and what became of it.

    It is `skipped` if it failed only since the act did not fit it any more: it was resumed, answered or deleted.
    """

    n: int
    target: str  # the id of the execution, the pause point, the delivery or the input
    status: BatchItemStatus = "pending"
    skipped: bool = False
    code: str | None = None  # why it failed
    reason: str = ""
    execution_id: str | None = None
    trigger_id: str | None = None
    at: Moment | None = None  # when it was done


class BatchInfo(Resource, frozen=True, kw_only=True):
    """One act on many items. It is `pending` while its items are collected, and `watching` while its canary is watched.

    It has `stopped` if a user or its canary stopped it, and `failed` if what it asks for cannot be done; either can go
    on. A dry run has no id, stays `pending`, and shows a `sample`.
    """

    id: Uuid | None
    act: BatchAct
    status: BatchStatus
    code: str | None = None  # why it stopped, or failed
    reason: str = ""  # of its status, or what it waits for
    user: str | None = None
    where: dict[str, Any] = {}
    options: dict[str, Any] = msgspec.field(default_factory=dict, name="with")
    rate: str | None = None
    canary: BatchCanary | None = None
    created_at: Moment
    ended_at: Moment | None = None
    total: int = 0  # of items, as far as they are collected
    more: bool = False  # there are more than were counted
    done: int = 0
    failed: int = 0
    skipped: int = 0  # of those that failed: the act did not fit them any more
    pending: int = 0
    sample: tuple[BatchItem, ...] = ()  # of a dry run


class StopBatchBody(Body, frozen=True, kw_only=True):
    """Why a batch is stopped."""

    reason: Reason | None = None
