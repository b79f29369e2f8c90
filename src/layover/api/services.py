"""What every request is done with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from layover.api.access.config import AccessSettings
from layover.api.access.guesses import Guesses
from layover.api.access.sessions import Sessions
from layover.api.access_log import AccessLog
from layover.api.change_stream import ChangeFeed
from layover.api.event_stream import Streams
from layover.api.hosts import KnownHosts
from layover.api.problems import Refusal
from layover.api.request_metrics import RequestMetrics
from layover.api.shared_work import SharedWork
from layover.api.trusted_proxies import TrustedProxies
from layover.model.health import Readiness
from layover.service.api_keys import key_credential

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Scope

    from layover.api.access.config import OidcSettings
    from layover.api.access.identity import Identity
    from layover.api.access.oidc import Oidc
    from layover.api.settings import ApiSettings
    from layover.api.sibling_metrics import SiblingMetrics
    from layover.model.access import Caller
    from layover.ports.limiter import Limiter
    from layover.ports.store import Store
    from layover.runtime.runtime import Runtime

_SIGN_IN = {"www-authenticate": "Bearer"}


class Guard(Protocol):
    """Tells who a caller is."""

    async def caller_of(self, headers: Mapping[str, str]) -> Caller | None:
        """Return who shows these credentials, or None if there are none; refuse those that are not valid."""

    async def identify(self, given: str) -> Identity | None:
        """Return whose key or token this is; None if it is not valid."""

    def forget(self, key_id: str) -> None:
        """Let a key that was ended in no more, whatever was known of it."""


class Services:
    """The runtime, and all that stands before it."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        settings: ApiSettings,
        guard: Guard,
        limiter: Limiter,
        access: AccessSettings | None = None,
    ) -> None:
        self.runtime = runtime
        self.settings = settings
        self.guard = guard
        self.limiter = limiter
        self.proxies = TrustedProxies(settings.trusted_proxies)
        self.sessions = Sessions(runtime, access or AccessSettings(), self.proxies)
        self.oidc = _oidc(runtime, access.oidc) if access is not None and access.oidc is not None else None
        self.access_log = AccessLog(self.proxies)
        self.hosts = KnownHosts(settings.hosts)
        self.guesses = Guesses(settings.guess_limit, self.proxies)
        self.stopping = asyncio.Event()  # what waits for something answers without it, or ends
        self.requests = RequestMetrics()
        self.streams = Streams(settings, self.stopping)
        self.changes = ChangeFeed(runtime)
        self.siblings: SiblingMetrics | None = None  # of a server with several processes
        self.metrics_text = SharedWork[bytes]()
        self.readiness = SharedWork[Readiness]()

    def forget_key(self, key_id: str, at_once: bool) -> None:  # noqa: FBT001 - as the service tells it
        """Know a key no more that has ended, or will; end the streams of one that has."""
        self.guard.forget(key_id)
        sessions = self.sessions.forget_key(key_id)
        if at_once:
            for credential in (key_credential(key_id), *sessions):
                self.streams.end(credential)

    def forget_session(self, session_id: str) -> None:
        """Know a session no more that has ended, and end its streams."""
        self.streams.end(self.sessions.forget(session_id))

    async def caller_of(self, scope: Scope, headers: Mapping[str, str]) -> Caller | None:
        """Return who has sent a request to the API; None without credentials. Those that are not valid are refused."""
        caller = await self.guard.caller_of(headers)
        token = "" if caller is not None else self.sessions.token_in(scope, headers)
        return await self.signed_in(scope, headers, token) if token else caller

    async def signed_in(self, scope: Scope, headers: Mapping[str, str], token: str) -> Caller:
        """Return whose session it is; refuse one that has ended, and a request that another site may have sent."""
        self.sessions.check_own(scope, headers)
        caller = await self.sessions.caller_of(token)
        if caller is None:
            raise Refusal("unauthenticated", "The session has ended. Sign in again.", headers=_SIGN_IN)
        return caller

    @property
    def store(self) -> Store:
        """Where everything is kept."""
        return self.runtime.instance.store


def _oidc(runtime: Runtime, settings: OidcSettings) -> Oidc:
    """Return the way to a provider; a server that has none needs no library for it."""
    from layover.api.access.oidc import SECRET_NAME, Oidc  # noqa: PLC0415 - only who signs people in loads it

    async def client_secret() -> str | None:
        if settings.client_secret is not None:
            return settings.client_secret
        found = await runtime.instance.secrets.get(SECRET_NAME)
        return found.value if found is not None else None

    return Oidc(settings, client_secret)
