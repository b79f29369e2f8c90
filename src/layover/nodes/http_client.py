"""Requests over HTTP. Nothing in a response is trusted: neither its size, nor its pace, nor its declared type."""

from __future__ import annotations

import asyncio
import codecs
from typing import TYPE_CHECKING

import aiohttp
import msgspec
from yarl import URL

from layover.core.definitions.durations import format_duration
from layover.core.payloads import MAX_INLINE
from layover.nodes.http_addresses import AddressRefused, guard_sockets
from layover.nodes.http_compression import decompress
from layover.nodes.http_errors import (
    HttpBadAnswer,
    HttpBadRequest,
    HttpError,
    HttpRefused,
    HttpStatus,
    HttpTimeout,
    HttpUnreachable,
)
from layover.nodes.http_exchange import describe_request, head_of, read_beginning, read_head
from layover.nodes.http_redirects import RedirectGuard
from layover.nodes.http_request import is_json, read_request
from layover.tracing.current import current_traceparent

if TYPE_CHECKING:
    from collections.abc import Callable

    from multidict import CIMultiDict

    from layover.masking import Masker

    Connect = Callable[[], aiohttp.BaseConnector]

_REDIRECTS = 5
_KEPT_ALIVE = 4.0  # seconds: many servers close after five, and a request must not cross that
_MOST_OF_REPLY = 65_536  # bytes that are read of the reply to a post, so that its connection can be used again
_CHARSETS = frozenset({"utf-8", "utf-8-sig", "ascii", "iso8859-1", "iso8859-15", "cp1252", "utf-16"})
_OWN = {"User-Agent": "layover", "Accept-Encoding": "gzip, deflate"}


def _by_sockets(may_reach: Callable[[str], bool]) -> aiohttp.BaseConnector:
    # The caller decides how many requests run at once, and how long each may take.
    return aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT_ALIVE, socket_factory=guard_sockets(may_reach))


class PostReply(msgspec.Struct, frozen=True, kw_only=True):
    """What came back from a post: its status, the beginning of its body as text, and when to come again."""

    status: int
    text: str
    retry_after: str = ""


class HttpClient:
    """Makes requests, over connections that are reused; it keeps no other state between them."""

    def __init__(self, may_reach: Callable[[str], bool], connect: Connect | None = None) -> None:
        self._session = aiohttp.ClientSession(
            connector=connect() if connect is not None else _by_sockets(may_reach),
            timeout=aiohttp.ClientTimeout(),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            headers=_OWN,
        )

    async def send(
        self, given: dict[str, object], key: str, longest: int | None, masker: Masker | None = None
    ) -> dict[str, object]:
        """Make a request and return the response; the key tells the server that a repeated request is the same."""
        request = read_request(given)
        url = request.target()
        headers, body = request.outgoing(key, current_traceparent())
        guard = RedirectGuard(url, body, masker)
        try:
            return await self._exchange(request.method, url, headers, body, guard, longest)
        except HttpError as error:
            describe_request(error, request, url)
            raise

    async def _exchange(
        self,
        method: str,
        url: URL,
        headers: CIMultiDict[str],
        body: bytes | None,
        guard: RedirectGuard,
        longest: int | None,
    ) -> dict[str, object]:
        where = f"{method} {url.host}"
        try:
            async with asyncio.timeout(None if longest is None else longest / 1000):
                # The number is that of the redirect which is no longer followed.
                async with self._session.request(
                    method, url, headers=headers, data=body, max_redirects=_REDIRECTS + 1, middlewares=(guard,)
                ) as answer:
                    return await _read(answer)
        except TimeoutError as error:
            raise HttpTimeout(f"{where} did not respond within {format_duration(longest or 0)}.") from error
        except aiohttp.ClientError as error:
            raise _translated(error, where) from error
        except ValueError as error:
            raise HttpBadRequest(f"{where}: the request cannot be made.") from error

    async def post(self, address: str, headers: dict[str, str], body: bytes, longest: int) -> PostReply:
        """Post a body, and return whatever comes back; redirects are not followed, and little is read."""
        try:
            url = URL(address)
        except ValueError as error:
            raise HttpBadRequest("The address is not valid.") from error
        where = f"POST {url.host}"
        try:
            async with asyncio.timeout(longest / 1000):
                async with self._session.post(url, headers=headers, data=body, allow_redirects=False) as answer:
                    text = await read_beginning(answer, _MOST_OF_REPLY)
                    return PostReply(
                        status=answer.status, text=text, retry_after=answer.headers.get("Retry-After", "")[:100]
                    )
        except TimeoutError as error:
            raise HttpTimeout(f"{where} did not respond within {format_duration(longest)}.") from error
        except aiohttp.ClientError as error:
            raise _translated(error, where) from error
        except ValueError as error:
            raise HttpBadRequest(f"{where}: the request cannot be made.") from error

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def _translated(error: aiohttp.ClientError, where: str) -> HttpError:
    """Return an error of the library as one of ours, without its text: that may contain the whole address."""
    cause = error.__cause__
    if isinstance(cause, AddressRefused):
        return HttpRefused(f"{where}: refused, because the address is not public (`http_private`).")
    if isinstance(error, aiohttp.TooManyRedirects):
        return HttpBadAnswer(f"{where} redirects more than {_REDIRECTS} times.")
    if isinstance(error, aiohttp.RedirectClientError):
        return HttpBadAnswer(f"{where} redirects to an invalid address.")
    if isinstance(error, aiohttp.ClientResponseError):
        return HttpBadAnswer(f"{where} sent a response that is not HTTP, or whose headers are too large.")
    if isinstance(error, aiohttp.InvalidURL):
        return HttpBadRequest(f"{where}: `url` is not a valid address.")
    reason = cause if isinstance(cause, OSError) else type(error).__name__
    return HttpUnreachable(f"{where} cannot be reached: {reason}.")


