"""What crosses the seam between the runtime and a store: plain records, frozen, with nothing but data in them.

Times are milliseconds UTC. Ids of executions are UUIDs in their usual text form. `last_seq` is the number of an
execution's last event, counted from 0.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from layover.core.conditions import Condition
from layover.core.engine.answers import Refused
from layover.core.engine.events import PointKind
from layover.core.engine.state import ExecutionStatus, Point

CLOSED: frozenset[str] = frozenset({"completed", "failed", "cancelled"})


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Data that crosses the seam."""


# What people did


class AuditEntry(Record, frozen=True, kw_only=True):
    """What somebody did, to what, and by which credential.

    `details` is a JSON object, with their reason or comment if they gave one, and no other data of theirs.
    """

    id: str  # a UUID in the order of time
    at: int
    user: str
    act: str  # `execution.pause`, `approval.approve`, `workflow.delete`, `key.add` …
    target: str = ""  # the id or the name of what it was done to
    execution_id: str = ""
    credential: str = ""  # `key <id>`, `jwt`, `admin key`, `command line`
    request_id: str = ""
    details: bytes = b"{}"


# Definitions


class Version(Record, frozen=True, kw_only=True):
    """One immutable version of a workflow: its definition in canonical JSON, found by name and number, or by hash."""

    workflow: str
    number: int
    hash: str
    document: bytes
    created_at: int


# The run plane


class Head(Record, frozen=True, kw_only=True):
    """The one hot row of an execution: who drives it, how far its log goes, and when it is next due."""

    execution_id: str
    workflow: str
    status: ExecutionStatus
    last_seq: int
    last_epoch: int
    epoch: int
    priority: int = 0
    owner: str | None = None
    wake_at: int | None = None
    commands_seq: int = 0
    commands_done: int = 0
    takeovers: int = 0
    missing: tuple[str, ...] = ()  # node types: whoever has a function and a call slot for one of them may go on
    missing_since: int | None = None
    paused_at: int | None = None  # when the status became `paused`; nothing if it is another


class NewExecution(Record, frozen=True, kw_only=True):
    """What is known of an execution when it begins, and never changes."""

    workflow: str
    hash: str
    created_at: int
    priority: int = 0
    user: str | None = None
    parent_id: str | None = None
    correlation_id: str | None = None
    tags: tuple[str, ...] = ()


class PointRow(Record, frozen=True, kw_only=True):
    """A pause point as whoever is outside sees it; `schema` is what an answer must fit."""

    execution_id: str
    workflow: str
    point: Point
    schema: object = None
    status: str = "open"
    closed_at: int | None = None

    @property
    def shown_status(self) -> str:
        """The status for readers: a timer whose moment came did what it was for, although it is stored as expired."""
        return "completed" if self.point.kind == "timer" and self.status == "expired" else self.status


class OpenedPoint(Record, frozen=True, kw_only=True):
    """A point became visible."""

    point: Point
    schema: object = None
    waits: tuple[tuple[str, str], ...] = ()  # names and keys of the signals that it waits for


class ChangedPoint(Record, frozen=True, kw_only=True):
    """A point moved on: more people are asked, somebody was reminded, an answer was recorded."""

    point: Point


class ClosedPoint(Record, frozen=True, kw_only=True):
    """Nobody waits at a point any more; `how` is its last status."""

    id: str
    how: str


PointChange: TypeAlias = OpenedPoint | ChangedPoint | ClosedPoint


class Rest(Record, frozen=True, kw_only=True):
    """The execution is given back with this append; `wake_at` is when time has something to do for it.

    Whoever has a function and a free call slot for one of the `missing` node types may take it up at once. One that is
    paused is so since `paused_at`: who goes from one pause straight to the next is paused anew. Without it, since its
    status is that.
    """

    wake_at: int | None = None
    missing: tuple[str, ...] = ()
    paused_at: int | None = None


class Closed(Record, frozen=True, kw_only=True):
    """How an execution ended, for lists of many."""

    outcome: str = ""
    error_code: str = ""


class Message(Record, frozen=True, kw_only=True):
    """Something that an execution wants of another one, or of something shared: a row of its outbox.

    It is known by its sender, the number of the event that it comes from, and its destination. It stays in the outbox
    until it has arrived; whoever wrote it delivers it at once, and anybody else does when it comes due.
    """

    sender: str
    n: int
    destination: str
    kind: str
    body: bytes
    due_at: int


