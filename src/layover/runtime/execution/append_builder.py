"""Builds the append of a step: its events, and everything derived from them that is written with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.engine import events as ev
from layover.core.engine.codec import encode_events, encode_state
from layover.core.engine.effects import Call, Close
from layover.core.input_index import document_of
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.records import Append, Closed, Token
from layover.runtime.execution.callback_tokens import hash_of, new_token
from layover.runtime.execution.outbox_messages import SENT, free_message, messages_of
from layover.runtime.execution.point_changes import point_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.core.engine.events import AnyEvent
    from layover.core.engine.state import Execution, ExecutionStatus
    from layover.ports.records import Message, PointChange
    from layover.runtime.dispatch.driver import Driver
    from layover.runtime.execution.active_execution import ActiveExecution
    from layover.runtime.execution.pending_append import PendingAppend


class Derived(NamedTuple):
    """What is visible of a step from outside; `secrets` holds the callback tokens by node."""

    points: tuple[PointChange, ...]
    messages: tuple[Message, ...]
    tokens: tuple[Token, ...]
    secrets: dict[str, str]
    closed: Closed | None

    @property
    def is_seen(self) -> bool:
        """Whether the step is visible from outside."""
        return bool(self.points or self.messages or self.tokens or self.closed is not None)


# All that an execution can say about itself before a call has come to anything.
_TAKEN_UP: Final = (ev.LegStarted, ev.NodeInDoubt, ev.NodeScheduled, ev.NodeStarted)
_NOTHING: Final = Derived((), (), (), {}, None)


def derived(
    state: Execution, step: PendingAppend, *, was_closed: bool, priority: int, secret: Callable[[int], bytes]
) -> Derived:
    """Derive rows and messages from the events of a step."""
    facts = state.facts
    points = point_changes(state, step.events)
    sends = closes = False
    called_back: dict[str, str] = {}
    for effect in step.effects:
        if isinstance(effect, Call):
            if effect.point:
                called_back[effect.node] = effect.point
        elif type(effect) in SENT:
            sends = True
        elif isinstance(effect, Close):  # perhaps it was closed before, and reopened
            closes = True
    closes = closes or bool(facts.closed) != was_closed
    if not (sends or closes or called_back):  # by far the most frequent
        return Derived(points, (), (), {}, None) if points else _NOTHING
    messages = messages_of(state, step.effects, step.at, priority) if sends else ()
    closed: Closed | None = None
    if closes:  # of one that was reopened there is nothing to tell
        closed = Closed(outcome=facts.outcome, error_code=facts.error.code if facts.error is not None else "")
        if facts.closed and is_limited(state):
            messages = (*messages, free_message(facts.id, state.counts["seq"] - 1, step.at))
    secrets = {node: new_token(secret) for node in called_back}
    tokens = tuple(Token(hash=hash_of(secrets[node]), point=point) for node, point in called_back.items())
    return Derived(points, messages, tokens, secrets, closed)


def is_limited(state: Execution) -> bool:
    """Return whether the workflow has a concurrency limit or a rate."""
    settings = state.plan.definition.settings
    return settings.concurrency is not None or settings.rate is not None


def append_of(active: ActiveExecution, driver: Driver, step: PendingAppend, seen: Derived) -> Append:
    """Return the append for a step, with the buffered entries before it."""
    state, leg_buffer, settings = active.state, active.leg_buffer, driver.settings
    last_seq, count, resting = active.last_seq, len(step.events) + leg_buffer.count, step.rest is not None
    status: ExecutionStatus = state.status if resting or state.facts.gate != "open" else "running"
    if step.rest is not None and step.rest.missing:
        status = "waiting"  # for whoever has the functions
    grown = last_seq + count - active.snapshot_seq
    enough = settings.snapshot_at_rest if resting else settings.snapshot_every
    snapshot = _snapshot(active, grown, settings.snapshot_bytes) if grown >= enough else None
    is_first = active.first_message is not None or active.first_audit is not None or active.new is not None
    if seen is _NOTHING and not (resting or leg_buffer.count or is_first or snapshot or active.takeovers):
        return Append(  # by far the most frequent, and each field that need not be told makes it cheaper
            execution_id=active.id,
            owner=driver.instance,
            epoch=active.epoch,
            expected_seq=last_seq,
            commands_seen=active.command_cursor.seen,
            at=step.at,
            events=encode_events(step.events),
            count=count,
            status=status,
        )
    first = () if active.first_message is None else (active.first_message,)
    return Append(
        execution_id=active.id,
        owner=driver.instance,
        epoch=active.epoch,
        expected_seq=last_seq,
        commands_seen=active.command_cursor.seen,
        at=step.at,
        events=encode_events(step.events),
        count=count,
        status=status,
        new=active.new,
        lease_until=active.lease_until,
        rest=step.rest,
        points=seen.points,
        snapshot=snapshot,
        closed=seen.closed,
        messages=(*seen.messages, *first),
        tokens=seen.tokens,
        earlier=leg_buffer.entries(last_seq + 1) if leg_buffer.count else (),
        input=document_of(state.facts.input) if active.new is not None else None,
        audit=active.first_audit if step.events else None,  # what came to nothing was no act
        keeps_takeovers=active.takeovers > 0 and not is_progress(step.events),
    )


def is_progress(events: Sequence[AnyEvent]) -> bool:
    """Return whether events go beyond the recovery of a lost instance."""
    return any(not isinstance(event, _TAKEN_UP) for event in events)


def _snapshot(active: ActiveExecution, grown: int, most: int) -> bytes | None:
    """Return the state as bytes, if they are smaller than what the log has grown since the last snapshot."""
    state = active.state
    if state.facts.closed or grown < len(state.nodes) + len(state.halted):
        return None
    reached(CommitPoint.SNAPSHOT_DECIDED)
    encoded = encode_state(state)
    if len(encoded) <= most:
        return encoded
    active.snapshot_seq = state.counts["seq"] - 1  # the next try is as far away as if there were one
    return None
