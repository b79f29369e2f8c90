"""What each kind of node can be given, by the names that Python allows (`if_`, `as_`); types say what each takes.

They are the fields of the format: what one means is told there. A field that is left out has the format's default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from layover.authoring.parts import AwaitedSignal, Concurrency, Duration, Escalation, People, Rate, Retry

Shape: TypeAlias = Mapping[str, object] | type[object] | UnionType | bool  # a JSON Schema, or a type that has one


class WorkflowFields(TypedDict, total=False):
    """What a workflow says about itself, and how its executions behave as a whole."""

    description: str
    input: Shape
    variables: Mapping[str, object]
    tags: Sequence[str]
    extra: Mapping[str, object]
    durability: Literal["step", "leg"]
    resume: Literal["sequential", "concurrent"]
    max_pause: Duration
    timeout: Duration
    on_resume_failure: Literal["fail", "reopen"]
    concurrency: Concurrency | int
    rate: Rate
    max_recoveries: int
    retention: Duration


class NodeFields(TypedDict, total=False):
    """What every node can have."""

    label: str
    description: str
    join: Literal["all", "any"]
    on_error: Literal["fail", "continue"]
    position: tuple[float, float]
    extra: Mapping[str, object]


class MergeFields(NodeFields, total=False):
    """What a merge can have."""

    strategy: Literal["all", "first", "last", "custom"]
    branches: Sequence[str]
    output: object


class EndFields(NodeFields, total=False):
    """What an end can have."""

    outcome: str
    reason: str
    output: object


class RoundsFields(NodeFields, total=False):
    """What loops and parallels have in common."""

    for_each: str
    as_: str
    index_as: str
    max_iterations: int
    collect: object


class LoopFields(RoundsFields, total=False):
    """What a loop can have, besides its body."""

    while_: str
    times: int | str
    break_if: str
    skip_if: str


class ParallelFields(RoundsFields, total=False):
    """What a parallel can have, besides its body or its branches."""

    concurrency: int
    on_failure: Literal["fail_fast", "wait", "continue"]


class DelayFields(NodeFields, total=False):
    """What a delay can have."""

    until: str


class AskingFields(NodeFields, total=False):
    """What the nodes that ask people have in common; `users` and `roles` are short for `approvers`."""

    title: str
    shown: object
    response: object
    approvers: People
    users: Sequence[str]
    roles: Sequence[str]
    remind: Sequence[Duration]
    escalate: Escalation
    deadline: Duration


class ApprovalFields(AskingFields, total=False):
    """What an approval can have."""

    need: int
    reject_need: int
    exclude_requester: bool
    order: Literal["any", "sequence"]
    comment: Literal["optional", "required"]
    schema: Shape
    on_deadline: Literal["approve", "reject", "expired", "fail"]


class FormFields(AskingFields, total=False):
    """What a form can have."""

    schema: Shape
    on_deadline: Literal["continue", "partial", "expired", "fail"]


class WaitSignalFields(NodeFields, total=False):
    """What a node that waits for signals can have."""

    key: str
    filter: str
    signals: Sequence[AwaitedSignal]
    need: int | Literal["all", "any"]
    lookback: Duration
    response: object
    deadline: Duration
    on_deadline: Literal["continue", "partial", "expired", "fail"]


class WorkingFields(NodeFields, total=False):
    """What the nodes that call something have in common."""

    retry: Retry | Literal["forever"]
    timeout: Duration


class CallbackFields(WorkingFields, total=False):
    """What a callback can have."""

    input: object
    heartbeat: Duration
    response: object
    deadline: Duration
    on_deadline: Literal["continue", "partial", "expired", "fail"]


class ChildFields(WorkingFields, total=False):
    """What a node that starts another workflow can have."""

    version: int
    input: object
    detached: bool


class HttpFields(WorkingFields, total=False):
    """What a request can have."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    headers: Mapping[str, object]
    query: Mapping[str, object]
    body: object
    auth: object


class CallFields(WorkingFields, total=False):
    """What the call of a function can have."""

    input: object
    heartbeat: Duration
    on_crash: Literal["rerun", "probe", "pause"]
