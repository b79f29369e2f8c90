"""Audit entries. Each is written in the transaction of its act, if that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import astuple

from layover.ports.records import AuditRow
from layover.stores.checks import at_most
from layover.stores.rows import audit_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import AuditFilter
    from layover.stores.postgres.database import StatementRunner
    from layover.stores.postgres.session import PostgresSession

_NEWEST = (2**63 - 1, "")


class PostgresAudit:
    """Audit entries of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def write(self, entry: AuditRow) -> None:
        """Write the entry of an act that writes nothing else."""
        await write_audit(self._session.db, entry)

    async def list_entries(self, wanted: AuditFilter) -> list[AuditRow]:
        """List audit entries, newest first, by the index that fits the filter best."""
        db = self._session.db
        usual = (*(wanted.after or _NEWEST), at_most(wanted.limit), wanted.act, wanted.target)
        if wanted.to_no_execution:
            rows = await db.fetch("list_audit_entries_of_target", *usual, wanted.user)
        elif wanted.execution_id is not None:
            rows = await db.fetch("list_audit_entries_of_execution", *usual, wanted.user, wanted.execution_id)
        elif wanted.user is not None:
            rows = await db.fetch("list_audit_entries_of_user", *usual, wanted.user)
        else:
            rows = await db.fetch("list_audit_entries", *usual)
        return [audit_of(row) for row in rows]

    async def read_document(self, hash_: bytes) -> bytes | None:
        """Read what a user saw."""
        body: bytes | None = await self._session.db.fetchval("audit_document_by_hash", hash_)
        return body


def audit_columns(entries: Sequence[AuditRow]) -> list[list[object]]:
    """Return entries column by column, in the order in which the statements take them."""
    if not entries:
        return [[] for _ in AuditRow.__struct_fields__[:-1]]
    return [list(column) for column in zip(*map(audit_values, entries), strict=True)]


def audit_values(entry: AuditRow) -> tuple[object, ...]:
    """Return the values of an entry that is written: no seal holds it yet."""
    return astuple(entry)[:-1]


async def write_audit(db: StatementRunner, entry: AuditRow | None) -> None:
    """Write an audit entry, if there is one. An act of several parts has one entry, which is written once."""
    if entry is not None:
        await db.fetch("write_audit_entries", *audit_columns([entry]))
