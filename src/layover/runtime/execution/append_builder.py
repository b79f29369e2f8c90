"""Builds the append of a step: its events, and everything derived from them that is written with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from msgspec.structs import replace

from layover.core.engine.codec import encode_events, encode_state
from layover.core.engine.effects import Close, MakeCall
from layover.core.engine.events import TAKING_UP
from layover.core.input_index import document_of
from layover.core.light_structs import LightStruct
from layover.core.trigger_limits import trigger_limit
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.records import Append, ClosedExecution, ResumeWaitChange, Token
from layover.runtime.execution.callback_tokens import hash_of, new_token
from layover.runtime.execution.deadline_entries import deadline_entries
from layover.runtime.execution.occasions import notices_of
from layover.runtime.execution.outbox_messages import SENT, free_message, messages_of
from layover.runtime.execution.point_changes import point_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.core.engine.events import AnyEvent
    from layover.core.engine.state import ExecutionState, ExecutionStatus
    from layover.ports.records import AuditRow, InputKey, Message, NewExecution, PointChange
    from layover.runtime.execution.command_cursor import CommandCursor
    from layover.runtime.execution.environment import Environment
    from layover.runtime.execution.held_lease import HeldLease
    from layover.runtime.execution.leg_buffer import LegBuffer
    from layover.runtime.execution.pending_append import PendingAppend


class First(NamedTuple):
    """What is written only with the first append of a leg."""

    new: NewExecution | None = None
    messages: tuple[Message, ...] = ()
    audit: AuditRow | None = None
    trigger_input: InputKey | None = None


NOTHING_FIRST: Final = First()  # for every append after the first one


class Derived(LightStruct, gc=False):
    """What is visible of a step from outside; `secrets` holds the callback tokens by node."""

    points: tuple[PointChange, ...]
    messages: tuple[Message, ...]
    tokens: tuple[Token, ...]
    secrets: dict[str, str]
    closed: ClosedExecution | None
    resume_count: int | None = None  # if it has changed
    version: str | None = None  # the hash of the version to which it has moved, if it has

    @property
    def is_seen(self) -> bool:
        """Whether the step is visible from outside."""
        return bool(self.points or self.messages or self.tokens or self.closed is not None or self.version)


_NOTHING: Final = Derived((), (), (), {}, None)


class VisibleBefore(NamedTuple):
    """What was visible from outside before a step: whether it was closed, what an operator awaits, and resumes."""

    closed: bool
    operator_wait: tuple[str, str] | None
    resume_count: int = 0
    version: str = ""

    @classmethod
    def of(cls, state: ExecutionState) -> VisibleBefore:
        """Return what is visible of a state."""
        wait = state.facts.resume_on
        facts = state.facts
        return cls(bool(facts.closed), None if wait is None else wait.awaited, facts.resume_count, facts.hash)

    def after(self, state: ExecutionState) -> VisibleBefore:
        """Return what is visible of a later state; mostly that is the same."""
        facts = state.facts
        same = facts.resume_on is None and self.operator_wait is None and bool(facts.closed) == self.closed
        same = same and facts.hash == self.version
        return self if same and facts.resume_count == self.resume_count else VisibleBefore.of(state)


def derived(
    state: ExecutionState,
    step: PendingAppend,
    was: VisibleBefore,
    *,
    priority: int,
    secret: Callable[[int], bytes],
    occasions: frozenset[str],
) -> Derived:
    """Derive rows and messages from the events of a step; `occasions` are the kinds that somebody is told of."""
    facts = state.facts
    points = point_changes(state, step.events)
    wait = facts.resume_on
    awaited = None if wait is None else wait.awaited
    if awaited != was.operator_wait:
        points = (*points, ResumeWaitChange(awaited=awaited, was=was.operator_wait))
    sends = closes = False
    called_back: dict[str, str] = {}
    for effect in step.effects:
        if type(effect) is MakeCall:  # not `isinstance`, which is slow to find that a struct is of another type
            if effect.point:
                called_back[effect.node] = effect.point
        elif type(effect) in SENT:
            sends = True
        elif type(effect) is Close:  # perhaps it was closed before, and reopened
            closes = True
    closes = closes or bool(facts.closed) != was.closed
    notices = notices_of(state, step.events, occasions, step.at) if occasions else ()
    resumes = facts.resume_count if facts.resume_count != was.resume_count else None
    version = facts.hash if was.version and facts.hash != was.version else None
    if not (sends or closes or called_back or notices):  # by far the most frequent
        is_seen = points or resumes is not None or version is not None
        return Derived(points, (), (), {}, None, resumes, version) if is_seen else _NOTHING
    messages = (*messages_of(state, step.effects, step.at, priority), *notices) if sends else notices
    closed: ClosedExecution | None = None
    if closes:  # of one that was reopened there is nothing to tell
        closed = ClosedExecution(outcome=facts.outcome, error_code=facts.error.code if facts.error is not None else "")
        if facts.closed and is_limited(state):
            messages = (*messages, free_message(facts.id, state.counts["seq"] - 1, step.at))
    if not called_back:
        return Derived(points, messages, (), {}, closed, resumes, version)
    secrets = {node: new_token(secret) for node in called_back}
    tokens = tuple(Token(hash=hash_of(secrets[node]), point=point) for node, point in called_back.items())
    return Derived(points, messages, tokens, secrets, closed, resumes, version)


def is_limited(state: ExecutionState) -> bool:
    """Return whether it started under limits: those of its workflow, or the queue of a schedule."""
    settings, facts = state.plan.definition.settings, state.facts
    if settings.concurrency is not None or settings.rate is not None:
        return True
    return trigger_limit(facts.user, facts.trigger) is not None


class LogPosition(Protocol):
    """Where the next append goes, and what is written with it."""

    first: First
    snapshot_seq: int

    @property
    def last_seq(self) -> int:
        """The number of the last event in the log."""

    @property
    def lease(self) -> HeldLease:
        """The lease under which it is written."""

    @property
    def cursor(self) -> CommandCursor:
        """How far the commands have been read."""

    @property
    def leg_buffer(self) -> LegBuffer:
        """The events before it that are not in the log yet."""


def append_of(
    position: LogPosition, state: ExecutionState, environment: Environment, step: PendingAppend, seen: Derived
) -> Append:
    """Return the append for a step, with the buffered entries before it."""
    leg_buffer, settings, first, lease = position.leg_buffer, environment.settings, position.first, position.lease
    last_seq, count, resting = position.last_seq, len(step.events) + leg_buffer.count, step.rest is not None
    status: ExecutionStatus = state.status if resting or state.facts.gate != "open" else "running"
    if step.rest is not None and step.rest.missing:
        status = "waiting"  # for an instance that has the functions
    grown = last_seq + count - position.snapshot_seq
    enough = settings.snapshot_at_rest if resting else settings.snapshot_every
    snapshot = _snapshot(position, state, grown, settings.snapshot_bytes) if grown >= enough else None
    record = lease.record
    if seen is _NOTHING and first is NOTHING_FIRST and not (resting or leg_buffer.count or snapshot or lease.takeovers):
        return Append(  # by far the most frequent, and each field that need not be told makes it cheaper
            execution_id=record.execution_id,
            owner=environment.instance,
            epoch=record.epoch,
            expected_seq=last_seq,
            commands_seen=position.cursor.seen,
            at=step.at,
            events=encode_events(step.events),
            count=count,
            status=status,
        )
    append = Append(
        execution_id=record.execution_id,
        owner=environment.instance,
        epoch=record.epoch,
        expected_seq=last_seq,
        commands_seen=position.cursor.seen,
        at=step.at,
        events=encode_events(step.events),
        count=count,
        status=status,
        new=first.new,
        lease_until=lease.until,
        rest=step.rest,
        points=seen.points,
        closed=seen.closed,
        resume_count=seen.resume_count,
        version=seen.version,
        input=document_of(state.facts.input) if first.new is not None else None,
    )
    messages = (*seen.messages, *first.messages) if first.messages else seen.messages
    decided = deadline_entries(state, step, environment.instance, environment.secret) if seen.points else ()
    if not (messages or seen.tokens or snapshot or leg_buffer.count or lease.takeovers or first.audit or decided):
        return append if first.trigger_input is None else replace(append, trigger_input=first.trigger_input)
    return replace(
        append,
        snapshot=snapshot,
        messages=messages,
        tokens=seen.tokens,
        earlier=leg_buffer.entries(last_seq + 1) if leg_buffer.count else (),
        audit=first.audit if step.events else None,  # what came to nothing was no act
        decided=decided,
        trigger_input=first.trigger_input,
        keeps_takeovers=lease.takeovers > 0 and not is_progress(step.events),
    )


def size_of(append: Append) -> int:
    """Return about how many bytes an append has."""
    size = len(append.events)
    if append.snapshot is not None:
        size += len(append.snapshot)
    if append.earlier:
        size += sum(len(entry.events) for entry in append.earlier)
    if append.messages:
        size += sum(len(message.body) for message in append.messages)
    return size


def is_progress(events: Sequence[AnyEvent]) -> bool:
    """Return whether events go beyond the recovery of a lost instance."""
    return any(type(event) not in TAKING_UP for event in events)


def _snapshot(position: LogPosition, state: ExecutionState, grown: int, most: int) -> bytes | None:
    """Return the state as bytes, if they are smaller than what the log has grown since the last snapshot."""
    if state.facts.closed or grown < len(state.nodes) + len(state.halted):
        return None
    reached(CommitPoint.SNAPSHOT_DECIDED)
    encoded = encode_state(state)
    if len(encoded) <= most:
        return encoded
    position.snapshot_seq = state.counts["seq"] - 1  # the next try is as far away as if there were one
    return None
