"""Faults of a file that the port does not show: damage, and rows without an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from layover.ports.view_records import Fault
from layover.stores.ids import text
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from layover.stores.sqlite.session import SqliteSession


class SqliteInspection:
    """Faults of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def list_faults(self) -> list[Fault]:
        """Return damage to the file, and rows without an execution."""
        return await self._session.read(faults)


def faults(db: apsw.Connection) -> list[Fault]:
    """Return the damage that SQLite finds; if there is none, rows that no statement of ours can have left."""
    damage = _damage(db)
    if damage:
        return [Fault(code="damaged", message=f"The file is damaged; SQLite says: {said}.") for said in damage]
    found: list[Fault] = []
    for table, id_ in db.execute(SQL["stray_rows"]):
        without = "executions" if table == "heads" else "heads"
        message = f"It has rows in `{table}`, and none in `{without}`."
        found.append(Fault(code="stray_rows", message=message, execution_id=_readable_id(id_)))
    for (id_,) in db.execute(SQL["executions_without_version"]):
        message = "The version of its workflow is gone."
        found.append(Fault(code="unknown_version", message=message, execution_id=_readable_id(id_)))
    return found


def _damage(db: apsw.Connection) -> list[str]:
    try:
        return [str(said) for (said,) in db.execute("PRAGMA integrity_check") if said != "ok"]
    except apsw.CorruptError as error:
        return [str(error)]


def _readable_id(id_: object) -> str:
    return text(id_) if isinstance(id_, bytes) else repr(id_)
