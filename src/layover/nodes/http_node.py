"""The function that `http` nodes call; every engine has it.

The HTTP client is loaded with the first request: programs without `http` nodes need not install it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from layover.nodes.context import masker_of
from layover.nodes.http_errors import HttpNotInstalled

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.nodes.context import NodeContext
    from layover.nodes.http_client import Connect, HttpClient


class HttpNode:
    """Makes the requests of one engine, until it is closed."""

    def __init__(self, timeout: int, may_reach: Callable[[str], bool], connect: Connect | None = None) -> None:
        self._timeout = timeout
        self._may_reach = may_reach
        self._connect = connect  # instead of sockets
        self._client: HttpClient | None = None

    async def __call__(self, context: NodeContext, **given: object) -> dict[str, object]:
        """Make the request that the input describes, and return its `status`, `headers` and `body`."""
        key = quote(context.idempotency_key, safe="/:")  # headers are ASCII
        # The engine itself stops a call whose node has a timeout.
        longest = None if context.has_timeout else self._timeout
        return await self._open().send(given, key, longest, masker_of(context))

    async def close(self) -> None:
        """Close the connections; the next request opens others."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _open(self) -> HttpClient:
        if self._client is None:
            try:
                from layover.nodes.http_client import HttpClient  # noqa: PLC0415 - loaded only when needed
            except ModuleNotFoundError as error:
                message = f"`http` nodes need `{error.name}`: install it with `pip install layover[http]`."
                raise HttpNotInstalled(message) from error
            self._client = HttpClient(self._may_reach, self._connect)
        return self._client
