"""What is kept of a request that failed: its line, and the head of the response, without credentials."""

from __future__ import annotations

import asyncio
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import aiohttp

from layover.masking import MASK
from layover.redaction import SHORTEST_SECRET, names_credential, redact

if TYPE_CHECKING:
    from yarl import URL

    from layover.nodes.http_errors import HttpError
    from layover.nodes.http_request import HttpNodeRequest

_LONGEST_LINE: Final = 500
_LONGEST_ANSWER: Final = 1_000
_READ: Final = 4_000  # bytes of a response that is not read otherwise
_PATIENCE: Final = 1.0  # seconds for those: the status is known, and counts more than its text


def describe_request(error: HttpError, request: HttpNodeRequest, url: URL) -> None:
    """Give an error the line of its request, and remove from it what the request sent as credentials."""
    line, answer = f"{request.method} {url.with_user(None)}", error.answer
    for secret in _secrets_of(request):
        line, answer = line.replace(secret, MASK), answer.replace(secret, MASK)
    error.request, error.answer = redact(line, _LONGEST_LINE), redact(answer, _LONGEST_ANSWER)


def head_of(answer: aiohttp.ClientResponse, raw: bytes | bytearray) -> str:
    """Return the status line of a response and the beginning of its body, as far as that is text."""
    text = raw[:_READ].decode(errors="replace").replace("\0", "")
    return _status_line(answer) + (f"\n{text}" if text else "")


async def read_head(answer: aiohttp.ClientResponse) -> str:
    """Return the same of a response whose body has not been read, and need not be."""
    text = await read_beginning(answer, _READ)
    return _status_line(answer) + (f"\n{text}" if text else "")


async def read_beginning(answer: aiohttp.ClientResponse, most: int) -> str:
    """Return the beginning of a body as text; a body that does not come to its end tells no less by its status."""
    raw = bytearray()
    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(_PATIENCE):
            while len(raw) < most and (part := await answer.content.read(most - len(raw))):
                raw += part
    if answer.headers.get("Content-Encoding"):
        with suppress(zlib.error):
            raw = bytearray(zlib.decompressobj(wbits=47).decompress(bytes(raw), _READ))
    return raw[:_READ].decode(errors="replace").replace("\0", "")


def _status_line(answer: aiohttp.ClientResponse) -> str:
    return f"{answer.status} {answer.reason or ''}".rstrip()


def _secrets_of(request: HttpNodeRequest) -> list[str]:
    """Return what a request sends as credentials, the longest first: a shorter one may be part of it."""
    found = [value for name, value in request.headers.items() if isinstance(value, str) and names_credential(name)]
    if request.auth is not None:
        basic, bearer = request.auth.basic, request.auth.bearer
        found += [basic.password] if basic is not None else []
        found += [bearer] if bearer is not None else []
        found += [request.auth.header().partition(" ")[2]]
    return sorted((one for one in found if len(one) >= SHORTEST_SECRET), key=len, reverse=True)
