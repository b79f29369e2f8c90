"""The events of an execution as a whole: its beginning, legs, pauses and ends."""

from __future__ import annotations

from typing import Literal

from layover.core.engine.event_base import DomainEvent, Error, Fate
from layover.core.resume_waits import ResumeWait


class ExecutionCreated(DomainEvent, frozen=True, kw_only=True, tag="execution_created"):
    """The execution exists; its definition is the immutable version with this hash.

    A child with a waiting parent names the point; a detached one has none. With `start_at` or `hold` it does not start
    at once: at that moment, or when it is admitted. Without a `version`, an earlier release wrote it, and the label of
    the definition is not known.
    """

    id: str
    workflow: str
    hash: str
    input: object = None
    trigger: object = None
    user: str | None = None
    parent: str | None = None
    parent_point: str | None = None
    start_at: int | None = None
    hold: bool = False
    depth: int = 0
    version: int | None = None
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    traceparent: str = ""  # the span that started it, if there was one


class ExecutionAdmitted(DomainEvent, frozen=True, kw_only=True, tag="execution_admitted"):
    """The limit that the execution waited for let it start."""


class ExecutionStarted(DomainEvent, frozen=True, kw_only=True, tag="execution_started"):
    """The first nodes became ready."""


class LegStarted(DomainEvent, frozen=True, kw_only=True, tag="leg_started"):
    """An instance began to drive the execution after a rest.

    It had lost so many instances in a row without progress: `losses`, which are charged with this leg at the latest.
    """

    cause: str
    instance: str
    losses: int = 0
    traceparent: str = ""  # the span of the leg, if it is traced


class ExecutionPausing(DomainEvent, frozen=True, kw_only=True, tag="execution_pausing"):
    """The gate was closed by an operator: nothing starts until it is opened again.

    With an `order` the parent closed it, by its pause of that number. With `resume_at` it opens by itself then, with
    `resume_on` when that signal arrives. It was closed `before` a node that has a breakpoint.
    """

    reason: str
    by: str | None = None
    order: int = 0
    resume_at: int | None = None
    resume_on: ResumeWait | None = None
    before: str = ""


class BreakpointSet(DomainEvent, frozen=True, kw_only=True, tag="breakpoint_set"):
    """The execution will pause before a node, once."""

    node: str
    reason: str
    by: str | None = None


class BreakpointCleared(DomainEvent, frozen=True, kw_only=True, tag="breakpoint_cleared"):
    """The execution no longer pauses before a node."""

    node: str
    by: str | None = None


class ExecutionPaused(DomainEvent, frozen=True, kw_only=True, tag="execution_paused"):
    """Everything that was in flight when the gate closed has ended, or is no longer waited for.

    `order` is that of the pause.
    """

    fates: dict[str, Fate] = {}
    order: int = 0


class ExecutionPauseNoted(DomainEvent, frozen=True, kw_only=True, tag="execution_pause_noted"):
    """The parent's pause of a number reached an execution whose gate was closed already: it confirms all the same."""

    order: int


class ExecutionResumeScheduled(DomainEvent, frozen=True, kw_only=True, tag="execution_resume_scheduled"):
    """An operator set when the gate opens by itself; without a moment or a signal, it no longer does."""

    at: int | None = None
    on: ResumeWait | None = None
    by: str | None = None


class ExecutionResumed(DomainEvent, frozen=True, kw_only=True, tag="execution_resumed"):
    """The gate was opened by an operator, or as an operator had set: at a moment or by a signal (`scheduled`).

    The data was merged into the variables.
    """

    reason: str = ""
    by: str | None = None
    data: dict[str, object] = {}
    scheduled: bool = False


class ExecutionCompleted(DomainEvent, frozen=True, kw_only=True, tag="execution_completed"):
    """The execution ended as planned, or at an `end` node with an outcome of its own."""

    output: object = None
    outcome: str = "executed"
    reason: str = ""
    duration_ms: int = 0


class ExecutionFailed(DomainEvent, frozen=True, kw_only=True, tag="execution_failed"):
    """A failure that the workflow does not handle ended the execution."""

    error: Error
    node: str | None = None


class ExecutionReopened(DomainEvent, frozen=True, kw_only=True, tag="execution_reopened"):
    """A closed execution goes on: these nodes are ready again, and these containers continue where they were.

    The `key` identifies a repeated request.
    """

    why: Literal["retry", "rewind"]
    nodes: tuple[str, ...] = ()
    by: str | None = None
    key: str = ""
    containers: tuple[str, ...] = ()
    time_anew: bool = False  # the timeout of the execution starts anew here; in earlier releases it went on


class NodeRewound(DomainEvent, frozen=True, kw_only=True, tag="rewound"):
    """The results of a node and of everything after it were dropped; it is ready again.

    `error` is the failure that followed an answer, for the person who is asked again. Variables that the dropped nodes
    had set have their earlier values again, or are `unset`. A branch of a parallel has variables of its own: there it
    is the same with those of the execution (`root_variables`, `root_unset`), which answers may have set.
    """

    node: str
    variables: dict[str, object] = {}
    unset: tuple[str, ...] = ()
    root_variables: dict[str, object] = {}
    root_unset: tuple[str, ...] = ()
    reason: str = ""
    by: str | None = None
    error: Error | None = None


class ExecutionMoved(DomainEvent, frozen=True, kw_only=True, tag="execution_moved"):
    """The execution goes on by another version of its workflow, that with this `hash`; it was `before` by another.

    `names` are the nodes that have another id there. Those of `again` ask people once more. Nodes that are there only
    now are `ready` if they follow what was done, and are `passed` if they come before it. Results of nodes that are not
    there any more are dropped. The `key` identifies a repeated request.
    """

    hash: str
    before: str
    version: int | None = None
    names: dict[str, str] = {}
    again: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    reason: str = ""
    by: str | None = None
    key: str = ""


class ExecutionCancelled(DomainEvent, frozen=True, kw_only=True, tag="execution_cancelled"):
    """The execution was cancelled; calls in flight are asked to stop and fenced."""

    reason: str = ""
    by: str | None = None
