"""Requests over HTTP. Nothing that comes back is trusted: neither its size, nor its pace, nor what it says it is."""

from __future__ import annotations

import asyncio
import codecs
from typing import TYPE_CHECKING

import aiohttp
import msgspec

from layover.core.definitions.durations import format_duration
from layover.core.payloads import MAX_INLINE
from layover.nodes.http_addresses import AddressRefused, guarded
from layover.nodes.http_compression import decompressed
from layover.nodes.http_errors import (
    HttpBadAnswer,
    HttpBadRequest,
    HttpError,
    HttpRefused,
    HttpStatus,
    HttpTimeout,
    HttpUnreachable,
)
from layover.nodes.http_request import is_json, read_request

if TYPE_CHECKING:
    from collections.abc import Callable

    Connect = Callable[[], aiohttp.BaseConnector]

_REDIRECTS = 5
_KEPT_ALIVE = 4.0  # seconds: many servers hang up after five, and a request must not cross that on its way
_CHARSETS = frozenset({"utf-8", "utf-8-sig", "ascii", "iso8859-1", "iso8859-15", "cp1252", "utf-16"})
_OWN = {"User-Agent": "layover", "Accept-Encoding": "gzip, deflate"}


def _by_sockets(may_reach: Callable[[str], bool]) -> aiohttp.BaseConnector:
    # How many are made at once, and how long each may take, is decided by whoever makes them.
    return aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT_ALIVE, socket_factory=guarded(may_reach))


class HttpClient:
    """Makes requests, over connections that are used again; it remembers nothing else from one to the next."""

    def __init__(self, may_reach: Callable[[str], bool], connect: Connect | None = None) -> None:
        self._session = aiohttp.ClientSession(
            connector=connect() if connect is not None else _by_sockets(may_reach),
            timeout=aiohttp.ClientTimeout(),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            headers=_OWN,
        )

    async def send(self, given: dict[str, object], key: str, longest: int | None) -> dict[str, object]:
        """Make a request, and return what was answered; the key tells the other side that it is the same again."""
        request = read_request(given)
        url = request.target()
        headers, body = request.outgoing(key)
        where = f"{request.method} {url.host}"
        try:
            async with asyncio.timeout(None if longest is None else longest / 1000):
                # The number is that of the redirect which is not followed any more.
                async with self._session.request(
                    request.method, url, headers=headers, data=body, max_redirects=_REDIRECTS + 1
                ) as answer:
                    return await _read(answer)
        except TimeoutError as error:
            raise HttpTimeout(f"{where} has not answered within {format_duration(longest or 0)}.") from error
        except aiohttp.ClientError as error:
            raise _translated(error, where) from error
        except ValueError as error:
            raise HttpBadRequest(f"{where}: the request cannot be made.") from error

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def _translated(error: aiohttp.ClientError, where: str) -> HttpError:
    """Return an error of the library as one of ours, without its text: that may hold the whole address."""
    cause = error.__cause__
    if isinstance(cause, AddressRefused):
        return HttpRefused(f"{where}: refused, because the address is not public (`http_private`).")
    if isinstance(error, aiohttp.TooManyRedirects):
        return HttpBadAnswer(f"{where} redirects more than {_REDIRECTS} times.")
    if isinstance(error, aiohttp.RedirectClientError):
        return HttpBadAnswer(f"{where} redirects to what is no address.")
    if isinstance(error, aiohttp.ClientResponseError):
        return HttpBadAnswer(f"{where} answers what is no HTTP, or has headers that are too large.")
    if isinstance(error, aiohttp.InvalidURL):
        return HttpBadRequest(f"{where}: `url` is no address.")
    reason = cause if isinstance(cause, OSError) else type(error).__name__
    return HttpUnreachable(f"{where} cannot be reached: {reason}.")


async def _read(answer: aiohttp.ClientResponse) -> dict[str, object]:
    where = f"{answer.method} {answer.url.host}"
    if answer.status >= 400:
        raise HttpStatus(f"{where} answers {answer.status}.", answer.status)
    raw = bytearray()
    async for part in answer.content.iter_any():
        raw += part
        _bound(len(raw), where)
    encoding = answer.headers.get("Content-Encoding", "")
    plain = await decompressed(bytes(raw), encoding, where, lambda size: _bound(size, where))
    return {"status": answer.status, "headers": _headers(answer), "body": _decoded(answer, plain, where)}


def _headers(answer: aiohttp.ClientResponse) -> dict[str, str]:
    """Return the headers by their names in small letters; one that stands there several times is one list."""
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
        raise HttpBadAnswer(f"{where} answers with `{kind[:100]}`: only JSON and text can be kept.")
    try:
        text = raw.decode(_charset(answer.charset or "utf-8")).removeprefix("\ufeff")
        return msgspec.json.decode(text) if is_json(kind) else text
    except (LookupError, ValueError, RecursionError) as error:
        raise HttpBadAnswer(f"{where} answers with what is not the `{kind[:100]}` that it says.") from error


def _charset(name: str) -> str:
    """Return a charset that we know: Python has codecs that are no charsets, and some of them take very long."""
    known = codecs.lookup(name).name
    if known not in _CHARSETS:
        raise LookupError(name)
    return known


def _bound(size: int, where: str) -> None:
    if size > MAX_INLINE:
        message = f"{where} answers with more than {MAX_INLINE:,} bytes, which are too many to be kept."
        raise HttpBadAnswer(message, code="payload_too_large")
