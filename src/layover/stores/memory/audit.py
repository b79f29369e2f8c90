"""Audit entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

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

    async def write(self, entry: AuditRow) -> None:
        """Write the entry of an act that writes nothing else."""
        write_audit(await self._session.turn(), entry)

    async def list_entries(self, wanted: AuditFilter) -> list[AuditRow]:
        """List audit entries."""
        return list_audit(await self._session.turn(), wanted)

    async def read_document(self, hash_: bytes) -> bytes | None:
        """Read what a user saw."""
        return (await self._session.turn()).audit_documents.get(hash_)


def write_audit(db: MemoryDatabase, entry: AuditRow | None) -> None:
    """Write an audit entry, if there is one. An act of several parts has one entry, which is written once."""
    if entry is not None:
        db.audit.setdefault((entry.at, entry.id), replace(entry, document=None))
        if entry.document is not None:
            db.audit_documents.setdefault(entry.document_hash, entry.document)


def list_audit(db: MemoryDatabase, wanted: AuditFilter) -> list[AuditRow]:
    """List audit entries, newest first."""
    names = sorted((name for name in db.audit if wanted.after is None or name < wanted.after), reverse=True)
    found = [db.audit[name] for name in names if _is_wanted(db.audit[name], wanted)]
    return found[: at_most(wanted.limit)]


def _is_wanted(entry: AuditRow, wanted: AuditFilter) -> bool:
    if wanted.execution_id is not None and not entry.execution_id:
        return False
    if wanted.to_no_execution and (entry.execution_id or wanted.target is None):
        return False
    return (
        wanted.user in (None, entry.user)
        and wanted.act in (None, entry.act)
        and wanted.target in (None, entry.target)
        and wanted.execution_id in (None, entry.execution_id)
    )
