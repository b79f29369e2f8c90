"""The state of an execution at one moment: everything that its events so far imply, and nothing else.

Rows are frozen and replaced as a whole; they live in tables that can go back (`tables.py`). Nodes are found by their
context id, scopes by their path, points by their id. A scope that is done leaves only its collected output, so the
state stays as small as the work in progress. A scope that failed or was cancelled is halted: it is kept as it was,
outside the tables of the running scopes, until its container settles, so that a retry can resume it. The plan belongs
to the state but not to its encoding: the version row it comes from is immutable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

import msgspec
from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, RecordedDecision
from layover.core.engine.events import CarriedNode, CarriedSet, Error, Fate, NodeStatus, PointKind
from layover.core.engine.tables import Table, UndoLog
from layover.core.engine.timers import Timers
from layover.core.ids import child_id, may_live_again
from layover.core.point_claims import PointClaim
from layover.core.point_questions import PointQuestion
from layover.core.resume_waits import PauseEnd, ResumeWait

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from layover.core.plan import Plan, PlannedGraph, PlannedNode

ExecutionStatus = Literal["pending", "running", "pausing", "waiting", "paused", "completed", "failed", "cancelled"]
PointStatus = Literal["open", "answered"]
Count = Literal[
    "seq",  # events so far
    "calls",  # nodes that are scheduled or running
    "queued",  # nodes that wait for a call slot
    "children",  # open points that wait for a child which is not held
    "people",  # open points and incidents that wait for a person
    "first_ticket",  # of the nodes that are ready
    "next_ticket",
    "answers",  # answers so far: their order is the order in which they are applied
    "attempts",  # the highest number of an attempt so far
    "old_attempts",  # the same at the last rewind: rewound nodes count on from there
    "first_answer",  # of those that are not applied yet
    "completed",  # nodes that were completed so far
    "losses",  # of instances in a row, without progress since, that the log has charged
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
    undo: bool = False  # an operator asked to undo a lost call
    undo_failures: int = 0  # of the undo of one lost call
    waited: bool = False  # at a point, before it was rewound or reopened
    point: str = ""
    open_scopes: int = 0
    next_round: int = 0
    due_scopes: int = 0  # halted scopes that are to be reopened
    due_from: int = 0  # the index of the first of them, or less


class Scope(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One graph that is being run: the root, a round, or a branch; `open` counts its nodes that are not settled."""

    open: int
    node: str = ""
    key: int | str = 0
    item: object = None
    variables: dict[str, object] | None = None


class Halted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A scope that failed or was cancelled, with its nodes by their ids; `due` once it is to be reopened."""

    scope: Scope
    nodes: dict[str, NodeState]
    due: bool = False


class Collected(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The collected output or error of a closed scope."""

    output: object = None
    kept: bool = True
    error: Error | None = None


class InBranch(msgspec.Struct, frozen=True, gc=False):
    """The branch of a parallel around a point, and how many there are."""

    node: str
    index: int
    count: int


class InRound(msgspec.Struct, frozen=True, gc=False):
    """The round of a loop around a point."""

    node: str
    iteration: int


