"""Sessions of browsers, and links that open one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from layover.ports.access import SessionKind, SessionRow
    from layover.ports.records import AuditRow


class SessionStore(Protocol):
    """Sessions and sign-in links, stored as hashes."""

    async def open_session(self, row: SessionRow, most: int, audit: AuditRow | None = None) -> None:
        """Store a session, or a link; of its user, only the newest `most` of its kind are kept."""

    async def use_link(self, link: bytes, row: SessionRow, now: int, most: int, audit: AuditRow) -> bool:
        """Store a session in the place of a link; return false if that was used, has ended or is unknown."""

    async def find_session(self, hash_: bytes, now: int) -> SessionRow | None:
        """Find a session, or a link, that has not ended, and whose key has not."""

    async def end_session(self, hash_: bytes, audit: AuditRow) -> bool:
        """Delete a session; return false if it is unknown."""

    async def note_refused(self, audit: AuditRow) -> None:
        """Write down that a sign-in was refused."""

    async def list_sessions(self, kind: SessionKind, after: str, limit: int) -> list[SessionRow]:
        """List sessions, or links, in the order of their ids, beginning after one; also those that have ended."""

    async def list_open_sessions(self, now: int, after: str, limit: int) -> list[SessionRow]:
        """List sessions that have not ended, and whose keys have not, in the order of their ids after one."""

    async def list_sessions_of_user(self, user: str, now: int, after: str, limit: int) -> list[SessionRow]:
        """List the sessions of one user that have not ended, in the order of their ids after one."""

    async def delete_expired(self, now: int, most: int) -> int:
        """Delete sessions and links whose time is over, oldest first; return how many."""
