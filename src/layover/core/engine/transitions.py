"""The legal transitions of executions, nodes and pause points, as tables.

Nothing is decided by them. They are the sum of the rules, for the documentation (`page`) and for the tests, which see
every one of them happen and no other. An execution is observed between two appends, since no reader sees it in
between; nodes and points are observed around each event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from layover.core.engine import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine.events import NodeStatus
    from layover.core.engine.state import ExecutionStatus

PointPhase: TypeAlias = Literal["", "open", "answered", "applied", "expired", "cancelled"]
Cause: TypeAlias = type[ev.DomainEvent]

_AT_WORK: tuple[ExecutionStatus, ...] = ("running", "waiting", "paused")
_OPEN: tuple[ExecutionStatus, ...] = (*_AT_WORK, "pausing")
_CLOSED: tuple[ExecutionStatus, ...] = ("completed", "failed", "cancelled")

# Without an event of its own (None) an execution moves with its nodes: it runs while one of them is at work, and
# otherwise its status says who is awaited.
EXECUTION: frozenset[tuple[ExecutionStatus, ExecutionStatus, Cause | None]] = frozenset(
    {
        *((status, after, None) for status in _AT_WORK for after in _AT_WORK if status != after),
        *(("pending", after, ev.ExecutionStarted) for after in _AT_WORK),
        ("pending", "completed", ev.ExecutionCompleted),
        ("pending", "failed", ev.ExecutionFailed),
        ("pending", "cancelled", ev.ExecutionCancelled),
        ("pending", "paused", ev.ExecutionPaused),
        ("pending", "pausing", ev.ExecutionPausing),  # before one of its first nodes is a breakpoint
        ("paused", "pending", ev.ExecutionResumed),
        *(("paused", after, ev.ExecutionStarted) for after in ("running", "waiting")),
        ("failed", "pending", ev.ExecutionReopened),  # it was paused for too long before it started
        *(("failed", after, ev.ExecutionStarted) for after in _AT_WORK),
        *((status, "pausing", ev.ExecutionPausing) for status in _AT_WORK),
        *((status, "paused", ev.ExecutionPaused) for status in ("running", "waiting")),
        ("pausing", "paused", ev.ExecutionPaused),
        ("paused", "running", ev.ExecutionResumed),
        ("paused", "waiting", ev.ExecutionResumed),
        *(("pausing", after, ev.ExecutionResumed) for after in _AT_WORK),
        *((status, "completed", ev.ExecutionCompleted) for status in _OPEN),
        *((status, "failed", ev.ExecutionFailed) for status in _OPEN),
        *((status, "cancelled", ev.ExecutionCancelled) for status in _OPEN),
        *((closed, after, ev.ExecutionReopened) for closed in _CLOSED for after in _AT_WORK),
        *((closed, "pausing", ev.ExecutionPausing) for closed in _CLOSED),  # reopened, and at a breakpoint
        *((closed, "paused", ev.ExecutionPaused) for closed in _CLOSED),
        *((closed, "completed", ev.ExecutionCompleted) for closed in ("failed", "cancelled")),  # reopened and done
        *((closed, "failed", ev.ExecutionFailed) for closed in ("completed", "cancelled")),
    }
)

# A node as it goes on. A node that nothing has reached is idle.
NODE_ONWARD: frozenset[tuple[NodeStatus, NodeStatus, Cause]] = frozenset(
    {
        ("idle", "ready", ev.ExecutionStarted),
        ("idle", "ready", ev.ScopeOpened),
        ("idle", "ready", ev.NodeCompleted),
        ("idle", "ready", ev.NodeFailed),
        ("idle", "skipped", ev.NodeCompleted),
        ("idle", "skipped", ev.NodeFailed),
        ("ready", "scheduled", ev.NodeScheduled),
        *((status, "queued", ev.NodeScheduled) for status in ("ready", "running", "backoff", "incident")),
        ("queued", "running", ev.NodeStarted),
        ("queued", "failed", ev.NodeFailed),
        ("queued", "waiting", ev.NodeHandedOver),
        ("queued", "running", ev.PausePointExpired),
        *((status, "stopped", ev.PausePointCancelled) for status in ("scheduled", "queued", "running", "waiting")),
        ("ready", "waiting", ev.PausePointOpened),
        ("ready", "completed", ev.NodeCompleted),
        ("ready", "failed", ev.NodeFailed),
        ("scheduled", "running", ev.NodeStarted),
        ("scheduled", "entered", ev.NodeStarted),
        ("scheduled", "waiting", ev.PausePointOpened),
        ("scheduled", "failed", ev.NodeFailed),
        ("running", "completed", ev.NodeCompleted),
        ("running", "failed", ev.NodeFailed),
        ("running", "backoff", ev.NodeFailed),
        ("running", "incident", ev.NodeFailed),
        ("running", "scheduled", ev.NodeScheduled),
        ("running", "waiting", ev.PausePointOpened),
        ("running", "waiting", ev.NodeHandedOver),
        ("running", "ready", ev.NodeProbed),
        ("running", "ready", ev.NodeUndone),
        ("running", "backoff", ev.NodeUndoFailed),
        ("backoff", "waiting", ev.PausePointOpened),  # no other attempt to undo is made: an operator is asked
        ("entered", "completed", ev.NodeCompleted),
        ("entered", "failed", ev.NodeFailed),
        ("waiting", "running", ev.PausePointApplied),
        ("waiting", "running", ev.PausePointExpired),
        ("backoff", "scheduled", ev.NodeScheduled),
        ("backoff", "failed", ev.NodeFailed),
        ("incident", "scheduled", ev.NodeScheduled),
        *(("stopped", after, ev.NodeFailed) for after in ("failed", "backoff", "incident")),
    }
)

# A closed scope forgets its nodes, whatever their status; its points are cancelled before that.
_AT_CLOSE: tuple[NodeStatus, ...] = (
    *("ready", "queued", "running", "entered", "backoff", "incident"),
    *("stopped", "completed", "failed", "skipped"),
)
NODE_FORGOTTEN: frozenset[tuple[NodeStatus, NodeStatus, Cause]] = frozenset(
    (status, "idle", ev.ScopeClosed) for status in _AT_CLOSE
)

# A rewind takes a node and everything behind it back; a reopening takes up nodes that were given up. The nodes of a
# reopened scope are as they were when it was halted, or ready.
_REACHED: tuple[NodeStatus, ...] = (
    *("queued", "running", "entered", "backoff", "incident"),
    *("stopped", "completed", "failed"),
)
NODE_BACK: frozenset[tuple[NodeStatus, NodeStatus, Cause]] = frozenset(
    {
        *((status, "idle", ev.NodeRewound) for status in (*_REACHED, "ready", "skipped")),
        *((status, "ready", ev.NodeRewound) for status in _REACHED),
        ("stopped", "ready", ev.ExecutionReopened),
        ("failed", "ready", ev.ExecutionReopened),
        ("failed", "entered", ev.ExecutionReopened),
        *(("idle", after, ev.ScopeReopened) for after in ("ready", "entered", "completed", "failed", "skipped")),
    }
)

NODE: frozenset[tuple[NodeStatus, NodeStatus, Cause]] = NODE_ONWARD | NODE_FORGOTTEN | NODE_BACK

POINT: frozenset[tuple[PointPhase, PointPhase, Cause]] = frozenset(
    {
        ("", "open", ev.PausePointOpened),
        ("open", "answered", ev.PausePointAnswered),
        ("answered", "open", ev.PausePointTakenBack),
        ("open", "expired", ev.PausePointExpired),
        ("open", "cancelled", ev.PausePointCancelled),
        ("answered", "applied", ev.PausePointApplied),
        ("answered", "cancelled", ev.PausePointCancelled),
    }
)


def diagram(transitions: Iterable[tuple[str, str, Cause | None]], first: str = "", last: Iterable[str] = ()) -> str:
    """Return a Mermaid state diagram: one arrow for each pair, with the events that cause it."""
    causes: dict[tuple[str, str], list[str]] = {}
    for before, after, cause in transitions:
        causes.setdefault((before, after), []).append(cause.__name__ if cause is not None else "its nodes")
    lines = [f"    [*] --> {first}"] if first else []
    for (before, after), names in sorted(causes.items()):
        lines.append(f"    {before or '[*]'} --> {after}: {', '.join(sorted(names))}")
    lines.extend(f"    {status} --> [*]" for status in last)
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def page() -> str:
    """Return the page of the documentation."""
    onward = {one for one in EXECUTION if one[0] not in _CLOSED}
    return _PAGE.format(
        execution=diagram(onward, "pending", _CLOSED),
        reopened=diagram(EXECUTION - onward),
        node=diagram(NODE_ONWARD, "idle", ("completed", "failed", "skipped")),
        back=diagram(NODE_BACK),
        point=diagram(POINT, last=("applied", "expired", "cancelled")),
    )


_PAGE = """# States

