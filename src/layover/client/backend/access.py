"""Who acts, what was done, and API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import delete, get, path_of, post
from layover.core.definitions.durations import format_duration
from layover.model.access import ApiKey, AuditEntry, Caller, NewApiKey, OpenSession, SecretStatus, SignInLink
from layover.model.proofs import AuditKeySet
from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.client.transport import Transport
    from layover.interface.requests import AuditSearch


class HttpAccess:
    """Users, audit and API keys."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def me(self) -> Caller:
        """Return the user whose API key is shown."""
        return await self._transport.ask(get(path_of("me")), Caller)

    async def audit_keys(self) -> AuditKeySet:
        """Return the public keys of seals and receipts."""
        return await self._transport.ask(get("/.well-known/layover-keys.json"), AuditKeySet)

    async def audit(self, wanted: AuditSearch, limit: int, cursor: str | None) -> Page[AuditEntry]:
        """Return a page of what was done, the newest first."""
        path = path_of(
            "audit",
            user=wanted.user,
            act=wanted.act,
            target=wanted.target,
            execution_id=wanted.execution_id,
            limit=limit,
            cursor=cursor,
        )
        return await self._transport.ask(get(path), Page[AuditEntry])

    async def api_keys(self, limit: int, cursor: str | None) -> Page[ApiKey]:
        """Return a page of API keys, the oldest first."""
        return await self._transport.ask(get(path_of("keys", limit=limit, cursor=cursor)), Page[ApiKey])

    async def create_api_key(
        self, name: str, user: str, roles: Sequence[str], scopes: Sequence[str] | None, expires_in: int | None
    ) -> NewApiKey:
        """Create an API key, which is shown this once: an answer that was lost and asked for again has none."""
        body: dict[str, object] = {"name": name, "user": user, "roles": [*roles]}
        if scopes is not None:
            body["scopes"] = [*scopes]
        if expires_in is not None:
            body["expires_in"] = format_duration(expires_in)
        return await self._transport.ask(post(path_of("keys"), body), NewApiKey)

    async def create_sign_in_link(
        self, user: str, roles: Sequence[str], scopes: Sequence[str] | None, expires_in: int | None
    ) -> SignInLink:
        """Create a link that signs one browser in: an answer that was lost and asked for again has none."""
        body: dict[str, object] = {"user": user, "roles": [*roles]}
        if scopes is not None:
            body["scopes"] = [*scopes]
        if expires_in is not None:
            body["expires_in"] = format_duration(expires_in)
        return await self._transport.ask(post(path_of("sign-in-links"), body), SignInLink)

    async def rotate_api_key(self, key_id: str, grace: int | None) -> NewApiKey:
        """Create an API key in the place of another, which ends after a while."""
        body = {"grace": format_duration(grace)} if grace is not None else {}
        return await self._transport.ask(post(path_of("keys", key_id, "rotate"), body), NewApiKey)

    async def delete_api_key(self, key_id: str) -> None:
        """End an API key at once."""
        await self._transport.send(delete(path_of("keys", key_id)))

    async def sessions(self, user: str | None, limit: int, cursor: str | None) -> Page[OpenSession]:
        """Return a page of the sessions that have not ended, the oldest first."""
        path = path_of("sessions", user=user, limit=limit, cursor=cursor)
        return await self._transport.ask(get(path), Page[OpenSession])

    async def end_session(self, session_id: str) -> None:
        """End a session at once."""
        await self._transport.send(delete(path_of("sessions", session_id)))

    async def secrets(self, limit: int, cursor: str | None) -> Page[SecretStatus]:
        """Return a page of the secrets that workflows declare, by name."""
        return await self._transport.ask(get(path_of("secrets", limit=limit, cursor=cursor)), Page[SecretStatus])
