"""The access log: one line for each request, by its route and never by its path or query, which may hold a token.

What a caller may not do is a warning, with the address that it came from. Strangers can cause such lines, and lines
about requests that are refused before their caller is known: only so many of them are written. Requests that only look
after the server itself, such as health checks, are for debugging.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final

from layover.api.log_limits import LogLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Scope

    from layover.api.trusted_proxies import TrustedProxies

_log = logging.getLogger("layover.access")

CALLER: Final = "layover.caller"  # the key in a scope under which the caller is noted, once it is known
_DENIED: Final = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})
_LINES, _SECONDS = 60, 10.0
_OPERATIONS: Final = "/api/"


class AccessLog:
    """Writes a line for each request."""

    def __init__(self, proxies: TrustedProxies, clock: Callable[[], float] = monotonic) -> None:
        self._proxies = proxies
        self._denials = LogLimit(_LINES, _SECONDS, clock)
        self._strangers = LogLimit(_LINES, _SECONDS, clock)

    def answered(self, scope: Scope, request_id: str, route: str, status: int, began: float) -> None:
        """Note a request that was answered."""
        level = logging.INFO if route.startswith(_OPERATIONS) else logging.DEBUG
        if _log.isEnabledFor(level):
            values = request_id, status, scope["method"], route, scope.get(CALLER), _milliseconds(began)
            # `Logger.log` would search the stack each time for the line of source that logs.
            line = _log.makeRecord(
                *(_log.name, level, __file__, 0),
                "request_answered request=%s status=%d method=%s route=%s caller=%s ms=%d",
                *(values, None),
            )
            _log.handle(line)

    def refused(self, scope: Scope, request_id: str, route: str, refusal: tuple[int, str], began: float) -> None:
        """Note a request that was refused, by its status and code; with its address if it was denied."""
        status, code = refusal
        if status in _DENIED:
            self._denied(scope, request_id, route, refusal, began)
        elif _log.isEnabledFor(logging.INFO):
            caller = scope.get(CALLER)
            left_out = self._strangers.take() if caller is None else 0
            if left_out is not None:
                _log.info(
                    "request_refused request=%s status=%d code=%s method=%s route=%s caller=%s ms=%d left_out=%d",
                    *(request_id, status, code, scope["method"], route, caller, _milliseconds(began), left_out),
                )

    def _denied(self, scope: Scope, request_id: str, route: str, refusal: tuple[int, str], began: float) -> None:
        left_out = self._denials.take()
        if left_out is not None:
            status, code = refusal
            _log.warning(
                "request_denied request=%s status=%d code=%s method=%s route=%s caller=%s address=%s ms=%d left_out=%d",
                *(request_id, status, code, scope["method"], route, scope.get(CALLER)),
                *(self._proxies.address_of(scope), _milliseconds(began), left_out),
            )


def _milliseconds(began: float) -> int:
    return round((perf_counter() - began) * 1000)
