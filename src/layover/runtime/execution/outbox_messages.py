"""Messages between executions, as rows of an outbox: each is written in the same append as the events that cause it.

A message is identified by its sender, the number of the event that causes it, and its destination. Most carry a command
for another execution and have its kind; the others have kinds of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from layover.core.engine import commands as cmd
from layover.core.engine.command_codec import encode_command
from layover.core.engine.effects import Scan, SendLetter, StartChild, TellChild, TellParent
from layover.core.notifications import NOTIFY, SEND, Occasion
from layover.core.requesters import requester_of
from layover.ports.records import Message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine.effects import Effect
    from layover.core.engine.state import ExecutionState
    from layover.ports.limit_records import AdmissionRequest

START: Final = "start"
SCAN: Final = "scan"
ADMIT: Final = "admit"
FREE: Final = "free"
HELD: Final = "held"
REPORT: Final = cmd.Report.__name__

# The effects that are messages to other executions, or to an instance that scans for signals or sends something.
SENT: Final = frozenset({StartChild, TellChild, TellParent, Scan, SendLetter})

# For so long a message or a signal is left to the instance that wrote it, which delivers it at once unless it dies; and
# an execution that has limits to the instance that begins it. After that, any instance does it.
OWN_FOR: Final = 1_000


class ChildStart(msgspec.Struct, frozen=True, kw_only=True):
    """Start a child; with a `point`, the parent waits for it there."""

    workflow: str
    version: int | None = None
    input: object = None
    point: str = ""
    user: str | None = None
    priority: int = 0
    depth: int = 1
    traceparent: str = ""  # the span of the leg that starts it


class Scanning(msgspec.Struct, frozen=True, kw_only=True):
    """Find the signals for a point that arrived since a moment."""

    point: str
    signals: tuple[tuple[str, str], ...]
    since: int
    taken: tuple[str, ...] = ()


def messages_of(state: ExecutionState, effects: Iterable[Effect], now: int, priority: int) -> tuple[Message, ...]:
    """Return the messages that effects send to other executions; children inherit the priority."""
    sender = state.facts.id
    return tuple(
        Message(sender=sender, n=effect.seq, destination=to, kind=kind, body=body, due_at=now + OWN_FOR)
        for effect in effects
        if isinstance(effect, StartChild | TellChild | TellParent | Scan | SendLetter)
        for to, kind, body in (_address_and_body(state, effect, priority),)
    )


def admit_message(request: AdmissionRequest, n: int, due_at: int) -> Message:
    """Return the message by which an execution asks its limits for admission."""
    id_ = request.execution_id
    return Message(sender=id_, n=n, destination=id_, kind=ADMIT, body=msgspec.json.encode(request), due_at=due_at)


def held_message(execution_id: str, workflow: str, n: int, now: int) -> Message:
    """Return the message by which an execution that begins held has it looked at whether its workflow has gone on."""
    due_at = now + OWN_FOR
    return Message(sender=execution_id, n=n, destination=execution_id, kind=HELD, body=workflow.encode(), due_at=due_at)


def free_message(execution_id: str, n: int, now: int) -> Message:
    """Return the message by which a closed execution gives back its limit slots."""
    due_at = now + OWN_FOR
    return Message(sender=execution_id, n=n, destination=execution_id, kind=FREE, body=b"", due_at=due_at)


def _address_and_body(
    state: ExecutionState, effect: StartChild | TellChild | TellParent | Scan | SendLetter, priority: int
) -> tuple[str, str, bytes]:
    """Return the destination, the kind and the body of a message."""
    match effect:
        case StartChild():
            start = ChildStart(
                workflow=effect.workflow,
                version=effect.version,
                input=effect.input,
                point=effect.point,
                user=requester_of(state.facts.user, state.facts.trigger),
                priority=priority,
                depth=state.facts.depth + 1,
                traceparent=state.facts.traceparent,
            )
            return effect.child, START, msgspec.json.encode(start)
        case TellChild():
            return effect.child, *encode_command(_from_leg(state, _to_child(effect)))
        case TellParent():
            return effect.parent, *encode_command(_from_leg(state, _to_parent(effect)))
        case Scan():
            scanning = Scanning(point=effect.point, signals=effect.signals, since=effect.since, taken=effect.taken)
            return state.facts.id, SCAN, msgspec.json.encode(scanning)
        case SendLetter():
            facts = state.facts
            occasion = Occasion(
                kind=SEND, point=effect.point, workflow=facts.workflow, hash=facts.hash, send=effect.sent
            )
            return NOTIFY, NOTIFY, msgspec.json.encode(occasion)


def _from_leg(state: ExecutionState, command: cmd.Command) -> cmd.Command:
    """Return a command as the leg sends it that is under way."""
    span = state.facts.traceparent
    return replace(command, traceparent=span) if span else command


def _to_child(effect: TellChild) -> cmd.Pause | cmd.Resume | cmd.Cancel:
    match effect.what:
        case "pause":
            return cmd.Pause(reason=effect.reason, order=effect.order)
        case "resume":
            return cmd.Resume(reason=effect.reason)
        case "cancel":
            return cmd.Cancel(reason=effect.reason)


def _to_parent(effect: TellParent) -> cmd.Report | cmd.ChildPaused | cmd.ChildResumed:
    match effect.what:
        case "paused":
            return cmd.ChildPaused(point=effect.point, order=effect.order)
        case "resumed":
            return cmd.ChildResumed(point=effect.point)
        case "closed":
            return cmd.Report(point=effect.point, output=effect.output, error=effect.error)
