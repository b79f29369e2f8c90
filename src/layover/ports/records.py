"""The records between the runtime and a store: plain and frozen, with nothing but data in them.

Times are milliseconds UTC. Ids of executions are UUIDs in their usual text form. `last_seq` is the number of an
execution's last event, counted from 0.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from layover.core.engine.answers import Refused
from layover.core.engine.state import ExecutionStatus, Point

CLOSED: frozenset[str] = frozenset({"completed", "failed", "cancelled"})


class StoreRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Data between the runtime and a store."""


# Audit


class AuditRow(StoreRecord, frozen=True, kw_only=True):
    """One act of a user: what was done to what, with which credential.

    `details` is a JSON object, with a reason or comment if there was one. `ports/audit_entries.py` makes rows that are
    ready to be sealed; one without a leaf gets its entry, salt and leaf when it is sealed. `document` is what the user
    saw: it is stored under its hash with the row, and not read with it.
    """

    id: str  # a UUID that is ordered by time
    at: int
    user: str
    act: str  # `execution.pause`, `approval.approve`, `workflow.delete`, `key.add` …
    target: str = ""  # the id or the name of the object
    execution_id: str = ""
    credential: str = ""  # `key <id>`, `jwt`, `admin key`, `command line`
    request_id: str = ""
    details: bytes = b"{}"
    entry: bytes = b""  # all of the act as JSON, kept byte for byte; the other fields are there to be searched
    salt: bytes = b""
    leaf: bytes = b""  # the hash of salt and entry
    document_hash: bytes = b""
    document: bytes | None = None
    seal: int | None = None  # the number of the seal that holds it


# Definitions


class Version(StoreRecord, frozen=True, kw_only=True):
    """One immutable version of a workflow: its definition in canonical JSON, found by name and number, or by hash."""

    workflow: str
    number: int
    hash: str
    document: bytes
    created_at: int


class WrittenText(StoreRecord, frozen=True, kw_only=True):
    """A definition as it was written."""

    media_type: str
    body: bytes


class DefinitionText(WrittenText, frozen=True, kw_only=True):
    """The newest text of a version."""

    workflow: str
    number: int
    changed_at: int


# The run plane


class Head(StoreRecord, frozen=True, kw_only=True):
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
    missing: tuple[str, ...] = ()  # node types: an instance with a function and a slot for one may go on
    missing_since: int | None = None
    paused_at: int | None = None  # when the status became `paused`; None in any other status


class NewExecution(StoreRecord, frozen=True, kw_only=True):
    """The constant facts of an execution, known from the start."""

    workflow: str
    hash: str
    created_at: int
    priority: int = 0
    user: str | None = None
    parent_id: str | None = None
    correlation_id: str | None = None
    tags: tuple[str, ...] = ()


class PointRow(StoreRecord, frozen=True, kw_only=True):
    """A pause point as readers outside the engine see it; an answer must fit `schema`."""

    execution_id: str
    workflow: str
    point: Point
    schema: object = None
    status: str = "open"
    closed_at: int | None = None

    @property
    def shown_status(self) -> str:
        """The status for readers: a timer that ended as planned is stored as expired, and shown as completed."""
        return "completed" if self.point.kind == "timer" and self.status == "expired" else self.status


class OpenedPoint(StoreRecord, frozen=True, kw_only=True):
    """A point became visible."""

    point: Point
    schema: object = None
    waits: tuple[tuple[str, str], ...] = ()  # names and keys of the signals that it waits for


class ChangedPoint(StoreRecord, frozen=True, kw_only=True):
    """A point changed: more people are asked, a reminder was sent, an answer was recorded."""

    point: Point


class ClosedPoint(StoreRecord, frozen=True, kw_only=True):
    """A point waits no longer; `how` is its last status."""

    id: str
    how: str


class ResumeWaitChange(StoreRecord, frozen=True, kw_only=True):
    """The operator's wait of an execution changed: it is for another signal, or for none.

    The row of the wait has the id of the execution in place of that of a point.
    """

    awaited: tuple[str, str] | None  # name and key
    was: tuple[str, str] | None


PointChange: TypeAlias = OpenedPoint | ChangedPoint | ClosedPoint | ResumeWaitChange


class Rest(StoreRecord, frozen=True, kw_only=True):
    """The execution is given back with this append; `wake_at` is the next moment at which something is due.

    An instance with a function and a free call slot for one of the `missing` node types may claim it at once.
    `paused_at` is the start of a pause: an execution that goes from one pause straight to the next is paused anew.
    Without it, the pause began with the status.
    """

    wake_at: int | None = None
    missing: tuple[str, ...] = ()
    paused_at: int | None = None


class ClosedExecution(StoreRecord, frozen=True, kw_only=True):
    """How an execution ended, for lists of many."""

    outcome: str = ""
    error_code: str = ""


class Message(StoreRecord, frozen=True, kw_only=True):
    """A request of an execution to another one, or to a shared record: a row of its outbox.

    It is identified by its sender, the number of its event, and its destination. It stays in the outbox until it has
    arrived; its writer delivers it at once, and any instance does when it comes due.
    """

    sender: str
    n: int
    destination: str
    kind: str
    body: bytes
    due_at: int


class Token(StoreRecord, frozen=True, kw_only=True):
    """The token by which an outside system reports to a callback point; only its hash is stored."""

    hash: bytes
    point: str


class Entry(StoreRecord, frozen=True, kw_only=True):
    """One piece of a log: the bytes of its events, the first of which has the number `seq`."""

    seq: int
    at: int
    count: int
    events: bytes


