"""What operators ask about all executions of a schema."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from layover.ports.view_records import ActivityBucket
from layover.stores.checks import at_most, check_ids
from layover.stores.postgres import admin
from layover.stores.postgres.rows import head_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Head
    from layover.ports.vitals import Vitals
    from layover.stores.postgres.database import Transaction
    from layover.stores.postgres.session import PostgresSession

_EARLIEST = (-(2**63), "00000000-0000-0000-0000-000000000000")


class PostgresMonitoring:
    """Reads leases, timers and activity of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def count_leases(self, until: int, most: int) -> dict[str, int]:
        """Count the executions that instances drive, by instance."""
        rows = await self._session.db.fetch("owners_of_leases", until, at_most(most))
        return dict(Counter(owner for (owner,) in rows))

    async def list_timers(self, after: tuple[int, str] | None, limit: int) -> list[Head]:
        """List what is due at a moment, the earliest first."""
        after = after if after is not None else _EARLIEST
        check_ids([after[1]])
        return [head_of(row) for row in await self._session.db.fetch("list_timers", at_most(limit), *after)]

    async def read_vitals(self) -> Vitals:
        """Return how carefully the server keeps what is written, as it is set for our connections."""
        return await admin.vitals(self._session.db)

    async def read_activity(self, starts: Sequence[int], width: int, most: int) -> list[ActivityBucket]:
        """Count what happened in stretches of time."""
        values = list(starts), width, at_most(most)

        async def read(tx: Transaction) -> list[ActivityBucket]:
            started = await tx.fetch("count_started", *values)
            finished = await tx.fetch("count_finished", *values)
            asked = await tx.fetch("count_asked", *values)
            return [
                ActivityBucket(
                    start=start,
                    started=begun["counted"],
                    finished=ended["counted"],
                    failed=ended["failed"],
                    took=ended["took"],
                    asked=points["counted"],
                    answered=points["answered"],
                    waited=points["waited"],
                    longest_wait=points["longest"],
                )
                for start, begun, ended, points in zip(starts, started, finished, asked, strict=True)
            ]

        return await self._session.db.transact(read)
