"""The occasions in a step: each event that somebody wants to be told of becomes a message, written with it.

Of pause points, those that ask people count. One that was opened and closed in the same step was never visible, so
nobody is told of it; nor is anybody asked to answer what has its answer already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.engine import events as ev
from layover.core.engine.state import PEOPLE
from layover.core.notifications import NOTIFY, REQUESTS, Occasion
from layover.ports.records import Message
from layover.runtime.execution.outbox_messages import OWN_FOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import ExecutionState, Point

_REOPENED: Final = "pause.reopened"
_KINDS: Final[dict[type[ev.DomainEvent], str]] = {
    ev.PausePointOpened: "pause.opened",
    ev.PausePointReminded: "pause.reminded",
    ev.PausePointEscalated: "pause.escalated",
    ev.PausePointDelegated: "pause.delegated",
    ev.PausePointAsked: "pause.asked",
    ev.PausePointReplied: "pause.replied",
    ev.PausePointDecided: "pause.decided",
    ev.PausePointAnswered: "pause.answered",
    ev.PausePointFinal: "pause.answered",
    ev.PausePointTakenBack: "pause.taken_back",
    ev.PausePointExpired: "pause.expired",
    ev.PausePointCancelled: "pause.cancelled",
    ev.ExecutionPaused: "execution.paused",
    ev.ExecutionResumed: "execution.resumed",
    ev.ExecutionCompleted: "execution.completed",
    ev.ExecutionFailed: "execution.failed",
    ev.ExecutionCancelled: "execution.cancelled",
}


def notices_of(
    state: ExecutionState, events: Sequence[ev.AnyEvent], wanted: frozenset[str], now: int
) -> tuple[Message, ...]:
    """Return the messages about the wanted occasions among the last events that the state has applied."""
    if not any(map(_KINDS.__contains__, map(type, events))):
        return ()
    first = state.counts.rows["seq"] - len(events)
    points: _Points | None = None
    messages: list[Message] = []
    for seq, event in enumerate(events, first):
        kind = _kind_of(event)
        if kind not in wanted:
            continue
        point: str = getattr(event, "point", "")
        if point:
            points = points or _Points(state, events)
            if not points.is_told_of(point, kind):
                continue
        messages.append(_message(state, seq, kind, point, now))
    return tuple(messages)


def _kind_of(event: ev.AnyEvent) -> str:
    if isinstance(event, ev.PausePointOpened) and event.again:
        return _REOPENED
    if isinstance(event, ev.PausePointDecided) and event.decision.final_at is not None:
        return ""  # told of when it is final
    if isinstance(event, ev.PausePointAnswered) and event.final_at is not None:
        return ""
    if isinstance(event, ev.PausePointFinal) and event.by is not None:
        return "pause.decided"
    return _KINDS.get(type(event), "")


def _message(state: ExecutionState, seq: int, kind: str, point: str, now: int) -> Message:
    facts = state.facts
    occasion = Occasion(kind=kind, point=point, workflow=facts.workflow, hash=facts.hash)
    return Message(
        sender=facts.id,
        n=seq,
        destination=NOTIFY,
        kind=NOTIFY,
        body=msgspec.json.encode(occasion),
        due_at=now + OWN_FOR,
    )


class _Points:
    """The points of a step, also those that it ended."""

    def __init__(self, state: ExecutionState, events: Sequence[ev.AnyEvent]) -> None:
        self._now = state.points.rows
        self._before = state.undo_log.overwritten(self._now)
        self._opened = {event.point for event in events if isinstance(event, ev.PausePointOpened)}

    def is_told_of(self, id_: str, kind: str) -> bool:
        """Return whether an occasion of a point is one to tell of."""
        point: Point | None = self._now.get(id_)
        if kind in REQUESTS:
            return point is not None and point.status == "open" and point.kind in PEOPLE
        if point is None and id_ not in self._opened:
            point = self._before.get(id_)
        return point is not None and point.kind in PEOPLE
