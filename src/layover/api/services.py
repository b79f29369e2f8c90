"""What every request is done with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from layover.api.access.guesses import Guesses
from layover.api.access_log import AccessLog
from layover.api.event_stream import Streams
from layover.api.hosts import KnownHosts
from layover.api.request_metrics import RequestMetrics
from layover.api.shared_work import SharedWork
from layover.api.trusted_proxies import TrustedProxies
from layover.model.health import Readiness
from layover.service.api_keys import key_credential

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.api.settings import ApiSettings
    from layover.api.sibling_metrics import SiblingMetrics
    from layover.model.access import Caller
    from layover.ports.limiter import Limiter
    from layover.ports.store import Store
    from layover.runtime.runtime import Runtime


class Guard(Protocol):
    """Tells who a caller is."""

    async def caller_of(self, headers: Mapping[str, str]) -> Caller | None:
        """Return who shows these credentials, or None if there are none; refuse those that are not valid."""

    def forget(self, key_id: str) -> None:
        """Let a key that was ended in no more, whatever was known of it."""


class Services:
    """The runtime, and all that stands before it."""

    def __init__(self, runtime: Runtime, *, settings: ApiSettings, guard: Guard, limiter: Limiter) -> None:
        self.runtime = runtime
        self.settings = settings
        self.guard = guard
        self.limiter = limiter
        self.proxies = TrustedProxies(settings.trusted_proxies)
        self.access_log = AccessLog(self.proxies)
        self.hosts = KnownHosts(settings.hosts)
        self.guesses = Guesses(settings.guess_limit, self.proxies)
        self.stopping = asyncio.Event()  # what waits for something answers without it, or ends
        self.requests = RequestMetrics()
        self.streams = Streams(settings, self.stopping)
        self.siblings: SiblingMetrics | None = None  # of a server with several processes
        self.metrics_text = SharedWork[bytes]()
        self.readiness = SharedWork[Readiness]()

    def forget_key(self, key_id: str, at_once: bool) -> None:  # noqa: FBT001 - as the service tells it
        """Know a key no more that has ended, or will; end the streams of one that has."""
        self.guard.forget(key_id)
        if at_once:
            self.streams.end(key_credential(key_id))

    @property
    def store(self) -> Store:
        """Where everything is kept."""
        return self.runtime.instance.store
