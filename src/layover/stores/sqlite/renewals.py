"""Renewing leases from another thread than that of the event loop."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from layover.stores.sqlite import claiming

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Lease
    from layover.stores.sqlite.writer import Writer


class SqliteRenewals:
    """Has the writer renew: it is a thread of its own, and renewals share its transactions."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def renew(self, instance: str, leases: Sequence[Lease], until: int, timeout: float) -> list[str]:
        """Keep what is driven; return what was lost."""
        work = partial(claiming.renew, instance=instance, leases=leases, until=until)
        return self._writer.write_from_thread(work, timeout)

    def close(self) -> None:
        """Leave the writer to its store."""
