"""What has happened to an execution, for ever.

Each event has a stable tag and carries everything that replay needs; changes are additive only. `node` is always a
context id, and a node is opened by `NodeScheduled` and closed by one of its ends. A node that the engine decides by
itself (a condition, a set) has only its `NodeCompleted`. Skipped paths are derived from the plan and never logged.

Values in events are plain JSON, so no event can be part of a cycle, and the collector need not look at any of them
(`gc=False`). The same goes for the rows of the state.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from layover.core.approval_rules import ApprovalRules, Decision

PointKind = Literal["timer", "approval", "form", "signal", "callback", "child"]
ScopeEnd = Literal["done", "skipped", "broken", "failed", "cancelled"]
Cause = Literal["reached", "retried", "recovered", "answered"]
NodeStatus = Literal[
    "idle",  # some of its edges are settled
    "ready",  # it may begin
    "scheduled",  # a call will be made
    "queued",  # a call will be made as soon as there is a place for it
    "running",  # a call is being made
    "entered",  # a container whose scopes are at work
    "waiting",  # its pause point is open
    "backoff",  # it failed and will be tried again
    "incident",  # it failed for good and waits for an operator
    "stopped",  # it was given up because what it belongs to ended
    "completed",
    "failed",
    "skipped",
]
Fate = NodeStatus | Literal["in_doubt"]  # its call is out, and nobody waits for it any longer


# What every step writes is written short: a log is mostly this.
_STORED_AS = {"node": "n", "node_type": "of", "input": "in", "output": "out", "duration_ms": "ms"}


class Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="t",
    rename=_STORED_AS,
    gc=False,
):
    """A fact in the log of one execution."""


class Error(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What later nodes read as `errors.<id>`."""

    code: str
    message: str
    type: str = ""
    retryable: bool = True
    attempt: int = 0
    context_id: str = ""
    status: int | None = None
    details: object = None


# Execution


class ExecutionCreated(Event, frozen=True, kw_only=True, tag="execution_created"):
    """The execution exists; its definition is the immutable version with this hash.

    A child that its parent waits for has the point at which it does; a detached one has none. With `start_at` or `hold`
    it does not start at once: at that moment, or when it is admitted. Without a `version`, an earlier release wrote it,
    and how it was labelled is not known.
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


class ExecutionAdmitted(Event, frozen=True, kw_only=True, tag="execution_admitted"):
    """The limit that the execution waited for lets it start."""


class ExecutionStarted(Event, frozen=True, kw_only=True, tag="execution_started"):
    """The first nodes became ready."""


class LegStarted(Event, frozen=True, kw_only=True, tag="leg_started"):
    """An instance took the execution up after a rest."""

    cause: str
    instance: str


class ExecutionPausing(Event, frozen=True, kw_only=True, tag="execution_pausing"):
    """An operator closed the gate: nothing starts after this until it is opened again.

    With an `order` it was the parent, whose pause of that number reaches its children.
    """

    reason: str
    by: str | None = None
    order: int = 0


class ExecutionPaused(Event, frozen=True, kw_only=True, tag="execution_paused"):
    """Everything that was in flight when the gate closed has come to rest, or is not waited for any longer.

    `order` is that of the pause.
    """

    fates: dict[str, Fate] = {}
    order: int = 0


class ExecutionPauseNoted(Event, frozen=True, kw_only=True, tag="execution_pause_noted"):
    """The parent's pause of a number reached an execution whose gate was closed before: it is answered all the same."""

    order: int


class ExecutionResumed(Event, frozen=True, kw_only=True, tag="execution_resumed"):
    """An operator opened the gate; the data was merged into the variables."""

    reason: str = ""
    by: str | None = None
    data: dict[str, object] = {}


class ExecutionCompleted(Event, frozen=True, kw_only=True, tag="execution_completed"):
    """The execution ended as planned, or at an `end` node with an outcome of its own."""

    output: object = None
    outcome: str = "executed"
    reason: str = ""
    duration_ms: int = 0


class ExecutionFailed(Event, frozen=True, kw_only=True, tag="execution_failed"):
    """A failure that nothing in the workflow takes care of ended the execution."""

    error: Error
    node: str | None = None


