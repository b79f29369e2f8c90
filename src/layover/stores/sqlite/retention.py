"""Purging executions that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.stores.checks import at_most
from layover.stores.ids import key, text
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

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
    "delete_places",
)


def purgeable_executions(db: apsw.Connection, before: int, most: int, workflow: str | None) -> list[str]:
    """Return executions that closed before a moment and have nothing left to do, oldest first."""
    values = {"before": before, "most": at_most(most), "workflow": workflow}
    return [text(id_) for (id_,) in db.execute(SQL["purgeable_executions"], values)]


def purge(db: apsw.Connection, execution_ids: Sequence[str], before: int | None) -> int:
    """Delete executions that have nothing left to do, with everything that belongs to them."""
    return sum(_purge(db, key(execution_id), before) for execution_id in execution_ids)


def _purge(db: apsw.Connection, id_: bytes, before: int | None) -> bool:
    db.execute(SQL["purge_head"], {"id": id_, "before": before})
    if db.changes() != 1:
        return False
    for name in _BELONGINGS:
        db.execute(SQL[name], {"id": id_})
    return True
