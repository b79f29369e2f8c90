"""Purging executions that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most, check_ids
from layover.stores.ids import key, text
from layover.stores.sqlite import search_terms
from layover.stores.sqlite.audit import write_audit
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from layover.ports.records import AuditRow
    from layover.stores.sqlite.session import SqliteSession

# The rows of an execution besides its head. Its tags and waits are found by its other rows, so they go first.
_BELONGINGS = (
    "purge_tags",
    "purge_execution",
    "purge_entries",
    "purge_snapshot",
    "purge_waits",
    "purge_points",
    "purge_commands",
    "purge_tokens",
    "purge_progress",
    "purge_node_logs",
    "purge_deliveries",
    "purge_links",
    "delete_places",
)


class SqliteRetention:
    """Deletes executions of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def list_purgeable(self, before: int, most: int, workflow: str | None = None) -> list[str]:
        """Return executions that may be purged."""
        return await self._session.read(lambda db: purgeable_executions(db, before, most, workflow))

    async def purge(
        self, execution_ids: Sequence[str], before: int | None = None, audit: AuditRow | None = None
    ) -> int:
        """Delete executions."""
        check_ids(execution_ids)
        return await self._session.write(lambda db: purge(db, execution_ids, before, audit))

    async def purge_weeks(self, before: int | None) -> int:  # noqa: ARG002 - there are none
        """Do nothing: there are no weekly partitions, since SQLite reuses the space of any deleted row."""
        return 0


def purgeable_executions(db: apsw.Connection, before: int, most: int, workflow: str | None) -> list[str]:
    """Return executions that closed before a moment and have nothing left to do, oldest first."""
    values = {"before": before, "most": at_most(most), "workflow": workflow}
    return [text(id_) for (id_,) in db.execute(SQL["purgeable_executions"], values)]


def purge(db: apsw.Connection, execution_ids: Sequence[str], before: int | None, audit: AuditRow | None = None) -> int:
    """Delete executions that have nothing left to do, with everything that belongs to them."""
    count = sum(_purge(db, key(execution_id), before) for execution_id in execution_ids)
    if count:
        write_audit(db, audit)
    return count


def _purge(db: apsw.Connection, id_: bytes, before: int | None) -> bool:
    db.execute(SQL["purge_head"], {"id": id_, "before": before})
    if db.changes() != 1:
        return False
    search_terms.forget(db, id_)
    for name in _BELONGINGS:
        db.execute(SQL[name], {"id": id_})
    return True
