"""Lease renewals from another thread than that of the event loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from layover.stores.sqlite import claims

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.ports.records import Lease
    from layover.stores.sqlite.writer import Writer


class SqliteRenewals:
    """Renews leases through the writer, which is a thread of its own: renewals share its transactions."""

    def __init__(self, writer: Writer, note: Callable[[int], None]) -> None:
        self._writer = writer
        self._note = note

    def renew(self, instance: str, leases: Sequence[Lease], until: int, timeout: float) -> list[str]:
        """Renew leases; return the executions that were lost."""
        work = partial(claims.renew, instance=instance, leases=leases, until=until)
        lost = self._writer.write_from_thread(work, timeout)
        self._note(until)
        return lost

    def close(self) -> None:
        """Do nothing: the writer belongs to the store."""
