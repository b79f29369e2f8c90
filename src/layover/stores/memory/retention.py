"""Purging executions that have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.records import CLOSED
from layover.stores.checks import at_most, check_ids
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow
    from layover.stores.memory.database import MemoryDatabase
    from layover.stores.memory.session import MemorySession


class MemoryRetention:
    """Deletes executions in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def list_purgeable(self, before: int, most: int, workflow: str | None = None) -> list[str]:
        """Return executions that may be purged."""
        return purgeable_executions(await self._session.turn(), before, most, workflow)

    async def purge(
        self, execution_ids: Sequence[str], before: int | None = None, audit: AuditRow | None = None
    ) -> int:
        """Delete executions."""
        check_ids(execution_ids)
        db = await self._session.turn()
        count = purge(db, execution_ids, before)
        if count:
            write_audit(db, audit)
        return count

    async def purge_weeks(self, before: int | None) -> int:  # noqa: ARG002 - there are none
        """Do nothing: there are no weekly partitions."""
        await self._session.turn()
        return 0


def purgeable_executions(db: MemoryDatabase, before: int, most: int, workflow: str | None) -> list[str]:
    """Return executions that closed before a moment and have nothing left to do, oldest first."""
    ended = sorted((at, id_) for id_, (at, _) in db.ends.items() if at < before and _is_done(db, id_))
    found = [id_ for _, id_ in ended if workflow in (None, db.heads[id_].workflow)]
    return found[: at_most(most)]


def _is_done(db: MemoryDatabase, id_: str) -> bool:
    """Return whether an execution is closed, has nothing left to send, and has no slot that another waits for.

    Its parent must have no messages left either: one may start the execution once more.
    """
    head, place = db.heads.get(id_), db.places.get(id_)
    if head is None or head.status not in CLOSED or (place is not None and place.name is not None):
        return False
    if any(row.execution_id == id_ and row.state == "pending" for row in db.deliveries.values()):
        return False
    senders = {id_, db.infos[id_].parent_id}
    return not any(sender in senders for sender, _, _ in db.outbox)


def purge(db: MemoryDatabase, execution_ids: Sequence[str], before: int | None) -> int:
    """Delete executions that have nothing left to do, with everything that belongs to them."""
    done = {id_ for id_ in execution_ids if _is_done(db, id_)}
    purged = {id_ for id_ in done if before is None or (id_ in db.ends and db.ends[id_][0] < before)}
    for id_ in sorted(purged):
        del db.heads[id_], db.infos[id_], db.logs[id_], db.commands[id_]
        db.inputs.pop(id_, None)
        db.unindexed.discard(id_)
        db.terms.pop(id_, None)
        db.ends.pop(id_, None)
        db.resumes.pop(id_, None)
        db.snapshots.pop(id_, None)
        db.places.pop(id_, None)
        db.progress.pop(id_, None)
        db.node_logs.pop(id_, None)
    db.points = {name: row for name, row in db.points.items() if row.execution_id not in purged}
    db.waits = {name: wait for name, wait in db.waits.items() if wait.execution_id not in purged}
    db.tokens = {hash_: wait for hash_, wait in db.tokens.items() if wait.execution_id not in purged}
    db.links = {hash_: link for hash_, link in db.links.items() if link.execution_id not in purged}
    db.deliveries = {name: row for name, row in db.deliveries.items() if row.execution_id not in purged}
    return len(purged)
