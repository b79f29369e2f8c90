"""Keys and the audit log, wherever they are: in a database, or behind a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from layover.client import AsyncClient

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

    from layover.api.resources.access import AuditEntry, Key, KeyBody, NewKey
    from layover.api.resources.shared import Page
    from layover.cli.options import Target, Who


class Sought(NamedTuple):
    """Which entries of the audit log, and how many."""

    user: str | None = None
    act: str | None = None
    target: str | None = None
    execution_id: str | None = None
    limit: int = 50
    cursor: str | None = None


class Access(Protocol):
    """What commands ask about who may do what, and who did."""

    async def add(self, body: KeyBody) -> NewKey:
        """Make a key."""

    async def keys(self) -> Sequence[Key]:
        """Return all keys, the oldest first, without the keys themselves."""

    async def rotate(self, key_id: str, grace: str | None) -> NewKey:
        """Make a key in the place of another."""

    async def end(self, key_id: str) -> None:
        """End a key."""

    async def audit(self, sought: Sought) -> Page[AuditEntry]:
        """Return what was done, newest first."""


def to_access(at: Target, who: Who, *, acts: bool) -> AbstractAsyncContextManager[Access]:
    """Return keys and audit log of a place, for somebody."""
    if (server := at.server) is not None:
        return _Remote(server, at.secret)
    from layover.cli.local_access import LocalAccess  # noqa: PLC0415 - only who needs it loads it

    return LocalAccess(at.database, who, acts=acts)


class _Remote:
    """Those of a server."""

    def __init__(self, url: str, key: str | None) -> None:
        self._client = AsyncClient(url, key=key)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def add(self, body: KeyBody) -> NewKey:
        """Make a key."""
        return await self._client.keys.add(
            body.name, user=body.user, roles=body.roles, scopes=body.scopes, expires_in=body.expires_in
        )

    async def keys(self) -> Sequence[Key]:
        """Return all keys, the oldest first, without the keys themselves."""
        return [key async for key in self._client.keys.each()]

    async def rotate(self, key_id: str, grace: str | None) -> NewKey:
        """Make a key in the place of another."""
        return await self._client.keys.rotate(key_id, grace=grace)

    async def end(self, key_id: str) -> None:
        """End a key."""
        await self._client.keys.end(key_id)

    async def audit(self, sought: Sought) -> Page[AuditEntry]:
        """Return what was done, newest first."""
        return await self._client.audit.list(**sought._asdict())
