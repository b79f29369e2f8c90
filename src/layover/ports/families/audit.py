"""Audit entries: who did what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.access import AuditFilter
    from layover.ports.records import AuditRow


class AuditStore(Protocol):
    """Audit entries, each written in the transaction of its act.

    So there is no act without its entry and no entry without its act. A repetition is no act. Only an act that has no
    transaction, such as a test of a destination, has its entry written before it.
    """

    async def write(self, entry: AuditRow) -> None:
        """Write the entry of an act that writes nothing else; one that is there stays."""

    async def list_entries(self, wanted: AuditFilter) -> list[AuditRow]:
        """List audit entries, newest first."""

    async def read_document(self, hash_: bytes) -> bytes | None:
        """Return what a user saw when they acted, by its hash; None if there is none, or no longer."""
