"""Answers on their way out: a reply, a refusal or a stream, each with the headers that every answer has."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from typing import TYPE_CHECKING

from layover.api.request import Response, Stream
from layover.pages.layout import HTML
from layover.pages.layout import headers as page_headers
from layover.pages.problem import problem_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.types import Message, Receive, Scope, Send

    from layover.api.problems import Refusal

_log = logging.getLogger("layover.api")

CONNECTION = "layover.connection"  # the extension of a server that tells of a connection, and can drop it

SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
_JSON = "application/json"
# The head of nearly every answer, encoded once.
_ENCODED = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
_ENCODED_JSON = (b"content-type", _JSON.encode())


class Answering:
    """Sends what is answered to one request, unless its connection is closed by then."""

    def __init__(self, send: Send, request_id: str, scope: Scope, *, is_head: bool, is_page: bool = False) -> None:
        self._send_on = send
        self._request_id = request_id
        self._connection = scope.get("extensions", {}).get(CONNECTION, {})
        self._is_head = is_head
        self._is_page = is_page

    async def refuse(self, refusal: Refusal) -> None:
        """Say why not, to a program or to a person."""
        if self._is_page:
            shown = problem_page(refusal.problem(self._request_id))
            await self.reply(Response(shown, refusal.status, {**refusal.headers, **page_headers()}, HTML))
        else:
            await self.reply(problem_response(refusal, self._request_id))

    async def reply(self, reply: Response) -> None:
        """Send an answer."""
        body = reply.encoded()
        if reply.headers or reply.cookies or reply.media_type != _JSON or reply.status == 204:
            headers = {**SECURITY_HEADERS, **reply.headers}
            if reply.status != 204:
                headers["content-type"] = reply.media_type
                headers["content-length"] = str(len(body))
            await self._begin(reply.status, headers, reply.cookies)
        else:
            length = (b"content-length", b"%d" % len(body))
            request_id = (b"x-request-id", self._request_id.encode())
            head = [*_ENCODED, _ENCODED_JSON, length, request_id]
            await self._send({"type": "http.response.start", "status": reply.status, "headers": head})
        await self._send({"type": "http.response.body", "body": b"" if self._is_head else body})

    async def stream(self, stream: Stream, receive: Receive, stalled_after: float) -> None:
        """Send pieces as they come; a client that has gone, or takes none for too long, is let go."""
        loop = asyncio.get_running_loop()
        sending = loop.create_task(self._send_pieces(stream, stalled_after))
        leaving = loop.create_task(_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sending.cancel()
            leaving.cancel()
            ended, _ = await asyncio.gather(sending, leaving, return_exceptions=True)
            if isinstance(ended, Exception):
                _log.info("stream_let_go request=%s error=%r", self._request_id, ended)
                # What waits to be sent to a client that takes nothing would be kept for as long as it likes.
                abort = self._connection.get("abort")
                if abort is not None:
                    abort()
                    await asyncio.sleep(0)  # the server learns of it before we return

    async def _send_pieces(self, stream: Stream, stalled_after: float) -> None:
        async with aclosing(stream.pieces) as pieces:
            await self._begin(200, {**SECURITY_HEADERS, "content-type": stream.media_type, **stream.headers})
            if not self._is_head:
                async for piece in pieces:
                    async with asyncio.timeout(stalled_after):
                        await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            await self._send({"type": "http.response.body", "body": b""})

    async def _send(self, message: Message) -> None:
        is_closing = self._connection.get("is_closing")
        if is_closing is None or not is_closing():  # the server learns later than the socket that a client has gone
            await self._send_on(message)

    async def _begin(self, status: int, headers: Mapping[str, str], cookies: Sequence[str] = ()) -> None:
        all_headers = [*headers.items(), ("x-request-id", self._request_id), *(("set-cookie", one) for one in cookies)]
        await self._send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in all_headers],
            }
        )


async def _gone(receive: Receive) -> None:
    """Return when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def problem_response(refusal: Refusal, request_id: str) -> Response:
    """Return a refusal as a program gets it."""
    return Response(refusal.problem(request_id), refusal.status, refusal.headers, "application/problem+json")
