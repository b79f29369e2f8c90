"""A server, asked from a script or a notebook: the same client, on an event loop in a thread of its own.

    with Client("https://layover.example.org", key=key) as client:
        execution = client.executions.start("refund", {"amount": 250}, wait="10s")

Nothing is decided here: each method has the signature of the asynchronous one, and waits for it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self, TypeVar

from layover.client.async_client import opened
from layover.client.errors import ClientClosed
from layover.client.sync.access import Audit, Keys
from layover.client.sync.executions import Executions
from layover.client.sync.points import Approvals, Points, Resuming
from layover.client.sync.signals_and_callbacks import Callbacks, Signals
from layover.client.sync.workflows import Workflows
from layover.runtime.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ssl import SSLContext
    from types import TracebackType

    from layover.api.resources.executions import Event
    from layover.client.request_policy import RequestPolicy
    from layover.client.requests import ClientRequest
    from layover.client.transport import Transport

T = TypeVar("T")


class Client:
    """What a server offers, by family; every call blocks. See `AsyncClient`, which this is."""

    def __init__(
        self, url: str, *, key: str | None = None, patience: RequestPolicy | None = None, ssl: SSLContext | None = None
    ) -> None:
        self._transport = SyncTransport(opened(url, key, patience, ssl))
        self.executions = Executions(self._transport)
        self.points = Points(self._transport)
        self.approvals = Approvals(self._transport)
        self.resuming = Resuming(self._transport)
        self.signals = Signals(self._transport)
        self.callbacks = Callbacks(self._transport)
        self.workflows = Workflows(self._transport)
        self.keys = Keys(self._transport)
        self.audit = Audit(self._transport)

    def close(self) -> None:
        """Close all connections; `with` does it at its end."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SyncTransport:
    """The way to a server, for a program without an event loop."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._own = LoopThread(
            "layover-client",
            closed=ClientClosed("The client is closed."),
            ended=ClientClosed("The client was closed meanwhile."),
            inside="This would block the client itself.",
        )

    def ask(self, ask: ClientRequest, kind: type[T]) -> T:
        """Have something done, and return what is answered."""
        return self._open().wait(self._transport.ask(ask, kind))

    def do(self, ask: ClientRequest) -> None:
        """Have something done that nothing is answered to."""
        self._open().wait(self._transport.do(ask))

    def follow(self, execution_id: str, since: int) -> Iterator[Event]:
        """Return the events of an execution as they are written."""
        own, events = self._open(), self._transport.follow(execution_id, since)

        async def following() -> Event | None:
            return await anext(events, None)

        async def leave() -> None:
            await events.aclose()

        try:
            while (event := own.wait(following())) is not None:
                yield event
        finally:
            if own.runs:
                own.wait(leave())

    def close(self) -> None:
        """Close all connections; the next request opens others."""
        if self._own.runs:
            try:
                self._own.wait(self._leave())
            finally:
                self._own.end()

    async def _leave(self) -> None:
        """Give up what is still waited for, so that nothing opens a connection again, and close all."""
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._transport.close()

    def _open(self) -> LoopThread:
        if not self._own.runs:
            self._own.start()
        return self._own