class Point(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A pause point: it waits for something outside; `branch` and `round` are the innermost around it."""

    id: str
    node: str
    kind: PointKind
    opened_at: int
    status: PointStatus = "open"
    deadline: int | None = None
    on_deadline: str | None = None
    details: dict[str, object] = {}
    rules: ApprovalRules | None = None
    decisions: tuple[RecordedDecision, ...] = ()
    received: dict[str, dict[str, object]] = {}
    signalled: tuple[str, ...] = ()  # signals for which the mailbox was read again
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
    undo: int | None = None  # for how long an answer can be taken back
    final_at: int | None = None  # until when the answer that there is can be
    final: bool = False  # that moment has passed
    brought: dict[str, dict[str, object]] = {}  # the variables by who brought them, where they may take them back
    taken_back: tuple[str, ...] = ()  # who took an answer back here, the last one last
    seen: str | None = None  # the hash of the view that the person who answered had seen
    variables: dict[str, object] = {}  # that the answers brought
    branch: InBranch | None = None
    round: InRound | None = None
    started_by: str | None = None  # of a form: the rules of an approval have its requester
    claim: PointClaim | None = None  # it may have run out
    questions: tuple[PointQuestion, ...] = ()  # that were asked back

    @property
    def requester(self) -> str | None:
        """Who started the execution, if the point asks people and that is known."""
        return self.rules.requester if self.kind == "approval" and self.rules is not None else self.started_by

    @property
    def child(self) -> str:
        """The execution that the point waits for, which has to be told when the wait ends; empty if there is none."""
        return str(self.details["child"]) if self.kind == "child" and self.status == "open" else ""

    @property
    def is_revocable(self) -> bool:
        """Whether it has an answer that is not final yet, and so is not in the queue."""
        return self.status == "answered" and self.final_at is not None and not self.final

    @property
    def failure(self) -> Error | None:
        """The error after the previous answer, because of which the point was opened again, if there was one."""
        stored = self.details.get("failure")
        return msgspec.convert(stored, Error) if stored is not None else None


class Taken(msgspec.Struct, frozen=True, gc=False):
    """A signal that a node has taken, and when it was sent."""

    node: str
    at: int


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The single values of an execution."""

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
    forked_from: str | None = None
    forked_at: int | None = None
    carried: dict[str, CarriedNode] = {}  # results of the origin, until the start
    carried_sets: tuple[CarriedSet, ...] = ()
    started_at: int = 0
    closed: Literal["", "completed", "failed", "cancelled"] = ""
    gate: Literal["open", "pausing", "paused"] = "open"
    paused_at: int = 0
    paused_reason: str = ""
    resume_at: int | None = None  # when the gate opens by itself
    resume_on: ResumeWait | None = None  # the signal that opens it
    resume_by: str | None = None  # who set that
    breakpoints: dict[str, str] = {}  # nodes before which it pauses once, and why
    stopped_at: int = -1  # the last turn in the queue of ready nodes that a breakpoint has held
    pauses: int = 0
    order: int = 0
    resume_count: int = 0
    resumed_at: int = 0
    resume_data: dict[str, object] | None = None  # the data of the last resume that had any
    legs: int = 0
    traceparent: str = ""  # the span of the last leg; before the first one, the span that started the execution
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
    def resume_end(self) -> PauseEnd:
        """When the gate opens by itself."""
        return PauseEnd(self.resume_at, self.resume_on)

    @property
    def in_doubt(self) -> tuple[str, ...]:
        """The nodes that were still in flight when the execution was paused."""
        return tuple(name for name, fate in self.fates.items() if fate == "in_doubt")


class ExecutionState:
    """The state of one execution, with its plan."""

    __slots__ = (
        "_graphs",
        "answered",
        "breakpoints",
        "collected",
        "counts",
        "facts",
        "halted",
        "nodes",
        "plan",
        "points",
        "queue",
        "scopes",
        "taken",
        "timed",
        "timers",
        "undo_log",
        "undos",
        "versions",
    )

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.versions: Mapping[str, Plan] = _NO_VERSIONS  # by hash: those that it moves to or from, as far as known
        self.breakpoints: Mapping[str, str] = _NO_BREAKPOINTS  # of its workflow, as its driver knows them: in no event
        self.undos: Container[str] = ()  # node types that have an undo, as its driver knows them: in no event
        self.timed = plan.definition.settings.timeout is not None
        self.facts = _NO_FACTS  # the single values
        self.undo_log = undo_log = UndoLog()
        self.counts: Table[Count, int] = Table(undo_log, _NO_COUNTS.copy())
        self.scopes: Table[str, Scope] = Table(undo_log)
        self.nodes: Table[str, NodeState] = Table(undo_log)
        self.points: Table[str, Point] = Table(undo_log)
        self.collected: Table[tuple[str, int | str], Collected] = Table(undo_log)
        self.halted: Table[str, Halted] = Table(undo_log)
        self.queue: Table[int, str] = Table(undo_log)
        self.answered: Table[int, str] = Table(undo_log)
        self.taken: Table[str, Taken] = Table(undo_log)  # signals by id, as far back as a wait may look
        self.timers = Timers(undo_log)
        self._graphs: dict[str, PlannedGraph] = {"": plan.graph}  # a cache by path, not part of the state

    def change(self, **facts: object) -> None:
        """Replace some of the single values."""
        self.set_facts(replace(self.facts, **facts))

    def set_facts(self, facts: Facts) -> None:
        """Replace the single values."""
        self.undo_log.note((None, "facts", self.facts))
        self.facts = facts

    def revert(self) -> None:
        """Undo all changes since they were last kept."""
        was = self.undo_log.revert()
        if was is not None:
            self.facts = was
            if was.hash != self.plan.hash and was.hash in self.versions:
                self.use(self.versions[was.hash])

    def know(self, plan: Plan) -> None:
        """Let it know another version of its workflow: an event may say that it has moved there."""
        self.versions = {**self.versions, self.plan.hash: self.plan, plan.hash: plan}

    def use(self, plan: Plan) -> None:
        """Go on by another version of the workflow."""
        self.plan = plan
        self.timed = plan.definition.settings.timeout is not None
        self._graphs = {"": plan.graph}

    def count(self, name: Count, by: int) -> None:
        """Add to a count."""
        rows = self.counts.rows
        was = rows[name]
        self.undo_log.note((rows, name, was))
        rows[name] = was + by

    def node(self, context_id: str) -> NodeState:
        """Return the state of a node; a node that has not been reached is idle."""
        return self.nodes.rows.get(context_id) or _IDLE

    @property
    def status(self) -> ExecutionStatus:
        """The status in one word: who is awaited, if it is not running."""
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
        """Whether any node is ready, queued, scheduled or running."""
        counts = self.counts.rows
        return bool(counts["calls"] or counts["queued"] or self.queue.rows)

    @property
    def resting(self) -> bool:
        """Whether no instance needs to drive it: it is closed, paused, or waits for time or for something outside."""
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
        """Cache the graph of a scope that was opened."""
        self._graphs[path] = graph

    def forget_graph(self, path: str) -> None:
        """Drop the cached graph of a scope that was closed."""
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


_IDLE: Final = NodeState()
_NO_VERSIONS: Final[Mapping[str, Plan]] = {}
_NO_BREAKPOINTS: Final[Mapping[str, str]] = {}
_NO_FACTS: Final = Facts()
_NO_COUNTS: Final[dict[Count, int]] = dict.fromkeys(COUNTS, 0)
