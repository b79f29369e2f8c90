"""Audit entries. Each is written in the transaction of its act."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.stores.checks import at_most
from layover.stores.rows import audit_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    import apsw

    from layover.ports.access import AuditFilter
    from layover.ports.records import AuditRow
    from layover.stores.sqlite.session import SqliteSession

_NEWEST = (2**63 - 1, "")


class SqliteAudit:
    """Audit entries of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def write(self, entry: AuditRow) -> None:
        """Write the entry of an act that writes nothing else."""
        await self._session.write(lambda db: write_audit(db, entry))

    async def list_entries(self, wanted: AuditFilter) -> list[AuditRow]:
        """List audit entries."""
        return await self._session.read(lambda db: list_audit(db, wanted))

    async def read_document(self, hash_: bytes) -> bytes | None:
        """Read what a user saw."""
        return await self._session.read(lambda db: find_document(db, hash_))


def write_audit(db: apsw.Connection, entry: AuditRow | None) -> None:
    """Write an audit entry, if there is one. An act of several parts has one entry, which is written once."""
    if entry is not None:
        *columns, document, _seal = astuple(entry)
        db.execute(SQL["write_audit_entries"], columns)
        if document is not None:
            db.execute(SQL["write_audit_documents"], (entry.document_hash, document))


def find_document(db: apsw.Connection, hash_: bytes) -> bytes | None:
    """Return a document by its hash."""
    found = db.execute(SQL["audit_document_by_hash"], {"hash": hash_}).fetchone()
    return None if found is None else found[0]


def list_audit(db: apsw.Connection, wanted: AuditFilter) -> list[AuditRow]:
    """List audit entries, newest first."""
    after_at, after_id = wanted.after or _NEWEST
    values: dict[str, apsw.SQLiteValue] = {
        "user": wanted.user,
        "act": wanted.act,
        "target": wanted.target,
        "execution_id": wanted.execution_id,
        "after_at": after_at,
        "after_id": after_id,
        "limit": at_most(wanted.limit),
    }
    if wanted.to_no_execution:
        statement = SQL["list_audit_entries_of_target"]
    elif wanted.execution_id is not None:
        statement = SQL["list_audit_entries_of_execution"]
    elif wanted.user is not None:
        statement = SQL["list_audit_entries_of_user"]
    else:
        statement = SQL["list_audit_entries"]
    return [audit_of(row) for row in db.execute(statement, values)]
