"""Answers to pause points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.core.engine.commands import PointAct
    from layover.ports.records import AuditRow, Claim, Refusal, Reserved


class AnswerStore(Protocol):
    """Takes answers for executions that need not be driven."""

    async def reserve(
        self, answer: PointAct, source: str, now: int, claim: Claim | None = None, audit: AuditRow | None = None
    ) -> Reserved | Refusal:
        """Reserve a pause point for an answer and enqueue it, if the core accepts it; so for claims and questions.

        With a claim, the execution is claimed in the same transaction, if no instance drives it.
        """
