"""Lease renewals, by the event loop or from another thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from layover.stores.ids import key
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from layover.ports.records import LeaseRow
    from layover.stores.sqlite.writer import Writer


def renew(db: apsw.Connection, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
    """Renew leases; return the executions that were lost."""
    lost: list[str] = []
    for lease in leases:
        values = {"id": key(lease.execution_id), "owner": instance, "epoch": lease.epoch, "until": until}
        db.execute(SQL["renew_leases"], values)
        if db.changes() != 1:
            lost.append(lease.execution_id)
    return lost


class SqliteRenewals:
    """Renews leases through the writer, which is a thread of its own: renewals share its transactions."""

    def __init__(self, writer: Writer, note: Callable[[int], None]) -> None:
        self._writer = writer
        self._note = note

    def renew(self, instance: str, leases: Sequence[LeaseRow], until: int, timeout: float) -> list[str]:
        """Renew leases; return the executions that were lost."""
        work = partial(renew, instance=instance, leases=leases, until=until)
        lost = self._writer.write_from_thread(work, timeout)
        self._note(until)
        return lost

    def close(self) -> None:
        """Do nothing: the writer belongs to the store."""
