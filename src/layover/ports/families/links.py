"""Links by which people reach a pause point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.access import LinkRow, NewLink
    from layover.ports.records import AuditRow


class LinkStore(Protocol):
    """Links, by the hashes of their tokens; they are purged with their execution."""

    async def add(self, link: NewLink, audit: AuditRow | None = None) -> bool:
        """Store a link; false if its point does not exist. One of the same hash stays as it is, also if revoked."""

    async def find(self, hash_: bytes) -> LinkRow | None:
        """Find a link, also one that has expired or was revoked."""

    async def revoke(self, point: str, user: str | None, now: int, audit: AuditRow | None = None) -> int:
        """Revoke the links to a point, all or those of one user; return how many, and write the entry even if none."""
