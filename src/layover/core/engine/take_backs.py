"""Taking an answer back while its undo window is open, and making it final when the window ends.

The order of the commands settles every race. Like an answer, a take-back is judged on the stored point first, in the
transaction that enqueues it: whoever comes to the point afterwards finds it as it will be. So the next person in a
sequence is not told that it is their turn by a decision that is being taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.engine import events as ev
from layover.core.engine.answers import Refused, settled
from layover.core.engine.approvals import settle_approval
from layover.core.engine.undo_windows import waiting, without_answer

if TYPE_CHECKING:
    from layover.core.engine import commands as cmd
    from layover.core.engine.decision_context import DecisionContext
    from layover.core.engine.state import Point


def take_back(context: DecisionContext, command: cmd.TakeBack) -> None:
    """Take an answer back; the decisions of others at the same point stand."""
    point = context.state.points.get(command.point)
    at = context.now if command.at is None else command.at
    if point is None or take_back_refusal(point, command.by, at) is not None:
        return
    context.emit(ev.PausePointTakenBack(point=point.id, by=command.by, reason=command.reason))
    settle_approval(context, point.id)  # the decisions that are left may suffice


def take_back_refusal(point: Point, by: str, at: int) -> Refused | None:
    """Return why a person cannot take back what they said at a point, or None if they can."""
    if point.kind not in ("approval", "form"):
        return Refused("not_answerable", f"A pause point of kind `{point.kind}` does not take answers from people.")
    until: int | None
    if point.kind == "form":
        is_theirs = point.status == "answered" and point.by == by
        until, final = point.final_at, point.final
    else:
        decision = next((one for one in point.decisions if one.by == by), None)
        is_theirs = decision is not None
        until, final = (decision.final_at, decision.final) if decision is not None else (None, False)
    if not is_theirs:
        return Refused("not_allowed", f"{by or 'This user'} has not answered here: only who did can take that back.")
    if until is None or final or at >= until:
        return Refused("already_applied", "It is final, and cannot be taken back any more.")
    return None


def reserve_take_back(point: Point, command: cmd.TakeBack, now: int) -> Refused | Point:
    """Return a point with an answer taken back, or why it cannot be."""
    refused = take_back_refusal(point, command.by, now if command.at is None else command.at)
    if refused is not None:
        return refused
    return settled(without_answer(point, command.by), now)


def make_final(context: DecisionContext, point: Point) -> None:
    """Make the decisions whose windows have ended final, and the answer once all of its decisions are."""
    for decision in waiting(point.decisions):
        if decision.final_at is not None and decision.final_at <= context.now:
            context.emit(ev.PausePointFinal(point=point.id, by=decision.by))
    point = context.state.points[point.id]
    if point.is_revocable and not waiting(point.decisions):
        context.emit(ev.PausePointFinal(point=point.id))
