"""Requests to an execution. Commands are imperative and never stored in the log; jitter arrives inside them."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from layover.core.engine.events import CarriedNode, CarriedSet, Error
from layover.core.engine.rewind_basis import RewindBasis
from layover.core.resume_waits import ResumeWait
from layover.tracebacks import Traceback


class Command(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request; a stale or repeated one changes nothing. `traceparent` is the span from which it was sent, if any.

    A command that begins a leg has `leg_traceparent`, the span of that leg.
    """

    traceparent: str = ""


class Fork(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Results of another execution that a new one begins with, and who wants that."""

    origin: str
    at: int
    from_node: str = ""
    nodes: dict[str, CarriedNode] = {}
    sets: tuple[CarriedSet, ...] = ()
    reason: str = ""
    by: str | None = None


class Create(Command, frozen=True, kw_only=True):
    """Create an execution, whose first leg is the instance's; a child with a waiting parent names it and its point.

    It starts at once, at a moment, or (`hold`) when it is admitted. With a reason to be `paused` its gate is closed
    from the beginning, and it does not start before the gate opens.
    """

    id: str
    input: object = None
    trigger: object = None
    user: str | None = None
    parent: str | None = None
    parent_point: str | None = None
    instance: str = ""
    leg_traceparent: str = ""
    start_at: int | None = None
    hold: bool = False
    paused: str = ""
    paused_by: str | None = None
    depth: int = 0  # how many ancestors it has
    version: int | None = None
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    fork: Fork | None = None


class Admit(Command, frozen=True, kw_only=True):
    """Let an execution start that waited for a limit."""


class Complete(Command, frozen=True, kw_only=True):
    """Report that a call has returned."""

    node: str
    attempt: int
    output: object = None


class Fail(Command, frozen=True, kw_only=True):
    """Report that a call has failed; `jitter` from -1 to 1 spreads retries."""

    node: str
    attempt: int
    error: Error
    bases: tuple[str, ...] = ()
    jitter: float = 0.0
    traceback: Traceback | None = None


class Probed(Command, frozen=True, kw_only=True):
    """Report whether a lost call had its effect; None if the probe cannot tell: then an operator is asked."""

    node: str
    attempt: int
    happened: bool | None
    output: object = None
    problem: str = ""


class Undone(Command, frozen=True, kw_only=True):
    """Report that an undo has returned: whatever a lost call may have done is taken back."""

    node: str
    attempt: int


class Checkpoint(Command, frozen=True, kw_only=True):
    """Store how far a running node has come."""

    node: str
    attempt: int
    data: object = None


class Record(Command, frozen=True, kw_only=True):
    """Store a value of a running function under a key."""

    node: str
    attempt: int
    key: str
    value: object = None


class Ask(Command, frozen=True, kw_only=True):
    """Ask a person for a running function, under a key; the function rests and runs again with the answer."""

    node: str
    attempt: int
    key: str
    title: str = ""
    schema: object = None
    deadline_ms: int | None = None


class Sleep(Command, frozen=True, kw_only=True):
    """Let a running function sleep under a key; it rests and runs again when the time has passed."""

    node: str
    attempt: int
    key: str
    length_ms: int


class StartLeg(Command, frozen=True, kw_only=True):
    """Begin a leg of an execution that lost so many instances in a row without progress (`losses`)."""

    cause: str
    instance: str
    losses: int = 0
    leg_traceparent: str = ""


class StartQueued(Command, frozen=True, kw_only=True):
    """Start queued calls, as far as there are free call slots."""

    node: str


class Wake(Command, frozen=True, kw_only=True):
    """Do what is due by now."""


class Answer(Command, frozen=True, kw_only=True):
    """Answer a pause point as a person; for an approval `approved` decides. `at` is when, if not now.

    The `variables` are set when the answer is applied. `seen` is the hash of the view that the person had seen.
    """

    point: str
    by: str = ""
    roles: tuple[str, ...] = ()
    data: object = None
    approved: bool | None = None
    comment: str = ""
    at: int | None = None
    variables: dict[str, object] = {}
    seen: str | None = None


class TakeBack(Command, frozen=True, kw_only=True):
    """Take back what a person said at a pause point, if that is not final yet. `at` is when, if not now."""

    point: str
    by: str
    reason: str = ""
    at: int | None = None


class Delegate(Command, frozen=True, kw_only=True):
    """Let another person act in the place of an approver."""

    point: str
    by: str
    roles: tuple[str, ...] = ()
    to: str


class ClaimPoint(Command, frozen=True, kw_only=True):
    """Claim an open point until a moment; with `take`, also from a person who has claimed it."""

    point: str
    by: str
    roles: tuple[str, ...] = ()
    take: bool = False
    at: int
    until: int


class ReleaseClaim(Command, frozen=True, kw_only=True):
    """Give back one's claim of a point."""

    point: str
    by: str
    at: int


class StandIn(Command, frozen=True, kw_only=True):
    """Let the substitute of an approver who is away act in their place."""

    point: str
    by: str
    roles: tuple[str, ...] = ()
    to: str
    at: int


class AskBack(Command, frozen=True, kw_only=True):
    """Ask the requester of a point something, or another person, before answering it."""

    point: str
    by: str
    roles: tuple[str, ...] = ()
    question: str
    to: str | None = None
    at: int


class ReplyBack(Command, frozen=True, kw_only=True):
    """Reply to a question that was asked back: the one with a number, counted from 1, or the oldest that is open."""

    point: str
    by: str
    text: str
    number: int | None = None
    at: int


class Deliver(Command, frozen=True, kw_only=True):
    """Deliver a signal: to every point that waits for it, or to one that found it in its mailbox (`at`)."""

    point: str = ""
    id: str
    name: str
    key: str = ""
    data: object = None
    at: int | None = None


class Report(Command, frozen=True, kw_only=True):
    """Report the result of a callback or of a child execution."""

    point: str
    output: object = None
    error: Error | None = None


class Delivered(Command, frozen=True, kw_only=True):
    """Report that what a point waits for was sent, or (`error`) given up."""

    point: str
    id: str
    at: int
    error: str = ""


class Beat(Command, frozen=True, kw_only=True):
    """Report a heartbeat of the work that will call back."""

    point: str


class ChildPaused(Command, frozen=True, kw_only=True):
    """Report that the child of a point is paused: by the parent's pause of this number, or (0) for another reason."""

    point: str
    order: int = 0


class ChildResumed(Command, frozen=True, kw_only=True):
    """Report that the paused child of a point goes on."""

    point: str


class CancelPoint(Command, frozen=True, kw_only=True):
    """Give up waiting at a point; its node fails."""

    point: str
    reason: str = ""
    by: str | None = None


class Pause(Command, frozen=True, kw_only=True):
    """Pause the execution for an operator, or for the pause of its parent with the number `order`.

    With `resume_at` it goes on by itself at that moment, with `resume_on` when that signal arrives; if it is paused
    already, that is all that changes.
    """

    reason: str = ""
    by: str | None = None
    order: int = 0
    resume_at: int | None = None
    resume_on: ResumeWait | None = None


class ScheduleResume(Command, frozen=True, kw_only=True):
    """Let a paused execution go on by itself, at a moment or when a signal arrives; else only when it is resumed."""

    at: int | None = None
    on: ResumeWait | None = None
    by: str | None = None


class StopDraining(Command, frozen=True, kw_only=True):
    """Pause although calls are still out, because the time to drain has passed; those calls are in doubt."""


class Resume(Command, frozen=True, kw_only=True):
    """Open the gate of a paused execution."""

    data: dict[str, object] = {}
    reason: str = ""
    by: str | None = None


class Cancel(Command, frozen=True, kw_only=True):
    """End the execution."""

    reason: str = ""
    by: str | None = None


class Retry(Command, frozen=True, kw_only=True):
    """Continue a failed execution from what failed; a request that may be repeated has a `key`.

    The `instance` that reopens a closed execution begins a leg with it.
    """

    by: str | None = None
    key: str = ""
    instance: str = ""
    leg_traceparent: str = ""


class Rewind(Command, frozen=True, kw_only=True):
    """Drop the results of a node and of everything after it, and go on from that node.

    `key` and `instance` are as for a retry. Variables that the dropped nodes had set are given their earlier values, or
    are `unset`: those that the node reads, and those of the execution, if they are others. With a `basis` they are
    those of when it was sent, and what was set since is taken back as well.
    """

    to: str
    variables: dict[str, object] = {}
    unset: tuple[str, ...] = ()
    root_variables: dict[str, object] = {}
    root_unset: tuple[str, ...] = ()
    basis: RewindBasis | None = None
    reason: str = ""
    by: str | None = None
    key: str = ""
    instance: str = ""
    leg_traceparent: str = ""


class RunNow(Command, frozen=True, kw_only=True):
    """Let what waits for time go on at once: a delay, a sleep, or another attempt of a node.

    Without a `node`, all of them, or the start that was delayed.
    """

    node: str = ""
    reason: str = ""
    by: str | None = None


class CancelRetry(Command, frozen=True, kw_only=True):
    """Make no further attempt of a node that is to be tried again: its last failure is final."""

    node: str
    reason: str = ""
    by: str | None = None


class SetBreakpoint(Command, frozen=True, kw_only=True):
    """Pause once before a node, named by its id in the graph or, in a scope, by its context id."""

    node: str
    reason: str = ""
    by: str | None = None


class ClearBreakpoint(Command, frozen=True, kw_only=True):
    """Do not pause before a node that has a breakpoint; without a `node`, before none."""

    node: str = ""
    by: str | None = None


class Move(Command, frozen=True, kw_only=True):
    """Go on by another version of the workflow, which the state knows (`versions`); `names` are nodes renamed there.

    `key` is as for a retry.
    """

    hash: str
    version: int | None = None
    names: dict[str, str] = {}
    reason: str = ""
    by: str | None = None
    key: str = ""


class Recover(Command, frozen=True, kw_only=True):
    """Make the calls again that were out when the instance of the execution went away.

    An instance that was stopped in order is not `lost`: nothing is counted against the nodes that it was calling.
    """

    lost: bool = True


# What people do at a point that is judged where it is stored, before the execution hears of it.
PointAct: TypeAlias = Answer | TakeBack | ClaimPoint | ReleaseClaim | StandIn | AskBack | ReplyBack

AnyCommand: TypeAlias = (
    Create
    | Admit
    | Complete
    | Fail
    | Probed
    | Undone
    | Checkpoint
    | Record
    | Ask
    | Sleep
    | StartLeg
    | StartQueued
    | Wake
    | Answer
    | TakeBack
    | Delegate
    | ClaimPoint
    | ReleaseClaim
    | StandIn
    | AskBack
    | ReplyBack
    | Deliver
    | Report
    | Delivered
    | Beat
    | ChildPaused
    | ChildResumed
    | CancelPoint
    | Pause
    | ScheduleResume
    | StopDraining
    | Resume
    | Cancel
    | Retry
    | Rewind
    | RunNow
    | CancelRetry
    | SetBreakpoint
    | ClearBreakpoint
    | Move
    | Recover
)