class ExecutionReopened(Event, frozen=True, kw_only=True, tag="execution_reopened"):
    """A closed execution goes on: these nodes are ready again, and these containers go on from where they stood.

    By the `key` it is known that this was asked before.
    """

    why: Literal["retry", "rewind"]
    nodes: tuple[str, ...] = ()
    by: str | None = None
    key: str = ""
    containers: tuple[str, ...] = ()
    time_anew: bool = False  # the timeout of the execution is counted from here; earlier releases counted on


class NodeRewound(Event, frozen=True, kw_only=True, tag="rewound"):
    """The results of a node and of everything after it were dropped; it is ready again.

    `error` tells what went wrong after an answer, so that whoever is asked again can see it.
    """

    node: str
    reason: str = ""
    by: str | None = None
    error: Error | None = None


class ExecutionCancelled(Event, frozen=True, kw_only=True, tag="execution_cancelled"):
    """Somebody ended the execution; what is in flight is asked to stop and fenced."""

    reason: str = ""
    by: str | None = None


# Nodes


class NodeScheduled(Event, frozen=True, kw_only=True, tag="scheduled"):
    """A call will be made, at once or when there is a place; the attempt numbers every start, recoveries included."""

    node: str
    node_type: str
    attempt: int = 1
    cause: Cause = "reached"
    queued: bool = False
    lost: bool = True  # if it is recovered: its instance was lost, and not stopped in order


class NodeStarted(Event, frozen=True, kw_only=True, tag="started"):
    """A call is being made with this input; for a container: these are the items of its rounds."""

    node: str
    attempt: int = 1
    input: object = None
    timeout_at: int | None = None


class NodeCheckpointed(Event, frozen=True, kw_only=True, tag="checkpointed"):
    """A running node put down how far it has come."""

    node: str
    data: object = None


class NodeRecorded(Event, frozen=True, kw_only=True, tag="recorded"):
    """A running function recorded a value under a key, to find it when it is run again."""

    node: str
    key: str
    value: object = None


class NodeHandedOver(Event, frozen=True, kw_only=True, tag="handed_over"):
    """The call of a callback node is over: whoever was called has the rest, and the node waits at its point."""

    node: str
    output: object = None


class NodeInDoubt(Event, frozen=True, kw_only=True, tag="in_doubt"):
    """An attempt was lost with its instance, and nobody knows whether it had its effect."""

    node: str
    attempt: int


class NodeProbed(Event, frozen=True, kw_only=True, tag="probed"):
    """It was looked whether the lost attempt had its effect; None if that could not be told, with the `problem`."""

    node: str
    attempt: int
    happened: bool | None = None
    problem: str = ""


class NodeCompleted(Event, frozen=True, kw_only=True, tag="completed"):
    """A node is done and left by a port; `error` tells of failed parts that it went on without."""

    node: str
    output: object = None
    port: str = "done"
    duration_ms: int = 0
    error: Error | None = None


class NodeFailed(Event, frozen=True, kw_only=True, tag="failed"):
    """An attempt failed: it is tried again at `retry_at`, waits for an operator, or is final and leaves by `port`."""

    node: str
    error: Error
    attempt: int = 0
    retry_at: int | None = None
    incident: bool = False
    port: str | None = None


# Scopes


class ScopeOpened(Event, frozen=True, kw_only=True, tag="scope_opened"):
    """A round of a loop or a branch of a parallel began; `node` is the container."""

    node: str
    key: int | str
    item: object = None


class ScopeClosed(Event, frozen=True, kw_only=True, tag="scope_closed"):
    """A round or branch ended; of one that is done, what it collected is all that is left."""

    node: str
    key: int | str
    end: ScopeEnd = "done"
    output: object = None
    error: Error | None = None


class ScopeReopened(Event, frozen=True, kw_only=True, tag="scope_reopened"):
    """A round or branch that had failed or been cancelled goes on: these of its nodes are ready again.

    What was completed in it stays so, and containers in it go on from where they stood.
    """

    node: str
    key: int | str
    nodes: tuple[str, ...] = ()


class VariableSet(Event, frozen=True, kw_only=True, tag="variable_set"):
    """Variables were given new values; `scope` is the path of the scope that keeps them."""

    scope: str = ""
    values: dict[str, object]


# Pause points