class InputKey(StoreRecord, frozen=True, kw_only=True):
    """An input of a trigger: the execution that it starts is created only while the input is pending."""

    trigger_id: str
    input_id: str


class Append(StoreRecord, frozen=True, kw_only=True):
    """The events that one execution adds to its log in one commit, with everything derived from them.

    It passes only if owner, epoch, last_seq and commands_seq are still as the writer believes. `events` are the
    last of the `count` events that it adds; those of `earlier` moments come before them. The lease of a new execution
    lasts until `lease_until`, and by the clock of the store for at least as long as that is after `at`.
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
    closed: ClosedExecution | None = None
    messages: tuple[Message, ...] = ()
    tokens: tuple[Token, ...] = ()
    earlier: tuple[Entry, ...] = ()
    input: bytes | None = None  # of a new execution: its input as JSON, for the input index
    audit: AuditRow | None = None  # of the act that caused it
    decided: tuple[AuditRow, ...] = ()  # what the engine decided in it in a person's stead
    trigger_input: InputKey | None = None  # of a new execution: the input that starts it, and is marked so with it
    resume_count: int | None = None  # how often it was resumed, if this append changes that
    version: str | None = None  # the hash of the version by which it goes on from here, if that is another one
    keeps_takeovers: bool = False  # it only records a takeover, which is not progress


class QueuedCommand(StoreRecord, frozen=True, kw_only=True):
    """A request that waits to be moved into the log; `n` is its position in the queue of its execution."""

    n: int
    at: int
    kind: str
    body: bytes
    source: str = ""
    source_n: int = 0


Verdict = Literal[
    "passed",  # durable
    "uninformed",  # commands came in meanwhile: read them and decide again
    "fenced",  # another instance drives the execution, or it has moved on
    "exists",  # an execution with this id exists already, or its trigger's input was started before
]


class Outcome(StoreRecord, frozen=True, kw_only=True):
    """The outcome of an append; `commands` are those that its writer had not seen."""

    verdict: Verdict
    commands_seq: int = 0
    commands: tuple[QueuedCommand, ...] = ()


class Enqueue(StoreRecord, frozen=True, kw_only=True):
    """A command for an execution; the same `source` and `source_n` are taken once, one without them is always new."""

    execution_id: str
    kind: str
    body: bytes
    source: str = ""
    source_n: int = 0
    audit: AuditRow | None = None


class Enqueued(StoreRecord, frozen=True, kw_only=True):
    """A command was taken; `n` is its position, and `owner` drives the execution, if it is driven."""

    n: int
    owner: str | None = None
    repeated: bool = False


Refusal: TypeAlias = Refused


class Claim(StoreRecord, frozen=True, kw_only=True):
    """A request to drive due executions; or one execution, due or not, closed or not, if it is not driven.

    `types` are the node types for which the instance has functions and free call slots: executions that wait for one
    of them are due for it. At most `waiting` of the claimed executions may be such; without a number, all may be.
    Leases last until `lease_until`, and by the clock of the store for at least as long as that is after `now`.
    """

    instance: str
    now: int
    lease_until: int
    most: int = 1
    execution_id: str | None = None
    types: frozenset[str] = frozenset()
    waiting: int | None = None


class Claimed(StoreRecord, frozen=True, kw_only=True):
    """An execution that this instance now drives, with the commands that are not in its log yet."""

    head: Head
    commands: tuple[QueuedCommand, ...] = ()
    taken_over: bool = False


class Reserved(StoreRecord, frozen=True, kw_only=True):
    """An answer was taken: the point with the answer, and the position of the command that carries it.

    `owner` drove the execution before; if there was none, it may have been claimed with the answer.
    """

    execution_id: str
    point: Point
    n: int
    owner: str | None = None
    repeated: bool = False
    claimed: Claimed | None = None
    workflow: str = ""
    schema: object = None  # what an answer must fit

    @property
    def row(self) -> PointRow:
        """The point as it stands now, as readers have it."""
        return PointRow(
            execution_id=self.execution_id,
            workflow=self.workflow,
            point=self.point,
            schema=self.schema,
            status=self.point.status,
        )


class Claims(StoreRecord, frozen=True, kw_only=True):
    """The claimed executions, and the next moment at which something comes due; more may be due already."""

    claimed: tuple[Claimed, ...] = ()
    next_due: int | None = None


class LeaseRow(StoreRecord, frozen=True, kw_only=True):
    """An execution that an instance drives.

    A released one keeps its `takeovers`: the number of instances that it lost in a row, without progress since.
    """

    execution_id: str
    epoch: int
    takeovers: int = 0


class Outbox(StoreRecord, frozen=True, kw_only=True):
    """Messages that are due, in the order in which each sender wrote them, and the moment of the next one.

    `undispatched_since` is the moment of the oldest signal that was not dispatched to all its waiters.
    """

    due: tuple[Message, ...] = ()
    next_due: int | None = None
    undispatched_since: int | None = None


# Signals


class Signal(StoreRecord, frozen=True, kw_only=True):
    """A message from outside; the same id is the same signal."""

    id: str
    name: str
    key: str
    at: int
    data: bytes


class Wait(StoreRecord, frozen=True, kw_only=True):
    """A point that waits for signals of some name and key; or a paused workflow that goes on with one."""

    execution_id: str
    point: str
    workflow: str = ""


class Liveness(StoreRecord, frozen=True, kw_only=True):
    """Whether an instance is alive, as far as a store can tell, and when it was last seen, if that is known."""

    alive: bool
    seen_at: int | None = None
