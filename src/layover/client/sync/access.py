# Written by tools/blocking_calls.py from ../calls: change it there.
"""Keys, who the caller is, and what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.resources.access import AuditEntry, Key, KeyBody, Me, NewKey, RotateBody
from layover.api.resources.shared import Page
from layover.client.requests import ClientRequest, path_of, post

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.client.sync_client import SyncTransport


class Keys:
    """Keys to a server."""

    def __init__(self, transport: SyncTransport) -> None:
        self._transport = transport

    def add(
        self,
        name: str,
        *,
        user: str,
        roles: Sequence[str],
        scopes: Sequence[str] | None = None,
        expires_in: str | None = None,
        key: str | None = None,
    ) -> NewKey:
        """Make a key, which is shown this once: if the answer was lost on its way and asked for again, it is null."""
        narrowed = None if scopes is None else [*scopes]
        body = KeyBody(name=name, user=user, roles=[*roles], scopes=narrowed, expires_in=expires_in)
        return self._transport.ask(post(path_of("keys"), body, key), NewKey)

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[Key]:
        """Return a page of the keys that there are, without the keys themselves."""
        path = path_of("keys", limit=limit, cursor=cursor)
        return self._transport.ask(ClientRequest(method="GET", path=path), Page[Key])

    def each(self) -> Iterator[Key]:
        """Return all keys, page after page."""
        cursor: str | None = None
        while True:
            page = self.list(limit=100, cursor=cursor)
            yield from page.items
            cursor = page.next
            if cursor is None:
                return

    def rotate(self, key_id: str, *, grace: str | None = None, key: str | None = None) -> NewKey:
        """Make a key in place of another, which still works for a while."""
        return self._transport.ask(post(path_of("keys", key_id, "rotate"), RotateBody(grace=grace), key), NewKey)

    def end(self, key_id: str) -> None:
        """End a key: from then on it opens nothing."""
        self._transport.do(ClientRequest(method="DELETE", path=path_of("keys", key_id)))

    def me(self) -> Me:
        """Return who the caller is, and what they may do."""
        return self._transport.ask(ClientRequest(method="GET", path=path_of("me")), Me)


class Audit:
    """What people did on a server."""

    def __init__(self, transport: SyncTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        user: str | None = None,
        act: str | None = None,
        target: str | None = None,
        execution_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[AuditEntry]:
        """Return a page of what was done, newest first."""
        path = path_of(
            "audit", user=user, act=act, target=target, execution_id=execution_id, limit=limit, cursor=cursor
        )
        return self._transport.ask(ClientRequest(method="GET", path=path), Page[AuditEntry])

    def each(
        self,
        *,
        user: str | None = None,
        act: str | None = None,
        target: str | None = None,
        execution_id: str | None = None,
    ) -> Iterator[AuditEntry]:
        """Return what was done, newest first, page after page."""
        cursor: str | None = None
        while True:
            page = self.list(user=user, act=act, target=target, execution_id=execution_id, limit=100, cursor=cursor)
            yield from page.items
            cursor = page.next
            if cursor is None:
                return
