"""What operators ask about all executions of a file."""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING

from layover.ports.view_records import ActivityBucket
from layover.ports.vitals import Vitals
from layover.stores.checks import at_most
from layover.stores.ids import key
from layover.stores.sqlite.rows import head_of
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import apsw

    from layover.ports.records import Head
    from layover.stores.sqlite.session import SqliteSession

_EARLIEST = (-(2**63), b"")


class SqliteMonitoring:
    """Reads leases, timers and activity of a file."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session

    async def count_leases(self, until: int, most: int) -> dict[str, int]:
        """Count the executions that instances drive, by instance."""
        values = {"until": until, "most": at_most(most)}
        rows = await self._session.read(lambda db: db.execute(SQL["owners_of_leases"], values).fetchall())
        return dict(Counter(str(owner) for (owner,) in rows))

    async def list_timers(self, after: tuple[int, str] | None, limit: int) -> list[Head]:
        """List what is due at a moment, the earliest first."""
        after_at, after_id = (after[0], key(after[1])) if after is not None else _EARLIEST
        values = {"after_at": after_at, "after_id": after_id, "limit": at_most(limit)}
        return await self._session.read(lambda db: [head_of(row) for row in db.execute(SQL["list_timers"], values)])

    async def read_vitals(self) -> Vitals:
        """Return how carefully the file keeps what is written."""
        path = self._session.path
        return await self._session.read(lambda db: vitals_of(db, path))

    async def read_activity(self, starts: Sequence[int], width: int, most: int) -> list[ActivityBucket]:
        """Count what happened in stretches of time."""
        most = at_most(most)
        return await self._session.read(lambda db: [_bucket(db, start, width, most) for start in starts])


def vitals_of(db: apsw.Connection, path: Path) -> Vitals:
    """Return how carefully a file keeps what is written; how often it waits for the disk is up to each connection."""
    log = path.with_name(f"{path.name}-wal")
    return Vitals(
        journal_mode=str(db.pragma("journal_mode")),
        log_bytes=log.stat().st_size if log.is_file() else 0,
        free_bytes=shutil.disk_usage(path.resolve().parent).free,
    )


def _bucket(db: apsw.Connection, start: int, width: int, most: int) -> ActivityBucket:
    values = {"start": start, "stop": start + width, "most": most}
    ((started,),) = db.execute(SQL["count_started"], values)
    ((finished, failed, took),) = db.execute(SQL["count_finished"], values)
    ((asked, answered, waited, longest),) = db.execute(SQL["count_asked"], values)
    return ActivityBucket(
        start=start,
        started=started,
        finished=finished,
        failed=failed,
        took=took,
        asked=asked,
        answered=answered,
        waited=waited,
        longest_wait=longest,
    )