The diagrams on this page are made from the tables in `layover.core.engine.transitions`. The tests play executions at
random and see each of these transitions happen, and no other.

## Executions

As seen between two appends to the log, which is all that a reader can see. An arrow without an event of its own ("its
nodes") follows from them: an execution is `running` while a node is ready or being called, `paused` when otherwise a
person or an operator is awaited, and else `waiting`. An execution that needs functions which no instance has is
`waiting` too: its lease was given back, and `why` names the missing node types. `pausing` means that an operator has
closed the gate and calls are still out, or children that have not paused yet. `pending` is an execution that has not
started: its moment has not come, or a limit holds it back.

{execution}

A closed execution accepts no command until it is reopened: by a retry, which is for failed ones, or by going back to
one of its nodes. It may be closed again in the same append.

{reopened}

## Nodes

One node in one scope, around each event. A node that the engine decides by itself (a condition, a set) goes from
`ready` straight to `completed`. `queued` is a call that waits for a free call slot, and `stopped` is a node that was
given up because its scope or execution ended. A callback node is `running` while its call is out and `waiting`
afterwards; its point is open all the time.

{node}

When a scope closes, its nodes are forgotten: each of them becomes `idle`, and the next round begins anew. If it
failed or was cancelled, the scope is kept as it was until its container settles: when a retry reopens it, its completed
nodes are completed again, and the others are `ready`. Going back, and reopening what had failed, takes nodes back:

{back}

## Pause points

Decisions, claims, questions, reminders, escalations, delegations and single signals happen while a point is `open`.
An answer is recorded at once and applied when its turn comes. With `undo`, it waits for its turn from the moment at
which it is final on (`PausePointFinal`), and can be taken back before.

{point}
"""
