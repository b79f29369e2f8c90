"""Who takes part, and what each of them remembers besides the tables."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from .tables import Append, Name, Tables

if TYPE_CHECKING:
    from .rules import Invariant
    from .workflow import Decision, Events, Node

Slot = Literal["driver", "stray"]
NAMES: tuple[Name, Name] = ("one", "two")


class Did(StrEnum):
    """The kinds of steps; a search that has not seen all of them has not seen the protocol."""

    CLAIMED = "claimed"
    CLAIM_REPLY_LOST = "claim reply lost"
    LAID_ASIDE = "laid aside as incident"
    DECIDED = "decided"
    DECIDED_AFTER_GRACE = "decided after the grace period"
    LANDED = "landed"
    REPLY_LOST = "landed, reply lost"
    DELAYED = "delayed on the way"
    DELAYED_LANDED = "delayed append landed"
    DELAYED_REFUSED = "delayed append refused"
    REFUSED_COMMANDS_MOVED = "refused, commands moved"
    REFUSED_FENCED = "refused, fenced"
    READ_LANDED = "read the head: landed"
    READ_NOT_LANDED = "read the head: not landed"
    READ_FENCED = "read the head: fenced"
    CALLED = "called"
    CALL_ABANDONED = "call abandoned, own lease over"
    CALL_COMPLETED = "call completed"
    CALL_FAILED = "call failed"
    RENEWED = "renewed"
    RENEWAL_LOST = "renewal found it lost"
    LEASE_ENDED = "lease ended"
    DEADLINE_PASSED = "deadline passed"
    CRASHED = "crashed"
    RESTARTED = "restarted"
    STOPPED = "stopped"
    WOKE = "woke"
    LOOKED = "looked at the point"
    ANSWERED = "answered"
    ANSWER_REFUSED = "answer refused"
    COMMANDED = "commanded"
    COMMAND_REFUSED = "command refused"
    HELD_BACK = "held back, a command is not readable here"


class Call(NamedTuple):
    """A call of a node: due once its event is durable, out while it runs."""

    node: Node
    stage: Literal["due", "out", "completed", "failed"]


class Driver(NamedTuple):
    """What an instance knows of the execution that it drives under one claim."""

    claim: int
    epoch: int
    log: Events
    seq: int
    commands_seen: int = 0
    call: Call | None = None
    decision: Decision | None = None
    unknown: bool = False  # the decision was sent and no reply came
    lease_over: bool = False  # by the instance's own clock, started before the claim was sent

    def as_append(self, name: Name, decision: Decision) -> Append:
        """Return what is sent to the database for a decision."""
        return Append(
            owner=name,
            epoch=self.epoch,
            expected=self.seq,
            commands_seen=self.commands_seen,
            events=decision.events,
            settled=decision.settled,
            rests=decision.rests,
            wake=decision.wake,
        )


class Instance(NamedTuple):
    """A process. A stray is a driver that lost or gave up its claim while its call was still out."""

    up: bool = True
    stopped: bool = False
    driver: Driver | None = None
    stray: Driver | None = None

    @property
    def runs(self) -> bool:
        """Say whether it can do anything now."""
        return self.up and not self.stopped


class Budget(NamedTuple):
    """How often each choice or mishap may still happen; what keeps the model finite."""

    answers: int = 0
    pauses: int = 0
    resumes: int = 0
    cancels: int = 0
    newer_cancels: int = 0  # such as only instance two can read
    crashes: int = 0
    stops: int = 0
    lost_replies: int = 0
    lost_claims: int = 0
    delays: int = 0
    failures: int = 0
    graces: int = 0


class State(NamedTuple):
    """Everything, at one moment."""

    tables: Tables
    one: Instance
    two: Instance
    budget: Budget
    deadline_passed: bool = False
    mixed: bool = False  # instance one is of an older release than instance two
    looked: bool = False  # a person has seen the point open
    delayed: Append | None = None  # a statement still on its way to the database
    breach: Invariant | None = None  # a promise broken by the last step itself

    def instance(self, name: Name) -> Instance:
        """Return one of the two."""
        return self.one if name == "one" else self.two

    def with_instance(self, name: Name, instance: Instance) -> State:
        """Return the state with one of the two changed."""
        return self._replace(one=instance) if name == "one" else self._replace(two=instance)

    def with_driver(self, name: Name, slot: Slot, driver: Driver | None) -> State:
        """Return the state with what an instance drives changed."""
        instance = self.instance(name)
        changed = instance._replace(driver=driver) if slot == "driver" else instance._replace(stray=driver)
        return self.with_instance(name, changed)
