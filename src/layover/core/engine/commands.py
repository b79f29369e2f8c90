"""What somebody asks of an execution. Commands are imperative and never stored as such; jitter arrives inside them."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from layover.core.engine.events import Error


class Command(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request; a stale or repeated one changes nothing."""


class Create(Command, frozen=True, kw_only=True):
    """Begin an execution, whose first leg is the instance's; a child that is waited for has a parent and its point.

    It starts at once, at a moment, or (`hold`) when it is admitted. With a reason to be `paused` its gate is closed
    from the beginning, and it starts no earlier than somebody opens that.
    """

    id: str
    input: object = None
    trigger: object = None
    user: str | None = None
    parent: str | None = None
    parent_point: str | None = None
    instance: str = ""
    start_at: int | None = None
    hold: bool = False
    paused: str = ""
    paused_by: str | None = None
    depth: int = 0  # how many executions above it have started it
    version: int | None = None
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None


class Admit(Command, frozen=True, kw_only=True):
    """A limit that the execution waits for lets it start."""


class Complete(Command, frozen=True, kw_only=True):
    """A call has returned."""

    node: str
    attempt: int
    output: object = None


class Fail(Command, frozen=True, kw_only=True):
    """A call has failed; `jitter` from -1 to 1 spreads retries."""

    node: str
    attempt: int
    error: Error
    bases: tuple[str, ...] = ()
    jitter: float = 0.0


class Probed(Command, frozen=True, kw_only=True):
    """It was looked whether a call that was lost had its effect; if nobody can tell (None), an operator is asked."""

    node: str
    attempt: int
    happened: bool | None
    output: object = None
    problem: str = ""


class Checkpoint(Command, frozen=True, kw_only=True):
    """A running node puts down how far it has come."""

    node: str
    attempt: int
    data: object = None


class Record(Command, frozen=True, kw_only=True):
    """A running function records a value under a key."""

    node: str
    attempt: int
    key: str
    value: object = None


class Ask(Command, frozen=True, kw_only=True):
    """A running function asks a person under a key and rests; it is run again when the answer is there."""

    node: str
    attempt: int
    key: str
    title: str = ""
    schema: object = None
    deadline_ms: int | None = None


class Sleep(Command, frozen=True, kw_only=True):
    """A running function sleeps under a key and rests; it is run again when the time has passed."""

    node: str
    attempt: int
    key: str
    length_ms: int


class StartLeg(Command, frozen=True, kw_only=True):
    """An instance takes the execution up."""

    cause: str
    instance: str


class StartQueued(Command, frozen=True, kw_only=True):
    """There may be a place for a call that waits for one."""

    node: str


class Wake(Command, frozen=True, kw_only=True):
    """Time has passed: do what is due."""


class Answer(Command, frozen=True, kw_only=True):
    """A person answers a pause point; for an approval `approved` decides. `at` is when they did, if not just now.

    The `variables` are set when the answer is applied.
    """

    point: str
    by: str = ""
    roles: tuple[str, ...] = ()
    data: object = None
    approved: bool | None = None
    comment: str = ""
    at: int | None = None
    variables: dict[str, object] = {}


class Delegate(Command, frozen=True, kw_only=True):
    """A person lets another act in their place."""

    point: str
    by: str
    roles: tuple[str, ...] = ()
    to: str


class Deliver(Command, frozen=True, kw_only=True):
    """A signal has come: for every point that waits for it, or for one that looked back and found it (`at`)."""

    point: str = ""
    id: str
    name: str
    key: str = ""
    data: object = None
    at: int | None = None


class Report(Command, frozen=True, kw_only=True):
    """What a callback or a child execution came to."""

    point: str
    output: object = None
    error: Error | None = None


class Beat(Command, frozen=True, kw_only=True):
    """Whoever is to call back is still at it."""

    point: str


class ChildPaused(Command, frozen=True, kw_only=True):
    """The child that a point waits for is paused: by the parent's pause of this number, or (0) by somebody else."""

    point: str
    order: int = 0


class ChildResumed(Command, frozen=True, kw_only=True):
    """The child that a point waits for was paused and goes on."""

    point: str


class CancelPoint(Command, frozen=True, kw_only=True):
    """Somebody gives up waiting at a point; its node fails."""

    point: str
    reason: str = ""
    by: str | None = None


class Pause(Command, frozen=True, kw_only=True):
    """An operator holds the execution, or (`order`) the parent that is paused for the so-manieth time."""

    reason: str = ""
    by: str | None = None
    order: int = 0


class StopDraining(Command, frozen=True, kw_only=True):
    """The time to finish has passed: pause although calls are still out; their fate is not known."""


class Resume(Command, frozen=True, kw_only=True):
    """An operator releases it."""

    data: dict[str, object] = {}
    reason: str = ""
    by: str | None = None


class Cancel(Command, frozen=True, kw_only=True):
    """Somebody ends the execution."""

    reason: str = ""
    by: str | None = None


class Retry(Command, frozen=True, kw_only=True):
    """Go on with a failed execution from what failed; whoever may ask again has a `key` for it.

    The `instance` that reopens a closed execution begins a leg with it.
    """

    by: str | None = None
    key: str = ""
    instance: str = ""


class Rewind(Command, frozen=True, kw_only=True):
    """Drop the results of a node and of everything after it, and go on from there.

    The `key` and the `instance` are as for a retry.
    """

    to: str
    reason: str = ""
    by: str | None = None
    key: str = ""
    instance: str = ""


class Recover(Command, frozen=True, kw_only=True):
    """The instance that drove the execution is gone: what it had started is started again.

    One that was stopped in order is not `lost`, and nothing is counted against what it was calling.
    """

    lost: bool = True


AnyCommand: TypeAlias = (
    Create
    | Admit
    | Complete
    | Fail
    | Probed
    | Checkpoint
    | Record
    | Ask
    | Sleep
    | StartLeg
    | StartQueued
    | Wake
    | Answer
    | Delegate
    | Deliver
    | Report
    | Beat
    | ChildPaused
    | ChildResumed
    | CancelPoint
    | Pause
    | StopDraining
    | Resume
    | Cancel
    | Retry
    | Rewind
    | Recover
)
