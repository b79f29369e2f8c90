"""Signals, and replies to callbacks.

The token of a callback is all that is shown with a reply: no API key is sent. A reply is given once; if the connection
is lost on its way, it is not sent again, for it may have been taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.client.requests import ClientRequest, json_of, path_of, post
from layover.core.payloads import plain
from layover.errors import BadUse
from layover.model.signals import CallbackFailure, SignalBody, SignalReceipt

if TYPE_CHECKING:
    from layover.client.transport import Transport


class HttpSignals:
    """What systems outside tell."""

    __slots__ = ("_transport",)

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, name: str, data: object, key: str, id: str | None) -> SignalReceipt:  # noqa: A002 - as the interface
        """Send a signal."""
        body = SignalBody(name=name, key=key, data=plain(data), id=id)
        return await self._transport.ask(post(path_of("signals"), body), SignalReceipt)

    async def complete(self, token: str | None, point_id: str | None, output: object) -> None:
        """Give the output that a callback node waits for."""
        await self._transport.send(_reply(_path(token, point_id), json_of(plain(output))))

    async def fail(self, token: str | None, point_id: str | None, message: str, *, retryable: bool) -> None:
        """Say that what a callback node waits for has failed."""
        body = CallbackFailure(message=message, retryable=retryable)
        await self._transport.send(_reply(_path(token, point_id, "fail"), json_of(body)))

    async def heartbeat(self, token: str | None, point_id: str | None) -> None:
        """Say that what a callback node waits for is still being worked at."""
        await self._transport.send(_reply(_path(token, point_id, "heartbeat"), json_of({}), repeatable=True))


def _path(token: str | None, point_id: str | None, *act: str) -> str:
    if token is None or point_id is not None:
        raise BadUse("Over HTTP a callback is known by its token.")
    return path_of("callbacks", token, *act)


def _reply(path: str, body: bytes, *, repeatable: bool = False) -> ClientRequest:
    return ClientRequest(method="POST", path=path, body=body, repeatable=repeatable, with_credentials=False)
