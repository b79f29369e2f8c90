"""The fields of each kind of node, by the names that Python allows (`if_`, `as_`), with their types.

They are the fields of the format: their meaning is documented there. A field that is left out has the format's default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from layover.authoring.parts import AwaitedSignal, Concurrency, Duration, Escalation, People, Rate, Retry

Shape: TypeAlias = Mapping[str, object] | type[object] | UnionType | bool  # a JSON Schema, or a type that has one


class WorkflowFields(TypedDict, total=False):
    """The metadata of a workflow, and how its executions behave as a whole."""

    description: str
    input: Shape
    variables: Mapping[str, object]
    secrets: Sequence[str]
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
    undo: Duration
    resume_data: Shape


class NodeFields(TypedDict, total=False):
    """The fields of every node."""

    label: str
    description: str
    join: Literal["all", "any"]
    on_error: Literal["fail", "continue"]
    position: tuple[float, float]
    extra: Mapping[str, object]


class MergeFields(NodeFields, total=False):
    """The fields of a merge."""

    strategy: Literal["all", "first", "last", "custom"]
    branches: Sequence[str]
    output: object


class EndFields(NodeFields, total=False):
    """The fields of an end."""

    outcome: str
    reason: str
    output: object


class RoundsFields(NodeFields, total=False):
    """The fields that loops and parallels have in common."""

    for_each: str
    as_: str
    index_as: str
    max_iterations: int
    collect: object


class LoopFields(RoundsFields, total=False):
    """The fields of a loop, besides its body."""

    while_: str
    times: int | str
    break_if: str
    skip_if: str


class ParallelFields(RoundsFields, total=False):
    """The fields of a parallel, besides its body or its branches."""

    concurrency: int
    on_failure: Literal["fail_fast", "wait", "continue"]


class DelayFields(NodeFields, total=False):
    """The fields of a delay."""

    until: str


class AskingFields(NodeFields, total=False):
    """The fields that nodes which ask people have in common; `users` and `roles` are short for `approvers`."""

    title: str
    shown: object
    response: object
    approvers: People
    users: Sequence[str]
    roles: Sequence[str]
    remind: Sequence[Duration | Mapping[str, Duration]]
    escalate: Escalation
    deadline: Duration
    leads_to: Mapping[str, str]
    undo: Duration


class ApprovalFields(AskingFields, total=False):
    """The fields of an approval."""

    need: int
    reject_need: int
    exclude_requester: bool
    order: Literal["any", "sequence"]
    comment: Literal["optional", "required"]
    schema: Shape
    on_deadline: Literal["approve", "reject", "expired", "fail"]


class FormFields(AskingFields, total=False):
    """The fields of a form."""

    schema: Shape
    on_deadline: Literal["continue", "partial", "expired", "fail"]


class WaitSignalFields(NodeFields, total=False):
    """The fields of a node that waits for signals."""

    key: str
    filter: str
    signals: Sequence[AwaitedSignal]
    need: int | Literal["all", "any"]
    lookback: Duration
    response: object
    deadline: Duration
    on_deadline: Literal["continue", "partial", "expired", "fail"]


class WorkingFields(NodeFields, total=False):
    """The fields that nodes which call something have in common."""

    retry: Retry | Literal["forever"]
    timeout: Duration


class CallbackFields(WorkingFields, total=False):
    """The fields of a callback."""

    input: object
    heartbeat: Duration
    response: object
    deadline: Duration
    on_deadline: Literal["continue", "partial", "expired", "fail"]


class ChildFields(WorkingFields, total=False):
    """The fields of a node that starts another workflow."""

    version: int
    input: object
    detached: bool


class HttpFields(WorkingFields, total=False):
    """The fields of an HTTP request."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
    headers: Mapping[str, object]
    query: Mapping[str, object]
    body: object
    auth: object


class SendFields(WorkingFields, total=False):
    """The fields of a node that sends something."""

    to: str | Sequence[str]
    subject: str
    text: str
    data: object
    wait: bool


class CallFields(WorkingFields, total=False):
    """The fields of a function call."""

    input: object
    heartbeat: Duration
    on_crash: Literal["rerun", "probe", "undo", "pause"]