class Token(Record, frozen=True, kw_only=True):
    """What lets somebody outside report to a callback point; only the hash of it is kept."""

    hash: bytes
    point: str


class Entry(Record, frozen=True, kw_only=True):
    """One stretch of a log: the bytes of its events, the first of which has number `seq`."""

    seq: int
    at: int
    count: int
    events: bytes


class Append(Record, frozen=True, kw_only=True):
    """What one execution adds to its log in one commit, with all that is derived from it.

    It passes only if owner, epoch, last_seq and commands_seq are what the writer believes them to be. `events` are the
    last of the `count` events that it adds; those of `earlier` moments come before them.
    """

    execution_id: str
    owner: str
    epoch: int
    expected_seq: int
    commands_seen: int
    at: int
    events: bytes
    count: int
    status: ExecutionStatus
    new: NewExecution | None = None
    lease_until: int = 0
    rest: Rest | None = None
    points: tuple[PointChange, ...] = ()
    snapshot: bytes | None = None
    closed: Closed | None = None
    messages: tuple[Message, ...] = ()
    tokens: tuple[Token, ...] = ()
    earlier: tuple[Entry, ...] = ()
    input: bytes | None = None  # of a new one: what it began with, as JSON, so that it can be found by it
    audit: AuditEntry | None = None  # of the act that it comes from
    keeps_takeovers: bool = False  # it only notes that the execution was taken over, which is no progress


class Command(Record, frozen=True, kw_only=True):
    """A request that waits to be moved into the log; `n` is its place in the queue of its execution."""

    n: int
    at: int
    kind: str
    body: bytes
    source: str = ""
    source_n: int = 0


Verdict = Literal[
    "passed",  # durable
    "uninformed",  # commands came in meanwhile: read them and decide again
    "fenced",  # somebody else drives the execution, or it has moved on
    "exists",  # an execution with this id was there before
]


class Outcome(Record, frozen=True, kw_only=True):
    """What became of an append; `commands` are those that its writer had not seen."""

    verdict: Verdict
    commands_seq: int = 0
    commands: tuple[Command, ...] = ()


class Enqueue(Record, frozen=True, kw_only=True):
    """A command for an execution; the same `source` and `source_n` are taken once, and what has none is always new."""

    execution_id: str
    kind: str
    body: bytes
    source: str = ""
    source_n: int = 0
    audit: AuditEntry | None = None


class Enqueued(Record, frozen=True, kw_only=True):
    """A command was taken; `n` is its place, and `owner` who drives the execution, if anybody does."""

    n: int
    owner: str | None = None
    repeated: bool = False


Refusal: TypeAlias = Refused


class Claim(Record, frozen=True, kw_only=True):
    """A wish to drive what is due; or one execution, due or not, closed or not, if nobody drives it.

    `types` are the node types that the instance has functions and free call slots for: what waits for one of them is
    due for it. At most so many of what is claimed were `waiting` for types; without a number, all may be.
    """

    instance: str
    now: int
    lease_until: int
    most: int = 1
    execution_id: str | None = None
    types: frozenset[str] = frozenset()
    waiting: int | None = None


class Claimed(Record, frozen=True, kw_only=True):
    """An execution that is ours to drive, with the commands that it has not moved into its log yet."""

    head: Head
    commands: tuple[Command, ...] = ()
    taken_over: bool = False


class Reserved(Record, frozen=True, kw_only=True):
    """An answer was taken: the point as it stands now, and the place of the command that tells the execution.

    `owner` is who drove the execution before; if nobody did, it may have been claimed with the answer.
    """

    execution_id: str
    point: Point
    n: int
    owner: str | None = None
    repeated: bool = False
    claimed: Claimed | None = None


class Claims(Record, frozen=True, kw_only=True):
    """What was claimed, and the next moment at which something comes due; what is due already may be more than that."""

    claimed: tuple[Claimed, ...] = ()
    next_due: int | None = None


class Lease(Record, frozen=True, kw_only=True):
    """An execution that an instance really drives.

    One that is released keeps so many `takeovers`: instances that it lost in a row, before whoever gives it back, and
    that its log knows nothing of yet.
    """

    execution_id: str
    epoch: int
    takeovers: int = 0


class Outbox(Record, frozen=True, kw_only=True):
    """Messages that are due, in the order in which each sender wrote them, and when the next one is.

    `undispatched_since` is the moment of the oldest signal whose waits have not all been told.
    """

    due: tuple[Message, ...] = ()
    next_due: int | None = None
    undispatched_since: int | None = None


