"""Signals and callbacks: what systems outside tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.resources.signals_and_callbacks import CallbackFailure, Delivered, SignalBody
from layover.client.requests import ClientRequest, path_of, post, written

if TYPE_CHECKING:
    from layover.client.transport import Transport


class Signals:
    """Signals to a server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(
        self,
        name: str,
        key: str = "",
        data: object = None,
        *,
        id: str | None = None,  # noqa: A002 - as everybody says
    ) -> Delivered:
        """Bring a signal to whoever waits for its name and key; the same id again is the same signal."""
        body = SignalBody(name=name, key=key, data=data, id=id)
        return await self._transport.ask(post(path_of("signals"), body, None), Delivered)


class Callbacks:
    """Replies to what callback nodes have asked for. The token is all that is shown: no key is sent with it.

    A reply is given once. If the connection is lost on its way, it is not sent again, for it may have been taken.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def complete(self, token: str, output: object = None) -> None:
        """Give the reply that a callback node waits for."""
        await self._transport.do(_reply(path_of("callbacks", token), written(output)))

    async def fail(self, token: str, message: str = "", *, retryable: bool = True) -> None:
        """Say that what a callback node waits for has failed."""
        body = CallbackFailure(message=message, retryable=retryable)
        await self._transport.do(_reply(path_of("callbacks", token, "fail"), written(body)))

    async def heartbeat(self, token: str) -> None:
        """Say that what a callback node waits for is still being worked at."""
        await self._transport.do(_reply(path_of("callbacks", token, "heartbeat"), written({}), repeatable=True))


def _reply(path: str, body: bytes, *, repeatable: bool = False) -> ClientRequest:
    return ClientRequest(method="POST", path=path, body=body, repeatable=repeatable, known=False)
