"""The events of nodes, of the scopes of containers, and of variables."""

from __future__ import annotations

from layover.core.engine.event_base import Cause, DomainEvent, Error, ScopeEnd
from layover.tracebacks import Traceback


class NodeScheduled(DomainEvent, frozen=True, kw_only=True, tag="scheduled"):
    """A call will be made, at once or when a slot is free; the attempt numbers every start, recoveries included."""

    node: str
    node_type: str
    attempt: int = 1
    cause: Cause = "reached"
    queued: bool = False
    lost: bool = True  # of a recovery: the instance was lost, not stopped in order


class NodeStarted(DomainEvent, frozen=True, kw_only=True, tag="started"):
    """A call is being made with this input; for a container, these are the items of its rounds."""

    node: str
    attempt: int = 1
    input: object = None
    timeout_at: int | None = None


class NodeCheckpointed(DomainEvent, frozen=True, kw_only=True, tag="checkpointed"):
    """A running node stored how far it has come."""

    node: str
    data: object = None


class NodeRecorded(DomainEvent, frozen=True, kw_only=True, tag="recorded"):
    """A running function stored a value under a key, to read it when it runs again."""

    node: str
    key: str
    value: object = None


class NodeHandedOver(DomainEvent, frozen=True, kw_only=True, tag="handed_over"):
    """The call of a callback node has returned, and the node waits at its point for the callback."""

    node: str
    output: object = None


class NodeInDoubt(DomainEvent, frozen=True, kw_only=True, tag="in_doubt"):
    """An attempt was lost with its instance, and it is not known whether it had its effect."""

    node: str
    attempt: int


class NodeProbed(DomainEvent, frozen=True, kw_only=True, tag="probed"):
    """A probe looked for the effect of a lost attempt; None if it could not tell, with the `problem`."""

    node: str
    attempt: int
    happened: bool | None = None
    problem: str = ""


class NodeUndoRequested(DomainEvent, frozen=True, kw_only=True, tag="undo_requested"):
    """An operator asked to undo what a lost attempt may have done, before the call is made again."""

    node: str
    attempt: int


class NodeUndone(DomainEvent, frozen=True, kw_only=True, tag="undone"):
    """The undo has returned: nothing of a lost attempt is left, its records and its checkpoint included."""

    node: str
    attempt: int


class NodeUndoFailed(DomainEvent, frozen=True, kw_only=True, tag="undo_failed"):
    """An undo failed: it is tried again at `retry_at`, or an operator is asked."""

    node: str
    attempt: int
    error: Error
    retry_at: int | None = None
    traceback: Traceback | None = None


class NodeCompleted(DomainEvent, frozen=True, kw_only=True, tag="completed"):
    """A node is done and left by a port; `error` lists failed branches that it went on without."""

    node: str
    output: object = None
    port: str = "done"
    duration_ms: int = 0
    error: Error | None = None


class NodeFailed(DomainEvent, frozen=True, kw_only=True, tag="failed"):
    """An attempt failed: it is retried at `retry_at`, waits for an operator, or is final and leaves by `port`.

    The `traceback` is for people who debug: no expression can read it, and it is not part of the state.
    """

    node: str
    error: Error
    attempt: int = 0
    retry_at: int | None = None
    incident: bool = False
    port: str | None = None
    traceback: Traceback | None = None


class WaitSkipped(DomainEvent, frozen=True, kw_only=True, tag="wait_skipped"):
    """An operator let a node go on before its time: a delay, a sleep or another attempt; without one, the start."""

    node: str = ""
    reason: str = ""
    by: str | None = None


class RetryCancelled(DomainEvent, frozen=True, kw_only=True, tag="retry_cancelled"):
    """An operator decided that a node is not tried again: its last failure, which follows, is final."""

    node: str
    reason: str = ""
    by: str | None = None


# Scopes


class ScopeOpened(DomainEvent, frozen=True, kw_only=True, tag="scope_opened"):
    """A round of a loop or a branch of a parallel was opened; `node` is the container."""

    node: str
    key: int | str
    item: object = None


class ScopeClosed(DomainEvent, frozen=True, kw_only=True, tag="scope_closed"):
    """A round or branch ended; of a completed one, only its collected output is left."""

    node: str
    key: int | str
    end: ScopeEnd = "done"
    output: object = None
    error: Error | None = None


class ScopeReopened(DomainEvent, frozen=True, kw_only=True, tag="scope_reopened"):
    """A failed or cancelled round or branch goes on: these of its nodes are ready again.

    Its completed nodes stay completed, and containers in it continue where they were.
    """

    node: str
    key: int | str
    nodes: tuple[str, ...] = ()


class VariableSet(DomainEvent, frozen=True, kw_only=True, tag="variable_set"):
    """Variables were given new values, by a node; `scope` is the path of the scope that holds them."""

    node: str = ""  # not known in logs of earlier releases
    scope: str = ""
    values: dict[str, object]
