"""What operators ask about all executions in memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from layover.core.engine.state import PEOPLE
from layover.ports.view_records import ActivityBucket
from layover.ports.vitals import Vitals
from layover.stores.checks import at_most, check_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Head
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryMonitoring:
    """Reads leases, timers and activity in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def count_leases(self, until: int, most: int) -> dict[str, int]:
        """Count the executions that instances drive, by instance."""
        heads = (await self._session.turn()).heads.values()
        leases = [(head.wake_at, head.owner) for head in heads if head.owner is not None and head.wake_at is not None]
        latest = sorted((one for one in leases if one[0] <= until), reverse=True)[: at_most(most)]
        return dict(Counter(owner for _, owner in latest))

    async def list_timers(self, after: tuple[int, str] | None, limit: int) -> list[Head]:
        """List what is due at a moment, the earliest first."""
        check_ids([after[1]] if after is not None else [])
        heads = (await self._session.turn()).heads.values()
        timers = [
            (head.wake_at, head.execution_id, head) for head in heads if head.owner is None and head.wake_at is not None
        ]
        behind = sorted(one for one in timers if after is None or one[:2] > after)
        return [head for *_, head in behind[: at_most(limit)]]

    async def read_vitals(self) -> Vitals:
        """Return that nothing can be wrong with memory, but that it forgets."""
        await self._session.turn()
        return Vitals()

    async def read_activity(self, starts: Sequence[int], width: int, most: int) -> list[ActivityBucket]:
        """Count what happened in stretches of time."""
        db = await self._session.turn()
        return [_bucket(db, start, start + width, at_most(most)) for start in starts]


def _bucket(db: MemoryDatabase, start: int, stop: int, most: int) -> ActivityBucket:
    started = [info for info in db.infos.values() if start <= info.created_at < stop][:most]
    ended = [
        (closed.error_code, at - db.infos[id_].created_at)
        for id_, (at, closed) in db.ends.items()
        if start <= at < stop
    ][:most]
    rows = [row for row in db.points.values() if start <= row.point.opened_at < stop]
    first = sorted(rows, key=lambda row: (row.point.opened_at, row.point.id))[:most]
    asked = [row for row in first if row.point.kind in PEOPLE]
    waits = [row.closed_at - row.point.opened_at for row in asked if row.closed_at is not None]
    return ActivityBucket(
        start=start,
        started=len(started),
        finished=len(ended),
        failed=sum(bool(code) for code, _ in ended),
        took=sum(took for _, took in ended),
        asked=len(asked),
        answered=len(waits),
        waited=sum(waits),
        longest_wait=max(waits, default=0),
    )
