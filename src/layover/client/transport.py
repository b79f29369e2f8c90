"""Requests on their way to a server and back. What comes back is bounded, and a request that came to nothing is made
again if that does no harm: each that changes something has a key, by which the server knows it.

Nothing here is logged, and no error tells more of an address than its host: a path may hold a token.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeVar

import aiohttp
import msgspec
from yarl import URL

from layover.client.refusals import refusal_of
from layover.client.request_policy import RetryLimits
from layover.errors import Closed, LayoverError, NotAllowed, Unavailable
from layover.model.executions import Execution
from layover.model.points import PausePoint
from layover.model.shared import decode
from layover.tracing.current import current_traceparent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from ssl import SSLContext

    from layover.client.base_url import ServerAddress
    from layover.client.request_policy import RequestPolicy
    from layover.client.requests import ClientRequest

T = TypeVar("T")
S = TypeVar("S", Execution, PausePoint)

LONGEST_ANSWER = 64_000_000
_KEPT_ALIVE = 4.0  # seconds: servers hang up after five, and a request must not cross that on its way
_NOT_DONE: Final = frozenset({429})
PASSING: Final = frozenset({429, 502, 503, 504})
_AT_WORK: Final = "in_progress"  # the same request, sent before
_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_REPLAYED: Final = "Idempotency-Replayed"
_SECURE: Final = True  # by the certificates that this machine trusts


class Answered(msgspec.Struct, frozen=True):
    """What came back."""

    status: int
    body: bytes
    retry_after: float | None = None
    is_replayed: bool = False  # it is what the same request was answered before


class Transport:
    """One server, over connections that are used again, from `open` to `close`."""

    def __init__(
        self,
        address: ServerAddress,
        policy: RequestPolicy,
        *,
        ssl: SSLContext | None = None,
        longest_answer: int = LONGEST_ANSWER,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.address = address
        self.limits = RetryLimits(policy)
        self.sleep = sleep
        self._ssl = ssl
        self._longest_answer = longest_answer
        self._is_open = False
        self._session: aiohttp.ClientSession | None = None
        self._out = 0  # requests that are on their way
        self._none_out = asyncio.Event()

    def open(self) -> None:
        """Let requests be made; the first one opens a connection."""
        self._is_open = True

    async def close(self, grace: float | None = None) -> None:
        """Give up the requests that are not answered after a number of seconds, and close all connections."""
        self._is_open = False
        if self._out and grace:
            self._none_out.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self._none_out.wait()
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def hurry(self) -> None:
        """Give up the requests for whose answers closing waits."""
        self._none_out.set()

    async def ask(self, request: ClientRequest, kind: type[T]) -> T:
        """Have something done, and return what is answered."""
        return self.read(await self.send(request), kind)

    async def send(self, request: ClientRequest) -> Answered:
        """Make a request until it is answered, or until it was tried often or long enough."""
        loop, limits = asyncio.get_running_loop(), self.limits
        until, tried = loop.time() + limits.total + request.longer, 0
        while True:
            try:
                async with asyncio.timeout_at(until):
                    return await self._tried(request)
            except TimeoutError as error:
                raise Unavailable(f"{self.address.host} has not answered in time.", code="timed_out") from error
            except _Again as again:
                if not self._is_open:
                    raise closed_meanwhile() from again
                tried += again.error.code != _AT_WORK  # that is no failure: it has come, and its answer is on its way
                wait = limits.wait_after(max(tried, 1), again.after)
                if tried >= limits.tries or loop.time() + wait >= until:
                    raise again.error from again.__cause__
            await self.sleep(wait)

    def read(self, answered: Answered, kind: type[T]) -> T:
        """Return what was answered as what it is; fields that are not known here are passed over."""
        try:
            return decode(answered.body, kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError) as error:
            message = f"{self.address.host} answers with what this client does not understand: {error}."
            raise LayoverError(message, code="bad_answer") from error

    async def newest(self, answered: Answered, kind: type[S], get: Callable[[str], Awaitable[S]]) -> S:
        """Return what was answered to an act; what was answered before is read anew, if the user may read it."""
        found = self.read(answered, kind)
        if not answered.is_replayed:
            return found
        try:
            return await get(found.id)
        except NotAllowed:
            return found

    @property
    def is_open(self) -> bool:
        """Whether requests may be made."""
        return self._is_open

    def session(self) -> aiohttp.ClientSession:
        """Return what makes the requests."""
        if not self._is_open:
            raise Closed("The client is not open: use `async with Client(...) as client`.")
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT_ALIVE, ssl=self._ssl or _SECURE),
                timeout=aiohttp.ClientTimeout(sock_connect=self.limits.connect),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                headers={"User-Agent": "layover", "Accept-Encoding": "identity"},
            )
        return self._session

    def headers(self, request: ClientRequest) -> dict[str, str]:
        """Return what is said about a request, who asks, and in which span."""
        found = {**request.headers, **self.address.credentials} if request.with_credentials else request.headers
        traceparent = current_traceparent()
        return {**found, "traceparent": traceparent} if traceparent else found

    async def body(self, response: aiohttp.ClientResponse) -> bytes:
        """Return what was answered, unless it is too much."""
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            message = f"{self.address.host} answers in an encoding for which it was not asked."
            raise LayoverError(message, code="bad_answer")
        raw = bytearray()
        async for part in response.content.iter_any():
            raw += part
            if len(raw) > self._longest_answer:
                message = f"{self.address.host} answers with more than {self._longest_answer:,} bytes."
                raise LayoverError(message, code="answer_too_large")
        return bytes(raw)

    async def _tried(self, request: ClientRequest) -> Answered:
        """Make a request once."""
        try:
            with self._on_its_way():
                async with self.session().request(
                    request.method,
                    URL(self.address.url_of(request.path), encoded=True),
                    data=request.body,
                    headers=self.headers(request),
                    allow_redirects=False,
                ) as response:
                    body, is_replayed = await self.body(response), response.headers.get(_REPLAYED) == "true"
                    answered = Answered(response.status, body, retry_after_of(response), is_replayed)
        except (aiohttp.ClientError, OSError) as error:
            raise self._lost(error, request) from error
        if answered.status < 300:
            return answered
        refused = refusal_of(answered.status, answered.body, self.address.host)
        if answered.status in (PASSING if request.repeatable else _NOT_DONE) or refused.code == _AT_WORK:
            raise _Again(refused, answered.retry_after)
        raise refused

    @contextmanager
    def _on_its_way(self) -> Iterator[None]:
        """Count a request, so that closing can wait for it."""
        self._out += 1
        try:
            yield
        finally:
            self._out -= 1
            if not self._out:
                self._none_out.set()

    def _lost(self, error: Exception, request: ClientRequest) -> Exception:
        """Return what becomes of a request whose connection was lost, or never made."""
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else type(cause).__name__
        unreachable = Unavailable(f"{self.address.host} cannot be reached: {reason}.", code="unreachable")
        is_safe = request.repeatable or isinstance(error, _NEVER_SENT)
        return _Again(unreachable, None) if is_safe else unreachable


class _Again(Exception):  # noqa: N818 - it says what to do
    """A request that may be made again: after some seconds, if the server says so."""

    def __init__(self, error: LayoverError, after: float | None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


def closed_meanwhile() -> Closed:
    """Return the error of a request that waits for an answer while the client is closed."""
    return Closed("The client was closed meanwhile.")


def retry_after_of(response: aiohttp.ClientResponse) -> float | None:
    """Return how many seconds to wait before asking again, if the server says so."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
