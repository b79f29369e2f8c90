"""What the decisions of an approval come to, and what its node gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from layover.core.approval_rules import ApprovalRules, Decision, outcome
from layover.core.engine import events as ev

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext


def settle_approval(context: DecisionContext, point_id: str, at: int | None = None) -> None:
    """Answer an approval whose decisions have come to something, be it that it can no longer be approved.

    The last of them was made `at`, if not just now.
    """
    point = context.state.points[point_id]
    if point.kind != "approval":
        return
    came_to = outcome(point.rules or ApprovalRules(), point.decisions)
    if came_to == "open":
        return
    approved = came_to == "approved"
    by = point.decisions[-1].by if point.decisions else None
    output = decision_output(context.now if at is None else at, point.decisions, approved=approved, by=by)
    port = "approved" if approved else "rejected"
    context.emit(ev.PausePointAnswered(point=point.id, port=port, output=output, by=by, at=at))


def decision_output(at: int, decisions: tuple[Decision, ...], *, approved: bool, by: str | None) -> dict[str, object]:
    """Return the output of an approval, decided at some moment by people or by its deadline."""
    last = decisions[-1] if by is not None else None
    return {
        "approved": approved,
        "by": by,
        "at": at,
        "comment": last.comment if last else "",
        "data": last.data if last else None,
        "decisions": [msgspec.to_builtins(decision) for decision in decisions],
    }
