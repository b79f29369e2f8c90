"""Redirects to another origin: they get no credentials.

The server that answers a request chooses where a redirect leads. The library leaves out `Authorization` and `Cookie`
there; here go all headers whose name says that they have a credential, and all that have a secret in them. A body with
a secret is not sent on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.nodes.http_errors import HttpRefused
from layover.redaction import names_credential

if TYPE_CHECKING:
    from aiohttp import ClientHandlerType, ClientRequest, ClientResponse
    from yarl import URL

    from layover.masking import Masker


class RedirectGuard:
    """Looks at each request that is made in the place of a first one."""

    def __init__(self, first: URL, body: bytes | None, masker: Masker | None) -> None:
        self._origin = first.origin()
        self._body = body
        self._masker = masker

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Send a request, without what its origin must not get."""
        if request.url.origin() != self._origin:
            for name in [name for name, value in request.headers.items() if self._is_credential(name, value)]:
                request.headers.popall(name, None)
            if request.method not in ("GET", "HEAD") and self._has_secret():
                message = f"{request.method} {self._origin.host} redirects to another host, which must not get secrets."
                raise HttpRefused(message)
        return await handler(request)

    def _is_credential(self, name: str, value: str) -> bool:
        return names_credential(name) or (self._masker is not None and self._masker.holds(value))

    def _has_secret(self) -> bool:
        if self._masker is None or not self._body:
            return False
        return self._masker.holds(self._body.decode(errors="replace"))
