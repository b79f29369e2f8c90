"""What a door asks of its backend: requests and filters, checked and in the units of the runtime."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from layover.interface.arguments import EventOrder, OnConflict, Order, Until
from layover.model.pause_ends import ResumeSignal


class ForkRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a fork starts: at a node, or after the event of a number; and what is changed for it."""

    start: str | int | None = None
    input: object = msgspec.UNSET
    version: int | None = None
    id: str | None = None
    reason: str = ""
    idempotency_key: str | None = None


class StartRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An execution to start, and what to wait for before the start is answered."""

    workflow: str
    input: object = None
    id: str | None = None
    idempotency_key: str | None = None
    on_conflict: OnConflict = "reject"
    version: int | None = None
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    trigger: object = None
    delay: int | None = None  # milliseconds
    until: Until | None = None
    timeout: float | None = None  # seconds; past that, the execution is returned as it is


class NodeQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which nodes of an execution to list; all that is given has to hold.

    `parent` is the context id of a container: those right in its scopes. The empty one has those in no container.
    """

    parent: str | None = None
    status: tuple[str, ...] = ()
    context_id: str | None = None


class NodeSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Which nodes of all executions to list; all that is given has to hold. Times are in milliseconds.

    `where` are conditions on the input and the output of the node.
    """

    workflow: str | None = None
    tag: str | None = None
    node: str | None = None
    type: str | None = None
    where: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    error_code: str | None = None
    since: int | None = None
    until: int | None = None
    min_duration: int | None = None
    max_duration: int | None = None
    min_resumes: int | None = None


class EventQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which events of an execution to list: their numbers from `since` to `until`; all that is given has to hold.

    With `context_id` they are the events of that node, and of its pause points.
    """

    since: int = 0
    until: int | None = None
    context_id: str | None = None
    type: tuple[str, ...] = ()
    order: EventOrder = "oldest"


class ExecutionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which executions to list; all that is given has to hold."""

    workflow: str | None = None
    status: tuple[str, ...] = ()
    tag: str | None = None
    parent_id: str | None = None
    where: tuple[str, ...] = ()
    contains: Mapping[str, object] | None = None
    correlation_id: str | None = None
    error_code: str | None = None
    since: int | None = None  # milliseconds since 1970: created then or later
    until: int | None = None  # milliseconds since 1970: created before
    min_duration: int | None = None  # milliseconds
    max_duration: int | None = None  # milliseconds
    min_resumes: int | None = None
    resumed: bool | None = None
    user: str | None = None
    on: tuple[str, ...] = ()
    node_type: str | None = None
    q: str | None = None
    order: Order = "created"


class PointQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which pause points to list; `children` adds those of the executions that one waits for."""

    execution_id: str | None = None
    workflow: str | None = None
    kind: str | None = None
    status: tuple[str, ...] = ()
    children: bool = False


class AuditSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Which audit entries to list."""

    user: str | None = None
    act: str | None = None
    target: str | None = None
    execution_id: str | None = None


class ResumeTime(msgspec.Struct, frozen=True, kw_only=True):
    """When a pause ends by itself: at a moment, at the next time of a cron line in a time zone, or by a signal."""

    at: str | None = None
    cron: str | None = None
    zone: str | None = None
    on: ResumeSignal | None = None


class PointAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to a pause point; `approved` decides an approval. `seen` is the view that the person had seen."""

    data: object = None
    approved: bool | None = None
    comment: str = ""
    seen: str | None = None
    idempotency_key: str | None = None
