"""The result of an approval's decisions, and the output of its node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules, RecordedDecision, outcome
from layover.core.engine import events as ev
from layover.core.engine.undo_windows import final_at

if TYPE_CHECKING:
    from layover.core.engine.decision_context import DecisionContext


def settle_approval(context: DecisionContext, point_id: str, at: int | None = None) -> None:
    """Answer an approval whose decisions settle it: it is approved, rejected, or can no longer be approved.

    `at` is when the last decision was made, if not now.
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
    until = final_at(point.decisions)
    context.emit(ev.PausePointAnswered(point=point.id, port=port, output=output, by=by, at=at, final_at=until))


def decision_output(
    at: int, decisions: tuple[RecordedDecision, ...], *, approved: bool, by: str | None
) -> dict[str, object]:
    """Return the output of an approval that people or its deadline decided at a moment."""
    last = decisions[-1] if by is not None else None
    return {
        "approved": approved,
        "by": by,
        "at": at,
        "comment": last.comment if last else "",
        "data": last.data if last else None,
        "decisions": [plain_decision(decision) for decision in decisions],
    }


def plain_decision(decision: RecordedDecision) -> object:
    """Return a decision as later nodes read it, without whether it could be taken back."""
    if decision.final_at is not None:
        decision = replace(decision, final_at=None, final=False)
    return msgspec.to_builtins(decision)
