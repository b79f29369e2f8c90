"""What an execution is at one moment: everything that its events so far imply, and nothing else.

Rows are frozen and replaced as a whole; they live in tables that can go back (`tables.py`). Nodes are found by their
context id, scopes by their path, points by their id. A scope that is done leaves nothing but what it collected, so the
state stays as small as what is still going on. A scope that failed or was cancelled is halted: it is kept as it stood,
outside the tables of what goes on, until its container settles, so that a retry can take it up again. The plan belongs
to the state but not to its encoding: the version row it comes from is immutable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from layover.core.approval_rules import ApprovalRules, Decision
from layover.core.engine.events import Error, Fate, NodeStatus, PointKind
from layover.core.engine.tables import Table, UndoLog
from layover.core.engine.timers import Timers
from layover.core.ids import child_id, may_live_again

if TYPE_CHECKING:
    from layover.core.plan import Plan, PlannedGraph, PlannedNode

ExecutionStatus = Literal["pending", "running", "pausing", "waiting", "paused", "completed", "failed", "cancelled"]
PointStatus = Literal["open", "answered"]
Count = Literal[
    "seq",  # events so far
    "calls",  # nodes that are scheduled or running
    "queued",  # nodes that wait for a place to run
    "children",  # open points that wait for a child which is not held
    "people",  # open points and incidents that wait for a person
    "first_ticket",  # of the nodes that are ready
    "next_ticket",
    "answers",  # answers so far: their order is the order in which they are applied
    "attempts",  # the highest number of an attempt so far
    "old_attempts",  # the same when something was last taken back: what begins anew counts on from there
    "first_answer",  # of those that are not applied yet
    "completed",  # nodes that were completed so far
]
COUNTS: tuple[Count, ...] = get_args(Count)

PEOPLE: frozenset[PointKind] = frozenset({"approval", "form"})
CALLING: frozenset[NodeStatus] = frozenset({"scheduled", "running"})


class NodeState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One node in one scope."""

    status: NodeStatus = "idle"
    settled: int = 0
    taken: int = 0
    ticket: int = -1
    attempt: int = 0
    failures: int = 0
    recoveries: int = 0
    started_at: int = 0
    input: object = None
    output: object = None
    port: str = ""
    closed_seq: int = 0
    error: Error | None = None
    checkpoint: object = None
    journal: dict[str, object] = {}
    doubt: bool = False
    point: str = ""
    open_scopes: int = 0
    next_round: int = 0
    due_scopes: int = 0  # halted scopes that are to be taken up again
    due_from: int = 0  # they are at this index or behind it


class Scope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One graph that is being run: the root, a round, or a branch; `open` counts its nodes that are not settled."""

    open: int
    node: str = ""
    key: int | str = 0
    item: object = None
    variables: dict[str, object] | None = None


class Halted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A scope that failed or was cancelled, with its nodes by their ids; `due` once it is to be taken up again."""

    scope: Scope
    nodes: dict[str, NodeState]
    due: bool = False