class PausePointOpened(Event, frozen=True, kw_only=True, tag="point_opened"):
    """A node waits for something outside; with a `key` it is a running function that asked and rests meanwhile.

    Whoever is to call back has to be heard of until `beat_by`. A `doubt` asks whether a lost call had its effect.
    """

    node: str
    point: str
    kind: PointKind
    deadline: int | None = None
    on_deadline: str | None = None
    details: dict[str, object] = {}
    rules: ApprovalRules | None = None
    remind_at: tuple[int, ...] = ()
    escalate_at: int | None = None
    key: str = ""
    beat_by: int | None = None
    doubt: bool = False


class PausePointDecided(Event, frozen=True, kw_only=True, tag="point_decided"):
    """One of the people who are asked has decided; the variables are set when it is applied."""

    point: str
    decision: Decision
    variables: dict[str, object] = {}


class PausePointReceived(Event, frozen=True, kw_only=True, tag="point_received"):
    """One of the signals that are awaited has come."""

    point: str
    alias: str
    signal: dict[str, object]


class PausePointReminded(Event, frozen=True, kw_only=True, tag="point_reminded"):
    """It was time to remind the people who are asked."""

    point: str
    number: int


class PausePointEscalated(Event, frozen=True, kw_only=True, tag="point_escalated"):
    """More people are asked."""

    point: str
    users: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


class PausePointDelegated(Event, frozen=True, kw_only=True, tag="point_delegated"):
    """Somebody lets another act in their place."""

    point: str
    giver: str
    taker: str


class PausePointBeat(Event, frozen=True, kw_only=True, tag="point_beat"):
    """Whoever is to call back is still at it, and has to be heard of again until `beat_by`."""

    point: str
    beat_by: int


class PausePointHeld(Event, frozen=True, kw_only=True, tag="point_held"):
    """The child that is waited for is paused."""

    point: str


class PausePointReleased(Event, frozen=True, kw_only=True, tag="point_released"):
    """The child that is waited for was paused and goes on."""

    point: str


class PausePointAnswered(Event, frozen=True, kw_only=True, tag="point_answered"):
    """The point has its answer: how the node will leave, and with which output; given `at`, if not just now.

    The variables are set when it is applied.
    """

    point: str
    port: str = "done"
    output: object = None
    error: Error | None = None
    by: str | None = None
    at: int | None = None
    variables: dict[str, object] = {}


class PausePointApplied(Event, frozen=True, kw_only=True, tag="point_applied"):
    """The answer was taken up; the node goes on. The call of the node `call` is out and has to stop."""

    point: str
    call: str = ""


class PausePointExpired(Event, frozen=True, kw_only=True, tag="point_expired"):
    """The deadline passed first; a timer's deadline is what it waits for. `child` is at work and has to be told.

    The call of the node `call` is out and has to stop.
    """

    point: str
    child: str = ""
    call: str = ""


class PausePointCancelled(Event, frozen=True, kw_only=True, tag="point_cancelled"):
    """Nobody waits for the point any more. `child` is at work and has to be told.

    The call of the node `call` is out and has to stop.
    """

    point: str
    reason: str = ""
    child: str = ""
    call: str = ""
    by: str | None = None


AnyEvent: TypeAlias = (
    ExecutionCreated
    | ExecutionAdmitted
    | ExecutionStarted
    | LegStarted
    | ExecutionPausing
    | ExecutionPaused
    | ExecutionPauseNoted
    | ExecutionResumed
    | ExecutionCompleted
    | ExecutionFailed
    | ExecutionCancelled
    | ExecutionReopened
    | NodeRewound
    | NodeScheduled
    | NodeStarted
    | NodeCheckpointed
    | NodeRecorded
    | NodeHandedOver
    | NodeInDoubt
    | NodeProbed
    | NodeCompleted
    | NodeFailed
    | ScopeOpened
    | ScopeClosed
    | ScopeReopened
    | VariableSet
    | PausePointOpened
    | PausePointDecided
    | PausePointReceived
    | PausePointReminded
    | PausePointEscalated
    | PausePointDelegated
    | PausePointBeat
    | PausePointHeld
    | PausePointReleased
    | PausePointAnswered
    | PausePointApplied
    | PausePointExpired
    | PausePointCancelled
)
