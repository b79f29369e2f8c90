"""Audit entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most

if TYPE_CHECKING:
    from layover.ports.access import AuditFilter
    from layover.ports.records import AuditRow
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryAudit:
    """Audit entries in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def list_entries(self, wanted: AuditFilter) -> list[AuditRow]:
        """List audit entries."""
        return list_audit(await self._session.turn(), wanted)

    async def delete_old(self, before: int, most: int) -> int:
        """Delete old audit entries."""
        return delete_old_audit(await self._session.turn(), before, most)


def write_audit(db: MemoryDatabase, entry: AuditRow | None) -> None:
    """Write an audit entry, if there is one. An act of several parts has one entry, which is written once."""
    if entry is not None:
        db.audit.setdefault((entry.at, entry.id), entry)


def list_audit(db: MemoryDatabase, wanted: AuditFilter) -> list[AuditRow]:
    """List audit entries, newest first."""
    names = sorted((name for name in db.audit if wanted.after is None or name < wanted.after), reverse=True)
    found = [db.audit[name] for name in names if _is_wanted(db.audit[name], wanted)]
    return found[: at_most(wanted.limit)]


def _is_wanted(entry: AuditRow, wanted: AuditFilter) -> bool:
    if wanted.execution_id is not None and not entry.execution_id:
        return False
    return (
        wanted.user in (None, entry.user)
        and wanted.act in (None, entry.act)
        and wanted.target in (None, entry.target)
        and wanted.execution_id in (None, entry.execution_id)
    )


def delete_old_audit(db: MemoryDatabase, before: int, most: int) -> int:
    """Delete old audit entries, oldest first."""
    old = sorted(name for name in db.audit if name[0] < before)[: at_most(most)]
    for name in old:
        del db.audit[name]
    return len(old)
