"""Retention: deleting executions that are not needed any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow


class RetentionStore(Protocol):
    """Deletes executions with everything that belongs to them."""

    async def list_purgeable(self, before: int, most: int, workflow: str | None = None) -> list[str]:
        """Read executions that closed before a moment, if they and their parents have no messages left.

        The oldest come first.
        """

    async def purge(
        self, execution_ids: Sequence[str], before: int | None = None, audit: AuditRow | None = None
    ) -> int:
        """Delete executions; one that is open, or has messages left, is left alone. Return how many were deleted.

        With a moment, so is one that closed then or later: it may have been reopened since it was listed. The
        audit entry is written if any was deleted.
        """

    async def purge_weeks(self, before: int | None) -> int:
        """Delete whole weeks at once, if they are stored that way, and all their executions closed before a moment.

        Return how many executions that were. Without a moment, only empty weeks are deleted.
        """
