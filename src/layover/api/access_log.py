"""The access log: one line for each request, by its route and never by its path or query, which may hold a token.

What is refused to a caller is a warning, with the address that it came from; strangers can cause such lines, so only so
many of them are written. Requests that only look after the server itself, such as health checks, are for debugging.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from time import perf_counter
from typing import TYPE_CHECKING, Final

from layover.api.log_limits import LogLimit

if TYPE_CHECKING:
    from starlette.types import Scope

    from layover.api.trusted_proxies import TrustedProxies

_log = logging.getLogger("layover.access")

CALLER: Final = "layover.caller"  # the key in a scope under which the caller is noted, once it is known
_DENIED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})
_LINES, _SECONDS = 60, 10.0
_OPERATIONS: Final = "/api/"


class AccessLog:
    """Writes a line for each request."""

    def __init__(self, proxies: TrustedProxies) -> None:
        self._proxies = proxies
        self._limit = LogLimit(_LINES, _SECONDS)

    def answered(self, scope: Scope, request_id: str, route: str, status: int, began: float) -> None:
        """Note a request that was answered."""
        level = logging.INFO if route.startswith(_OPERATIONS) else logging.DEBUG
        if _log.isEnabledFor(level):
            _log.log(
                level,
                "request_answered request=%s status=%d method=%s route=%s caller=%s ms=%d",
                *(request_id, status, scope["method"], route, scope.get(CALLER), _milliseconds(began)),
            )

    def refused(self, scope: Scope, request_id: str, route: str, refusal: tuple[int, str], began: float) -> None:
        """Note a request that was refused, by its status and code; with its address if it was denied."""
        status, code = refusal
        if status in _DENIED:
            self._denied(scope, request_id, route, refusal, began)
        elif _log.isEnabledFor(logging.INFO):
            _log.info(
                "request_refused request=%s status=%d code=%s method=%s route=%s caller=%s ms=%d",
                *(request_id, status, code, scope["method"], route, scope.get(CALLER), _milliseconds(began)),
            )

    def _denied(self, scope: Scope, request_id: str, route: str, refusal: tuple[int, str], began: float) -> None:
        left_out = self._limit.take()
        if left_out is not None:
            status, code = refusal
            _log.warning(
                "request_denied request=%s status=%d code=%s method=%s route=%s caller=%s address=%s ms=%d left_out=%d",
                *(request_id, status, code, scope["method"], route, scope.get(CALLER)),
                *(self._proxies.address_of(scope), _milliseconds(began), left_out),
            )


def _milliseconds(began: float) -> int:
    return round((perf_counter() - began) * 1000)
