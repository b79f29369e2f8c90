"""The client: workflows of a server, asked from another program.

async with Client("https://layover.example.org", api_key=key) as client:
    execution = await client.start("refund", {"amount": 250}, until="people", timeout="10s")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from layover.client.base_url import ServerAddress
from layover.client.request_policy import RequestPolicy
from layover.errors import BadUse
from layover.interface.door import Door
from layover.interface.durations import Duration, seconds_of

if TYPE_CHECKING:
    from ssl import SSLContext
    from types import TracebackType

    from layover.interface.callback_handle import CallbackHandle


class Client(Door):
    """A server, open for the length of an `async with`: the API key says who acts, and is shown to this server only.

    Every request that changes something may be repeated after a fault: it has a key by which the server knows it. What
    the server refuses is the error that an engine raises.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        policy: RequestPolicy | None = None,
        ssl: SSLContext | None = None,
    ) -> None:
        address = ServerAddress(url, api_key)
        try:
            from layover.client.backend.backend import HttpBackend  # noqa: PLC0415 - only who needs it loads it
            from layover.client.transport import Transport  # noqa: PLC0415 - the same
        except ModuleNotFoundError as error:
            message = f"The client needs `{error.name}`: install it with `pip install layover[http]`."
            raise BadUse(message, code="not_installed") from error
        self._transport = Transport(address, policy or RequestPolicy(), ssl=ssl)
        self._backend = HttpBackend(self._transport)

    async def __aenter__(self) -> Self:
        self._transport.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self, grace: Duration | None = None) -> None:
        """Let requests be answered for a while, give up the rest, and close; `async with` does it at its end."""
        await self._transport.close(seconds_of("grace", grace))

    def callback(self, token: str | None = None, *, point_id: str | None = None) -> CallbackHandle:
        """Return the callback that a token belongs to, to reply to it; only an engine knows it by `point_id`."""
        if point_id is not None:
            raise BadUse("Over HTTP a callback is known by its token: `point_id` is for an embedded engine.")
        return super().callback(token)
