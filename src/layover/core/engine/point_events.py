"""The events of pause points: opened, decided, answered, applied, ended."""

from __future__ import annotations

from layover.core.approval_rules import ApprovalRules, RecordedDecision
from layover.core.engine.event_base import DomainEvent, Error, PointKind


class PausePointOpened(DomainEvent, frozen=True, kw_only=True, tag="point_opened"):
    """A node waits for something outside; with a `key`, a running function asked and rests meanwhile.

    A callback point needs a heartbeat by `beat_by`. A `doubt` asks whether a lost call had its effect. A node that had
    asked before, and was rewound or reopened, asks `again`. Answers can be taken back for `undo` milliseconds.
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
    again: bool = False
    undo: int | None = None


class PausePointDecided(DomainEvent, frozen=True, kw_only=True, tag="point_decided"):
    """One of the approvers has decided; the variables are set when the answer is applied."""

    point: str
    decision: RecordedDecision
    variables: dict[str, object] = {}


class PausePointReceived(DomainEvent, frozen=True, kw_only=True, tag="point_received"):
    """One of the awaited signals has come."""

    point: str
    alias: str
    signal: dict[str, object]


class PausePointSignalled(DomainEvent, frozen=True, kw_only=True, tag="point_signalled"):
    """A signal has come for a point that looks back: the mailbox is read from `since` on, so the oldest is taken."""

    point: str
    signal: str
    since: int


class PausePointReminded(DomainEvent, frozen=True, kw_only=True, tag="point_reminded"):
    """A reminder to the people who are asked was due."""

    point: str
    number: int


class PausePointEscalated(DomainEvent, frozen=True, kw_only=True, tag="point_escalated"):
    """More people are asked."""

    point: str
    users: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


class PausePointDelegated(DomainEvent, frozen=True, kw_only=True, tag="point_delegated"):
    """An approver let another person act in their place; in an `absence`, the directory names that person."""

    point: str
    giver: str
    taker: str
    absence: bool = False


class PausePointClaimed(DomainEvent, frozen=True, kw_only=True, tag="point_claimed"):
    """A person is at the point until a moment; others can neither answer nor claim it meanwhile."""

    point: str
    by: str
    until: int


class PausePointClaimEnded(DomainEvent, frozen=True, kw_only=True, tag="point_claim_ended"):
    """The claim of a point was given back. An answer and an escalation end it as well, without this event."""

    point: str
    by: str


class PausePointAsked(DomainEvent, frozen=True, kw_only=True, tag="point_asked"):
    """A person who is asked has asked back; asked `at`, if not now."""

    point: str
    by: str
    to: str
    question: str
    at: int | None = None


class PausePointReplied(DomainEvent, frozen=True, kw_only=True, tag="point_replied"):
    """The question with a number, counted from 1, has its reply; given `at`, if not now."""

    point: str
    number: int
    by: str
    reply: str
    at: int | None = None


class PausePointBeat(DomainEvent, frozen=True, kw_only=True, tag="point_beat"):
    """A heartbeat came; the next one is due by `beat_by`."""

    point: str
    beat_by: int


class PausePointHeld(DomainEvent, frozen=True, kw_only=True, tag="point_held"):
    """The child of this point is paused."""

    point: str


class PausePointReleased(DomainEvent, frozen=True, kw_only=True, tag="point_released"):
    """The child of this point was paused and goes on."""

    point: str


class PausePointAnswered(DomainEvent, frozen=True, kw_only=True, tag="point_answered"):
    """The point has its answer: the port by which the node will leave, and the output; given `at`, if not now.

    The variables are set when the answer is applied. `seen` is the hash of the view that the person had seen; of an
    approval, each decision has its own. The answer can be taken back until `final_at`, and is applied after that.
    """

    point: str
    port: str = "done"
    output: object = None
    error: Error | None = None
    by: str | None = None
    at: int | None = None
    variables: dict[str, object] = {}
    seen: str | None = None
    final_at: int | None = None


class PausePointTakenBack(DomainEvent, frozen=True, kw_only=True, tag="point_taken_back"):
    """A person took back what they had said: their decision is gone, and with it the answer of the point."""

    point: str
    by: str
    reason: str = ""


class PausePointFinal(DomainEvent, frozen=True, kw_only=True, tag="point_final"):
    """The decision of one person is final; without `by`, the answer is, and waits for its turn from now on."""

    point: str
    by: str | None = None


class PausePointApplied(DomainEvent, frozen=True, kw_only=True, tag="point_applied"):
    """The answer was applied and the node goes on. If `call` is set, the call of that node is out and has to stop."""

    point: str
    call: str = ""


class PausePointExpired(DomainEvent, frozen=True, kw_only=True, tag="point_expired"):
    """The deadline passed first; for a timer, that is its normal end. `child` is running and has to be told.

    If `call` is set, the call of that node is out and has to stop.
    """

    point: str
    child: str = ""
    call: str = ""


class PausePointCancelled(DomainEvent, frozen=True, kw_only=True, tag="point_cancelled"):
    """The point waits no longer. `child` is running and has to be told.

    If `call` is set, the call of that node is out and has to stop.
    """

    point: str
    reason: str = ""
    child: str = ""
    call: str = ""
    by: str | None = None
