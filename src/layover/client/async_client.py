"""A server, asked from a program that runs an event loop.

async with AsyncClient("https://layover.example.org", key=key) as client:
    execution = await client.executions.start("refund", {"amount": 250}, wait="10s")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from layover.client.base_url import ServerAddress
from layover.client.calls.access import Audit, Keys
from layover.client.calls.executions import Executions
from layover.client.calls.points import Approvals, Points, Resuming
from layover.client.calls.signals_and_callbacks import Callbacks, Signals
from layover.client.calls.workflows import Workflows
from layover.client.errors import NotInstalled
from layover.client.request_policy import RequestPolicy

if TYPE_CHECKING:
    from ssl import SSLContext
    from types import TracebackType

    from layover.client.transport import Transport


class AsyncClient:
    """What a server offers, by family. Who asks is known by the key alone; it is shown to this server only.

    Every call that changes something may be made again by itself after a fault: it has a key by which the server knows
    that it is the same. Whatever is refused is an `ApiError` with the code that the engine itself gives.
    """

    def __init__(
        self, url: str, *, key: str | None = None, patience: RequestPolicy | None = None, ssl: SSLContext | None = None
    ) -> None:
        self._transport = opened(url, key, patience, ssl)
        self.executions = Executions(self._transport)
        self.points = Points(self._transport)
        self.approvals = Approvals(self._transport)
        self.resuming = Resuming(self._transport)
        self.signals = Signals(self._transport)
        self.callbacks = Callbacks(self._transport)
        self.workflows = Workflows(self._transport)
        self.keys = Keys(self._transport)
        self.audit = Audit(self._transport)

    async def close(self) -> None:
        """Close all connections; `async with` does it at its end."""
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def opened(url: str, key: str | None, patience: RequestPolicy | None, ssl: SSLContext | None) -> Transport:
    """Return the way to a server; nothing is sent yet."""
    place = ServerAddress(url, key)
    try:
        from layover.client.transport import Transport  # noqa: PLC0415 - only who needs it loads it
    except ModuleNotFoundError as error:
        message = f"The client needs `{error.name}`: install it with `pip install layover[http]`."
        raise NotInstalled(message) from error
    return Transport(place, patience or RequestPolicy(), ssl=ssl)