class Collected(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a closed scope left to its container."""

    output: object = None
    kept: bool = True
    error: Error | None = None


class InBranch(msgspec.Struct, frozen=True, gc=False):
    """Which branch of a parallel something stands in, of how many."""

    node: str
    index: int
    count: int


class InRound(msgspec.Struct, frozen=True, gc=False):
    """Which round of a loop something stands in."""

    node: str
    iteration: int


class Point(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A place that waits for something outside; `branch` and `round` are the innermost that it stands in."""

    id: str
    node: str
    kind: PointKind
    opened_at: int
    status: PointStatus = "open"
    deadline: int | None = None
    on_deadline: str | None = None
    details: dict[str, object] = {}
    rules: ApprovalRules | None = None
    decisions: tuple[Decision, ...] = ()
    received: dict[str, dict[str, object]] = {}
    key: str = ""
    remind_at: tuple[int, ...] = ()
    reminded: int = 0
    escalate_at: int | None = None
    turn: int = 0
    port: str = ""
    output: object = None
    error: Error | None = None
    by: str | None = None
    held: bool = False
    beat_by: int | None = None
    doubt: bool = False
    answered_at: int | None = None
    variables: dict[str, object] = {}  # which those who answered brought
    branch: InBranch | None = None
    round: InRound | None = None

    @property
    def child(self) -> str:
        """The execution that is waited for and has to be told when it no longer is; nothing if there is none."""
        return str(self.details["child"]) if self.kind == "child" and self.status == "open" else ""

    @property
    def failure(self) -> Error | None:
        """What went wrong before it was opened again, if something did."""
        told = self.details.get("failure")
        return msgspec.convert(told, Error) if told is not None else None


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What there is only once in an execution."""

    id: str = ""
    workflow: str = ""
    hash: str = ""
    input: object = None
    trigger: object = None
    user: str | None = None
    parent: str | None = None
    parent_point: str | None = None
    depth: int = 0
    version: int | None = None
    tags: tuple[str, ...] = ()
    priority: int = 0
    correlation_id: str | None = None
    created_at: int = 0
    start_at: int | None = None
    hold: bool = False
    early: dict[str, object] = {}  # variables that a resume brought before the start
    started_at: int = 0
    closed: Literal["", "completed", "failed", "cancelled"] = ""
    gate: Literal["open", "pausing", "paused"] = "open"
    paused_at: int = 0
    paused_reason: str = ""
    pauses: int = 0
    order: int = 0
    resume_count: int = 0
    resumed_at: int = 0
    resume_data: dict[str, object] | None = None  # what the last resume brought that had any
    legs: int = 0
    in_flight: tuple[str, ...] = ()
    fates: dict[str, Fate] = {}
    answered: str = ""
    active_ms: int = 0
    active_since: int | None = None
    output: object = None
    outcome: str = ""
    outcome_reason: str = ""
    error: Error | None = None
    failed_node: str | None = None

    @property
    def in_doubt(self) -> tuple[str, ...]:
        """The nodes that were still in flight when the execution was paused."""
        return tuple(name for name, fate in self.fates.items() if fate == "in_doubt")


class Execution:
    """The state of one execution, with its plan."""

    __slots__ = (
        "_facts",
        "_graphs",
        "answered",
        "collected",
        "counts",
        "halted",
        "nodes",
        "plan",
        "points",
        "queue",
        "scopes",
        "timed",
        "timers",
        "undo_log",
    )

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.timed = plan.definition.settings.timeout is not None
        self.undo_log = UndoLog()
        self._facts: Table[str, Facts] = Table(self.undo_log, {"": Facts()})
        self.counts: Table[Count, int] = Table(self.undo_log, dict.fromkeys(COUNTS, 0))
        self.scopes: Table[str, Scope] = Table(self.undo_log)
        self.nodes: Table[str, NodeState] = Table(self.undo_log)
        self.points: Table[str, Point] = Table(self.undo_log)
        self.collected: Table[tuple[str, int | str], Collected] = Table(self.undo_log)
        self.halted: Table[str, Halted] = Table(self.undo_log)
        self.queue: Table[int, str] = Table(self.undo_log)
        self.answered: Table[int, str] = Table(self.undo_log)
        self.timers = Timers(self.undo_log)
        self._graphs: dict[str, PlannedGraph] = {"": plan.graph}  # found again by their paths: no part of the state

    @property
    def facts(self) -> Facts:
        """What there is only once."""
        return self._facts.rows[""]

    def change(self, **facts: object) -> None:
        """Replace some of what there is only once."""
        self._facts.put("", msgspec.structs.replace(self._facts.rows[""], **facts))

    def count(self, name: Count, by: int) -> None:
        """Add to a count."""
        rows = self.counts.rows
        was = rows[name]
        self.undo_log.note((rows, name, was))
        rows[name] = was + by

    def node(self, context_id: str) -> NodeState:
        """Return the state of a node; one that nothing has reached yet is idle."""
        return self.nodes.rows.get(context_id) or _IDLE

    @property
    def status(self) -> ExecutionStatus:
        """The one word for it: who is awaited, if it is not running."""
        facts = self.facts
        if facts.closed:
            return facts.closed
        if facts.gate != "open":
            return facts.gate
        if not facts.started_at:
            return "pending"
        if self.busy:
            return "running"
        return "paused" if self.counts["people"] else "waiting"

    @property
    def busy(self) -> bool:
        """Whether any node is ready, waits for a place, is scheduled or running."""
        counts = self.counts.rows
        return bool(counts["calls"] or counts["queued"] or self.queue.rows)

    @property
    def resting(self) -> bool:
        """Whether nobody needs to drive it: it is closed, held, or waits for time or for somebody outside."""
        facts = self.facts
        if facts.closed or facts.gate == "paused":
            return True
        return not (self.counts["calls"] if facts.gate == "pausing" else self.busy)

    def graph(self, path: str) -> PlannedGraph:
        """Return the graph that a scope runs."""
        graph = self._graphs.get(path)
        if graph is None:
            around, _, step = path.rpartition(":")
            container, _, key = step.partition(".")
            graph = self._graphs[path] = self.graph(around).node(container).body(key)
        return graph

    def keep_graph(self, path: str, graph: PlannedGraph) -> None:
        """Keep which graph a scope runs, so that it need not be found again: the scope has opened."""
        self._graphs[path] = graph

    def forget_graph(self, path: str) -> None:
        """Keep no longer which graph a scope runs: it has closed."""
        self._graphs.pop(path, None)

    def child_id(self, context_id: str, attempt: int) -> str:
        """Return the id of the execution that an attempt of a workflow node starts."""
        facts = self.facts
        life = facts.created_at if facts.parent is None and may_live_again(facts.id) else 0
        return child_id(facts.id, context_id, attempt, life)

    def planned(self, context_id: str) -> PlannedNode:
        """Return the plan of a node."""
        name, _, path = context_id.partition(":")
        graph = self._graphs.get(path) or self.graph(path)
        return graph.by_id[name]


_IDLE = NodeState()