# Signals


class Signal(Record, frozen=True, kw_only=True):
    """What arrives from outside; the same id is the same signal."""

    id: str
    name: str
    key: str
    at: int
    data: bytes


class Wait(Record, frozen=True, kw_only=True):
    """A point that waits for signals of some name and key."""

    execution_id: str
    point: str


# Limits


class Rate(Record, frozen=True, kw_only=True):
    """So many starts in a length of time, spread evenly once the first so many are used up."""

    name: str
    limit: int
    per_ms: int


class Slots(Record, frozen=True, kw_only=True):
    """So many executions at once under a name, and what happens to one more."""

    name: str
    limit: int
    on_conflict: Literal["queue", "reject", "cancel_running"] = "queue"


class Wish(Record, frozen=True, kw_only=True):
    """An execution wants to begin under limits; it holds its slot from then until it is closed."""

    execution_id: str
    slots: Slots | None = None
    rate: Rate | None = None
    priority: int = 0


class Admission(Record, frozen=True, kw_only=True):
    """Whether an execution may begin: it may, at a moment, after others, or not at all.

    `admitted` puts the command `Admit` into its queue, once. `holders` are those that have the slots; a `waiting` one
    is the `position`-th in line.
    """

    state: Literal["admitted", "later", "waiting", "rejected"]
    name: str = ""
    at: int | None = None
    position: int = 0
    holders: tuple[str, ...] = ()


class Place(Record, frozen=True, kw_only=True):
    """How things stand for an execution under limits; without slots it has no `name`, and no line to wait in.

    It has one from its first wish until it is closed: it holds a slot since `held_at` or is in line by `rank`, then it
    has a moment to begin at, then it is admitted. Its wish is kept with it.
    """

    execution_id: str
    name: str | None
    most: int | None
    rank: int
    held_at: int | None = None
    rate: Rate | None = None
    start_at: int | None = None
    admitted: bool = False

    @property
    def is_in_line(self) -> bool:
        """Whether it waits for a slot."""
        return self.name is not None and self.held_at is None


# Views


class ExecutionRow(Record, frozen=True, kw_only=True):
    """An execution in a list."""

    head: Head
    info: NewExecution
    version: int  # the number of the version that it runs
    finished_at: int | None = None
    closed: Closed | None = None


class Loaded(ExecutionRow, frozen=True, kw_only=True):
    """An execution with what its state is made from: a snapshot and the entries after it."""

    entries: tuple[Entry, ...]
    snapshot: bytes | None = None


class Liveness(Record, frozen=True, kw_only=True):
    """Whether an instance lives, as far as a store can tell, and when it was heard of last, if that is known."""

    alive: bool
    seen_at: int | None = None


class ExecutionFilter(Record, frozen=True, kw_only=True):
    """Which executions to list, newest first; `after` is the cursor of the last one seen.

    `where` is a JSON object with members: the input of an execution has to contain it. So it has to fulfil all
    `conditions`, which are about inputs only. An execution whose input is not kept is found by neither.
    """

    workflow: str | None = None
    status: tuple[str, ...] = ()
    tag: str | None = None
    parent_id: str | None = None
    where: bytes | None = None
    conditions: tuple[Condition, ...] = ()
    after: tuple[int, str] | None = None
    limit: int = 100


class PausedFilter(Record, frozen=True, kw_only=True):
    """Which paused executions to list, the one paused longest first; `after` is the last one seen: when, and its id."""

    workflow: str | None = None
    after: tuple[int, str] | None = None
    limit: int = 100


class PointFilter(Record, frozen=True, kw_only=True):
    """Which pause points to list, oldest first; `after` is the cursor of the last one seen."""

    execution_id: str | None = None
    workflow: str | None = None
    kind: PointKind | None = None
    status: tuple[str, ...] = ()
    after: tuple[int, str] | None = None
    limit: int = 100


class Gauges(Record, frozen=True, kw_only=True):
    """How a store stands: executions by status, and what of them waits for what."""

    executions: dict[str, int]
    due: int = 0  # wait for an instance to take them up
    commands: int = 0  # in queues, not moved into logs
    paused_long: int = 0  # since before a moment
    oldest_paused: int | None = None  # since when the one that has been paused longest is


# Inspection


class Fault(Record, frozen=True, kw_only=True):
    """Something in a store that only the store itself can see; without an execution it is about all of it."""

    code: str
    message: str
    execution_id: str = ""
