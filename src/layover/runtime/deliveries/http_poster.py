"""Posts to webhooks and chats, to the addresses that `http` nodes may reach; by https, unless those may be private.

The HTTP client is loaded with the first post: programs that send none need not install it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from layover.nodes.http_addresses import anywhere, is_public
from layover.nodes.http_errors import HttpBadRequest, HttpError, HttpRefused
from layover.redaction import redact
from layover.runtime.deliveries.outcomes import LONGEST_REPLY, failed, hopeless, judge_http

if TYPE_CHECKING:
    from layover.nodes.http_client import Connect, HttpClient
    from layover.runtime.deliveries.outcomes import SendOutcome


class HttpPoster:
    """Makes the posts of one engine, until it is closed."""

    def __init__(self, *, private: bool, connect: Connect | None = None) -> None:
        self._private = private
        self._connect = connect  # instead of sockets
        self._client: HttpClient | None = None

    async def post(self, address: str, headers: dict[str, str], body: bytes, longest: int, now: int) -> SendOutcome:
        """Post a body within so many milliseconds, and judge what comes back."""
        if urlsplit(address).scheme != "https" and not self._private:
            return hopeless("not_https", "The address does not begin with `https://` (`http_private`).")
        try:
            client = self._open()
        except ModuleNotFoundError as error:
            return failed("http_not_installed", f"`{error.name}` is missing: `pip install layover[http]`.")
        try:
            reply = await client.post(address, headers, body, longest)
        except (HttpRefused, HttpBadRequest) as error:
            return hopeless(error.code, redact(error.message, LONGEST_REPLY))
        except HttpError as error:
            return failed(error.code, redact(error.message, LONGEST_REPLY))
        return judge_http(reply.status, redact(reply.text, LONGEST_REPLY), reply.retry_after, now)

    async def close(self) -> None:
        """Close the connections; the next post opens others."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _open(self) -> HttpClient:
        if self._client is None:
            from layover.nodes.http_client import HttpClient  # noqa: PLC0415 - loaded only when needed

            self._client = HttpClient(anywhere if self._private else is_public, self._connect)
        return self._client