async def _read(answer: aiohttp.ClientResponse) -> dict[str, object]:
    where = f"{answer.method} {answer.url.host}"
    if answer.status >= 400:
        error = HttpStatus(f"{where} responded with status {answer.status}.", answer.status)
        error.answer = await read_head(answer)
        raise error
    raw = bytearray()
    plain = b""
    try:
        async for part in answer.content.iter_any():
            raw += part
            _bound(len(raw), where)
        encoding = answer.headers.get("Content-Encoding", "")
        plain = await decompress(bytes(raw), encoding, where, lambda size: _bound(size, where))
        return {"status": answer.status, "headers": _headers(answer), "body": _decoded(answer, plain, where)}
    except HttpError as error:
        error.answer = head_of(answer, plain or raw)
        raise


def _headers(answer: aiohttp.ClientResponse) -> dict[str, str]:
    """Return the headers by their names in lower case; repeated headers are joined into one."""
    found: dict[str, str] = {}
    for name, value in answer.headers.items():
        clean = value.encode(errors="surrogateescape").decode(errors="replace")
        known = name.lower()
        found[known] = f"{found[known]}, {clean}" if known in found else clean
    return found


def _decoded(answer: aiohttp.ClientResponse, raw: bytes, where: str) -> object:
    """Return a body as data if it is JSON, and as text if it is text."""
    if not raw:
        return None
    kind = answer.content_type
    if not (is_json(kind) or kind.startswith("text/") or kind == "application/xml" or kind.endswith("+xml")):
        raise HttpBadAnswer(f"{where} responded with `{kind[:100]}`: only JSON and text can be stored.")
    try:
        text = raw.decode(_charset(answer.charset or "utf-8")).removeprefix("\ufeff")
        return msgspec.json.decode(text) if is_json(kind) else text
    except (LookupError, ValueError, RecursionError) as error:
        raise HttpBadAnswer(f"{where} responded with a body that is not valid `{kind[:100]}`.") from error


def _charset(name: str) -> str:
    """Return a known charset: Python has codecs that are not charsets, and some of them are very slow."""
    known = codecs.lookup(name).name
    if known not in _CHARSETS:
        raise LookupError(name)
    return known


def _bound(size: int, where: str) -> None:
    if size > MAX_INLINE:
        message = f"{where} responded with more than {MAX_INLINE:,} bytes, which is too much to store."
        raise HttpBadAnswer(message, code="payload_too_large")
