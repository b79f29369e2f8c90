"""Answers and deadlines of pause points.

An answer is recorded at once and applied when its turn comes: in a `sequential` workflow the work that one answer
releases drains before the next is applied; in a `concurrent` one it is applied at once. Behind a closed gate answers
are recorded and nothing is applied. Answer and deadline race only in the order in which they are decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.begin import complete
from layover.core.engine.failures import fail
from layover.core.engine.state import PEOPLE

if TYPE_CHECKING:
    from layover.core.engine.commands import Answer
    from layover.core.engine.state import Point
    from layover.core.engine.turn import Turn

_UNWIRED = {"rejected": "rejected", "expired": "pause_expired"}


def answer(turn: Turn, command: Answer) -> None:
    """Record an answer; one for a point that is not open changes nothing."""
    point = turn.state.points.get(command.point)
    if point is None or point.status != "open" or point.kind not in PEOPLE:
        return
    if point.kind == "approval":
        if command.approved is None:
            return
        output: object = _decision(turn, approved=command.approved, answer=command)
        port = "approved" if command.approved else "rejected"
    else:
        output, port = command.data, "done"
    turn.emit(ev.PausePointAnswered(point=point.id, port=port, output=output, by=command.by))


def next_answered(turn: Turn) -> Point | None:
    """Return the answer that may be applied now, if there is one."""
    answered = [point for point in turn.state.points.rows.values() if point.status == "answered"]
    if not answered:
        return None
    sequential = turn.state.plan.definition.settings.resume == "sequential"
    if sequential and turn.state.busy:
        return None
    return min(answered, key=lambda point: point.turn)


def apply(turn: Turn, point: Point) -> None:
    """Go on from a point that has been answered."""
    turn.emit(ev.PausePointApplied(point=point.id))
    _leave(turn, point.node, point.port, point.output)


def expire(turn: Turn, point: Point) -> None:
    """Decide what a passed deadline means."""
    turn.emit(ev.PausePointExpired(point=point.id))
    match point.on_deadline:
        case None | "continue" | "partial":
            complete(turn, point.node, None)
        case "approve" | "reject":
            approved = point.on_deadline == "approve"
            _leave(turn, point.node, "approved" if approved else "rejected", _decision(turn, approved=approved))
        case "expired":
            _leave(turn, point.node, "expired", None)
        case _:
            message = "The deadline passed without an answer."
            fail(turn, point.node, ev.Error(code="deadline_passed", message=message, retryable=False))


def _decision(turn: Turn, *, approved: bool, answer: Answer | None = None) -> dict[str, object]:
    """Return the output of an approval, decided by somebody or by its deadline."""
    decided = [] if answer is None else [{"by": answer.by, "approved": approved, "at": turn.now}]
    return {
        "approved": approved,
        "by": answer.by if answer else None,
        "at": turn.now,
        "comment": answer.comment if answer else "",
        "data": answer.data if answer else None,
        "decisions": decided,
    }


def _leave(turn: Turn, name: str, port: str, output: object) -> None:
    """Leave by a port; a rejection or an expiry that nobody wired fails what the node is in."""
    code = _UNWIRED.get(port)
    if code is not None and not turn.state.planned(name).targets(port):
        message = "The request was rejected." if port == "rejected" else "The time to answer has passed."
        fail(turn, name, ev.Error(code=code, message=message, retryable=False), caught=False)
        return
    complete(turn, name, output, port)
