"""Links to pause points, by the hashes of their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.access import LinkRow
from layover.stores.checks import check_texts
from layover.stores.memory.audit import write_audit

if TYPE_CHECKING:
    from layover.ports.access import NewLink
    from layover.ports.records import AuditRow
    from layover.stores.memory.session import MemorySession


class MemoryLinks:
    """Links in memory."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session

    async def add(self, link: NewLink, audit: AuditRow | None = None) -> bool:
        """Store a link."""
        check_texts(link.user)
        db = await self._session.turn()
        if link.hash not in db.links:
            point = db.points.get(link.point)
            if point is None:
                return False
            db.links[link.hash] = LinkRow(
                hash=link.hash,
                execution_id=point.execution_id,
                point=link.point,
                user=link.user,
                made_at=link.made_at,
                expires_at=link.expires_at,
            )
        write_audit(db, audit)
        return True

    async def find(self, hash_: bytes) -> LinkRow | None:
        """Find a link."""
        return (await self._session.turn()).links.get(hash_)

    async def revoke(self, point: str, user: str | None, now: int, audit: AuditRow | None = None) -> int:
        """Revoke links to a point."""
        db = await self._session.turn()
        found = [
            row
            for row in db.links.values()
            if row.point == point and user in (None, row.user) and row.revoked_at is None
        ]
        db.links.update({row.hash: replace(row, revoked_at=now) for row in found})
        write_audit(db, audit)
        return len(found)
