"""The tables of one execution, and the statements that change them.

Each function is one transaction: it holds the head, compares on what it finds there, and writes. That is all the
atomicity there is; everything between two of these calls can be interleaved with anybody else's.

Time is abstract. `wake_at` is one of: null, now, the point's deadline, the end of a running lease, the end of a lease
that has passed, or held: due for whoever can read the next command, and so late for others that they are left out here.
`claims` and `idle_claims` are no columns; they are what the checks remember.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from .rules import Rule
from .workflow import CLOSING, Events, Execution, fold

Name = Literal["one", "two"]
Kind = Literal["answer", "pause", "resume", "cancel"]
Fate = Literal["queued", "moved", "too_late"]
Wake = Literal["now", "deadline", "lease", "lapsed", "held"] | None

TAKEOVER_LIMIT = 2


class Head(NamedTuple):
    """The one hot row."""

    last_seq: int = 1
    last_epoch: int = 0
    epoch: int = 0
    owner: Name | None = None
    wake_at: Wake = "now"
    commands_seq: int = 0
    commands_done: int = 0
    takeovers: int = 0
    claims: int = 0  # for the checks: how many claims there were, whatever the epoch says
    idle_claims: int = 0  # for the checks: how many of them since there was progress


class Row(NamedTuple):
    """A row of `events`."""

    seq: int
    event: str


class Command(NamedTuple):
    """A row of `commands`."""

    n: int
    kind: Kind
    after_seq: int  # for the checks: where the log was when it was accepted
    fate: Fate = "queued"
    newer: bool = False  # only a newer release can read it


class Tables(NamedTuple):
    """All that is durable."""

    head: Head = Head()
    events: tuple[Row, ...] = (Row(1, "ExecutionCreated"),)
    commands: tuple[Command, ...] = ()
    point: Literal["none", "open", "answered", "closed"] = "none"

    def log(self) -> Events:
        """Return the events alone."""
        return tuple([row.event for row in self.events])

    def execution(self) -> Execution:
        """Return what the log implies; `status` and all else that is shown is written in the same commit."""
        return fold(self.log())

    def unread(self) -> tuple[Command, ...]:
        """Return what the owner has not moved into the log yet."""
        return tuple([command for command in self.commands if command.n > self.head.commands_done])


class Append(NamedTuple):
    """What a writer sends: five values to be compared, and what to write if they hold."""

    owner: Name
    epoch: int
    expected: int
    commands_seen: int
    events: Events
    settled: tuple[tuple[int, Fate], ...]
    rests: bool
    wake: Wake

    @property
    def lands_at(self) -> int:
        """Return the last number that it writes."""
        return self.expected + len(self.events)


Verdict = Literal["landed", "commands_moved", "fenced"]


def append(tables: Tables, wanted: Append, without: Rule | None) -> tuple[Verdict, Tables]:
    """Compare and append."""
    verdict = compare(tables.head, wanted, without)
    return verdict, _written(tables, wanted, without) if verdict == "landed" else tables


def compare(head: Head, wanted: Append, without: Rule | None) -> Verdict:
    """Hold a writer's five values against the locked head."""
    if wanted.owner != head.owner and without is not Rule.APPEND_NAMES_THE_OWNER:
        return "fenced"
    if wanted.epoch != head.epoch and without is not Rule.APPEND_NAMES_THE_EPOCH:
        return "fenced"
    if wanted.expected != head.last_seq and without is not Rule.APPEND_NAMES_LAST_SEQ:
        return "fenced"
    if wanted.commands_seen != head.commands_seq and without is not Rule.APPEND_NAMES_COMMANDS_SEQ:
        return "commands_moved"
    return "landed"


def append_twice(tables: Tables, first: Append, second: Append, without: Rule | None) -> tuple[Verdict, Tables]:
    """Do what one statement does with two appends to one head: both are compared with the row as it was before."""
    verdict = compare(tables.head, first, without)
    if verdict != "landed":
        return verdict, tables
    return verdict, _written(_written(tables, first, without), second, without)


