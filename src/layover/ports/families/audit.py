"""Audit entries: who did what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.access import AuditFilter
    from layover.ports.records import AuditRow


class AuditStore(Protocol):
    """Audit entries, each written in the transaction of its act.

    So there is no act without its entry and no entry without its act. A repetition is no act.
    """

    async def list_entries(self, wanted: AuditFilter) -> list[AuditRow]:
        """List audit entries, newest first."""

    async def delete_old(self, before: int, most: int) -> int:
        """Delete audit entries from before a moment; return how many."""
