"""Sessions of browsers: 256 bits of chance in a cookie, kept as a hash; and the links that open one.

What was opened with the admin key of the settings is hashed together with that key: with another admin key, or none,
it is not found any more. So it ends with its key, as every session does.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

from layover.ports.access import SessionKind, SessionRow
from layover.runtime.ids import new_id

SESSION_LENGTH: Final = 12 * 3_600_000  # milliseconds
LINK_LENGTH: Final = 10 * 60_000
LONGEST_LINK: Final = 24 * 3_600_000
MOST_SESSIONS: Final = 50  # of one user; a new one ends the oldest
MOST_LINKS: Final = 50

_BYTES: Final = 32
_FORM: Final = re.compile(r"la([sak])_[A-Za-z0-9_-]{43}")
_SESSION, _OF_ADMIN_KEY, _LINK = "s", "a", "k"


def new_token(*, of_admin_key: bool = False) -> str:
    """Return the token of a session, which cannot be guessed."""
    return f"la{_OF_ADMIN_KEY if of_admin_key else _SESSION}_{secrets.token_urlsafe(_BYTES)}"


def new_link_token() -> str:
    """Return the token of a link."""
    return f"la{_LINK}_{secrets.token_urlsafe(_BYTES)}"


def hash_of_token(token: str, kind: SessionKind, admin_hash: bytes | None = None) -> bytes | None:
    """Return by what a session or a link is known; None if this is no such token."""
    form = _FORM.fullmatch(token)
    if form is None or (form[1] == _LINK) != (kind == "link"):
        return None
    if form[1] != _OF_ADMIN_KEY:
        return hashlib.sha256(token.encode()).digest()
    return hashlib.sha256(token.encode() + admin_hash).digest() if admin_hash is not None else None


def session_credential(session_id: str) -> str:
    """Return what a caller with a session is known by."""
    return f"session {session_id}"


def is_session(credential: str) -> bool:
    """Return whether a caller is known by a session."""
    return credential.startswith("session ")


def link_credential(link_id: str) -> str:
    """Return what a session that was opened with a link was opened by."""
    return f"link {link_id}"


def made_link(
    now: int, *, user: str, roles: tuple[str, ...], scopes: tuple[str, ...] | None = None, lasts: int | None = None
) -> tuple[SessionRow, str]:
    """Return the row of a new link; and its token."""
    token = new_link_token()
    row = SessionRow(
        id=new_id(now),
        hash=hashlib.sha256(token.encode()).digest(),
        kind="link",
        user=user,
        roles=roles,
        scopes=scopes,
        created_at=now,
        expires_at=now + (LINK_LENGTH if lasts is None else lasts),
    )
    return row, token


def link_address(public_url: str, token: str) -> str:
    """Return where a link leads to."""
    return f"{public_url.rstrip('/')}/sign-in/link/{token}"


def made_session(  # noqa: PLR0913 - each is a field of it
    now: int,
    hash_: bytes,
    *,
    user: str,
    roles: tuple[str, ...],
    scopes: tuple[str, ...] | None = None,
    opened_by: str = "",
    key_id: str = "",
    expires_at: int | None = None,
) -> SessionRow:
    """Return the row of a session, which lasts no longer than what it was opened with."""
    until = now + SESSION_LENGTH
    return SessionRow(
        id=new_id(now),
        hash=hash_,
        kind="session",
        user=user,
        roles=roles,
        scopes=scopes,
        created_at=now,
        expires_at=until if expires_at is None else min(until, expires_at),
        opened_by=opened_by,
        key_id=key_id,
    )