def _written(tables: Tables, wanted: Append, without: Rule | None) -> Tables:
    rows = tuple([Row(wanted.expected + i, event) for i, event in enumerate(wanted.events, 1)])
    fates = dict(wanted.settled)
    commands = tuple([command._replace(fate=fates.get(command.n, command.fate)) for command in tables.commands])
    kept = [command.n for command in commands if command.n <= wanted.commands_seen and command.fate == "queued"]
    closes = not CLOSING.isdisjoint(wanted.events)
    progress = any(not event.startswith(("NodeStarted", "NodeInDoubt")) for event in wanted.events)
    head = tables.head._replace(
        last_seq=wanted.lands_at,
        last_epoch=wanted.epoch,
        commands_done=kept[0] - 1 if kept else wanted.commands_seen,
        takeovers=0 if progress or without is Rule.ONLY_PROGRESS_RESETS_TAKEOVERS else tables.head.takeovers,
        idle_claims=0 if progress else tables.head.idle_claims,
    )
    if wanted.rests:
        leaves_wake = closes and without is Rule.CLOSING_CLEARS_WAKE
        head = head._replace(owner=None, wake_at=head.wake_at if leaves_wake else wanted.wake)
    point = tables.point
    if closes or "PausePointExpired" in wanted.events or "PausePointApplied" in wanted.events:
        point = "closed"
    elif "PausePointOpened" in wanted.events:
        point = "open"
    return Tables(head, tables.events + rows, commands, point)


def enqueue(tables: Tables, kind: Kind, without: Rule | None, *, newer: bool = False) -> Tables | None:
    """Accept a command, or refuse it (None)."""
    if tables.execution().closed and without is not Rule.CLOSED_REFUSES_COMMANDS:
        return None
    head = tables.head._replace(commands_seq=tables.head.commands_seq + 1)
    if head.owner is None and without is not Rule.ENQUEUE_WAKES:
        head = head._replace(wake_at="now")
    command = Command(head.commands_seq, kind, after_seq=head.last_seq, newer=newer)
    return tables._replace(head=head, commands=(*tables.commands, command))


def answer(tables: Tables, without: Rule | None, *, looked: bool = False) -> Tables | None:
    """Reserve the point for an answer and enqueue it; `looked` trusts an earlier look instead of the locked row."""
    if tables.point != "open" and not looked:
        return None
    accepted = enqueue(tables, "answer", without)
    return accepted and accepted._replace(point="answered")


def claim(tables: Tables, name: Name, without: Rule | None) -> Tables:
    """Take a due head under a new epoch."""
    head = tables.head
    return tables._replace(
        head=head._replace(
            owner=name,
            epoch=head.epoch + (without is not Rule.CLAIM_RAISES_EPOCH),
            wake_at="lease",
            takeovers=head.takeovers + (head.owner is not None),
            claims=head.claims + 1,
            idle_claims=head.idle_claims + 1,
        )
    )


def hold_back(tables: Tables, name: Name, epoch: int, without: Rule | None) -> Tables:
    """Give back what cannot be read; who has lost it meanwhile changes nothing."""
    head = tables.head
    if (head.owner, head.epoch) != (name, epoch):
        return tables
    if without is Rule.HELD_BACK_IS_NOT_DUE:
        return tables._replace(head=head._replace(owner=None, wake_at="now"))
    # It was no spinning: it is not claimed for the same reason again.
    return tables._replace(head=head._replace(owner=None, wake_at="held", idle_claims=head.idle_claims - 1))


def pause_as_incident(tables: Tables, name: Name, without: Rule | None) -> Tables:
    """Take a head that keeps killing its owners, and lay it aside without loading it."""
    mine = claim(tables, name, without)
    calling = tables.execution().calling
    events = (*([f"NodeInDoubt {calling}"] if calling else []), "ExecutionPaused as incident")
    wake: Wake = "now" if mine.unread() else None  # a command accepted before must still be moved
    head = mine.head
    wanted = Append(name, head.epoch, head.last_seq, head.commands_done, events, (), rests=True, wake=wake)
    return _written(mine, wanted, without)


def renew(tables: Tables, name: Name, epoch: int) -> Tables | None:
    """Prolong the lease of one claim; None if it is lost."""
    head = tables.head
    if (head.owner, head.epoch) != (name, epoch):
        return None
    return tables._replace(head=head._replace(wake_at="lease"))
