"""Links to pause points, by the hashes of their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.access import LinkRow
from layover.stores.checks import check_texts
from layover.stores.postgres.audit import write_audit

if TYPE_CHECKING:
    from layover.ports.access import NewLink
    from layover.ports.records import AuditRow
    from layover.stores.postgres.database import Row, Transaction
    from layover.stores.postgres.session import PostgresSession


class PostgresLinks:
    """Links of a schema."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    async def add(self, link: NewLink, audit: AuditRow | None = None) -> bool:
        """Store a link."""
        check_texts(link.user)

        async def add(tx: Transaction) -> bool:
            values = (link.hash, link.point, link.user, link.made_at, link.expires_at, None)
            await tx.fetch("add_link", *values)
            if await tx.fetchrow("link_by_hash", link.hash) is None:
                return False
            await write_audit(tx, audit)
            return True

        return await self._session.db.transact(add)

    async def find(self, hash_: bytes) -> LinkRow | None:
        """Find a link."""
        row = await self._session.db.fetchrow("link_by_hash", hash_)
        return link_of(row) if row is not None else None

    async def revoke(self, point: str, user: str | None, now: int, audit: AuditRow | None = None) -> int:
        """Revoke links to a point."""

        async def revoke(tx: Transaction) -> int:
            rows = await tx.fetch("revoke_links", point, user, now)
            await write_audit(tx, audit)
            return len(rows)

        return await self._session.db.transact(revoke)


def link_of(row: Row) -> LinkRow:
    """Return a link."""
    hash_, execution_id, point, user, made_at, expires_at, revoked_at = row
    return LinkRow(
        hash=hash_,
        execution_id=execution_id,
        point=point,
        user=user,
        made_at=made_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
    )
