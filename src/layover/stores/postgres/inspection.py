"""Faults of a database that the port does not show: rows without an execution.

Damage is not looked for: that is for the tools of the server (`pg_amcheck`, checksums).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.view_records import Fault

if TYPE_CHECKING:
    from layover.stores.postgres.database import Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresInspection:
    """Faults of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def list_faults(self) -> list[Fault]:
        """Return rows that no statement of ours can have left."""

        async def look(tx: Transaction) -> list[Fault]:
            await tx.fetch("allow_sequential_scans")
            found: list[Fault] = []
            for table, id_ in await tx.fetch("stray_rows"):
                without = "executions" if table == "heads" else "heads"
                message = f"It has rows in `{table}`, and none in `{without}`."
                found.append(Fault(code="stray_rows", message=message, execution_id=id_))
            for (id_,) in await tx.fetch("executions_without_version"):
                message = "The version of its workflow is gone."
                found.append(Fault(code="unknown_version", message=message, execution_id=id_))
            return found

        return await self._session.db.transact(look)
