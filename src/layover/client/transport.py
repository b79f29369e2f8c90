"""Requests on their way to a server and back. What comes back is bounded, and a request that came to nothing is made
again if that does no harm: each that changes something has a key, by which the server knows it.

Nothing here is logged, and no error tells more of an address than its host: a path may hold a token.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeVar

import aiohttp
import msgspec
from yarl import URL

from layover.api.resources.problems import Problem
from layover.client.errors import ApiError, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from ssl import SSLContext

    from layover.api.resources.executions import Event
    from layover.client.base_url import ServerAddress
    from layover.client.request_policy import RequestPolicy
    from layover.client.requests import ClientRequest

T = TypeVar("T")

LONGEST_ANSWER = 64_000_000
_KEPT_ALIVE = 4.0  # seconds: servers hang up after five, and a request must not cross that on its way
_NOT_DONE: Final = frozenset({429})
_PASSING: Final = frozenset({429, 502, 503, 504})
_AT_WORK: Final = "in_progress"  # the same request, sent before
_NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_SECURE: Final = True  # by the certificates that this machine trusts


class Answered(msgspec.Struct, frozen=True):
    """What came back."""

    status: int
    body: bytes
    retry_after: float | None = None


class Transport:
    """One server, over connections that are used again."""

    def __init__(
        self,
        place: ServerAddress,
        patience: RequestPolicy,
        *,
        ssl: SSLContext | None = None,
        longest_answer: int = LONGEST_ANSWER,
        rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.place = place
        self.patience = patience
        self._ssl = ssl
        self._longest_answer = longest_answer
        self.rest = rest
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, ask: ClientRequest, kind: type[T]) -> T:
        """Have something done, and return what is answered."""
        return self.read(await self.send(ask), kind)

    async def do(self, ask: ClientRequest) -> None:
        """Have something done that nothing is answered to."""
        await self.send(ask)

    def follow(self, execution_id: str, since: int) -> AsyncGenerator[Event]:
        """Return the events of an execution as they are written."""
        from layover.client.event_stream import EventStream  # noqa: PLC0415 - it is built on this

        return EventStream(self, execution_id, since).events()

    async def send(self, ask: ClientRequest) -> Answered:
        """Make a request until it is answered, or patience ends."""
        loop, patience = asyncio.get_running_loop(), self.patience
        until, tried = loop.time() + patience.total + ask.longer, 0
        while True:
            try:
                async with asyncio.timeout_at(until):
                    return await self._tried(ask)
            except TimeoutError as error:
                raise Unreachable(f"{self.place.host} has not answered in time.", code="timed_out") from error
            except _Again as again:
                tried += again.error.code != _AT_WORK  # that is no failure: it has come, and its answer is on its way
                wait = patience.wait_after(max(tried, 1), again.after)
                if tried >= patience.tries or loop.time() + wait >= until:
                    raise again.error from again.__cause__
            await self.rest(wait)

    def read(self, answered: Answered, kind: type[T]) -> T:
        """Return what was answered as what it is; fields that are not known here are passed over."""
        try:
            return msgspec.json.decode(answered.body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            message = f"{self.place.host} answers with what this client does not understand: {error}."
            raise ApiError(message, code="bad_answer", status=answered.status) from error

    async def close(self) -> None:
        """Close all connections; the next request opens others."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def session(self) -> aiohttp.ClientSession:
        """Return what makes the requests."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT_ALIVE, ssl=self._ssl or _SECURE),
                timeout=aiohttp.ClientTimeout(sock_connect=self.patience.connect),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                headers={"User-Agent": "layover", "Accept-Encoding": "identity"},
            )
        return self._session

    def headers(self, ask: ClientRequest) -> dict[str, str]:
        """Return what is said about a request, and who asks."""
        return {**ask.headers, **self.place.credentials} if ask.known else ask.headers

    async def _tried(self, ask: ClientRequest) -> Answered:
        """Make a request once."""
        try:
            async with self.session().request(
                ask.method,
                URL(self.place.url_of(ask.path), encoded=True),
                data=ask.body,
                headers=self.headers(ask),
                allow_redirects=False,
            ) as response:
                answered = Answered(response.status, await self.body(response), retry_after_of(response))
        except (aiohttp.ClientError, OSError) as error:
            raise self._lost(error, ask) from error
        if answered.status < 300:
            return answered
        refused = refusal(answered, self.place.host)
        if answered.status in (_PASSING if ask.repeatable else _NOT_DONE) or refused.code == _AT_WORK:
            raise _Again(refused, answered.retry_after)
        raise refused

    def _lost(self, error: Exception, ask: ClientRequest) -> Exception:
        """Return what becomes of a request whose connection was lost, or never made."""
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        told = cause.strerror if isinstance(cause, OSError) and cause.strerror else type(cause).__name__
        unreachable = Unreachable(f"{self.place.host} cannot be reached: {told}.")
        is_safe = ask.repeatable or isinstance(error, _NEVER_SENT)
        return _Again(unreachable, None) if is_safe else unreachable

    async def body(self, response: aiohttp.ClientResponse) -> bytes:
        """Return what was answered, unless it is too much."""
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            message = f"{self.place.host} answers in an encoding for which it was not asked."
            raise ApiError(message, code="bad_answer", status=response.status)
        raw = bytearray()
        async for part in response.content.iter_any():
            raw += part
            if len(raw) > self._longest_answer:
                message = f"{self.place.host} answers with more than {self._longest_answer:,} bytes."
                raise ApiError(message, code="answer_too_large", status=response.status)
        return bytes(raw)


class _Again(Exception):  # noqa: N818 - it says what to do
    """A request that may be made again: after some seconds, if the server says so."""

    def __init__(self, error: ApiError, after: float | None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


def refusal(answered: Answered, host: str) -> ApiError:
    """Return why a request was not done."""
    try:
        problem = msgspec.json.decode(answered.body, type=Problem)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        if answered.status < 400:
            message = f"{host} answers with a redirect ({answered.status}), which is not followed."
            return ApiError(message, code="redirected", status=answered.status)
        message = f"{host} answers with {answered.status}, and not as a server of Layover does."
        return ApiError(message, code="bad_answer", status=answered.status)
    return ApiError(problem.detail, code=problem.code, status=answered.status, problem=problem)


def retry_after_of(response: aiohttp.ClientResponse) -> float | None:
    """Return how many seconds to wait before asking again, if the server says so."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
