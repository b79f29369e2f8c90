"""Guessing credentials: who has shown too many that are not valid is not looked at for a while.

Different ones are counted, by the address that they come from: a client that sends one old key again and again guesses
nothing, and does not lock out those who share its address. Once there are too many, no credentials from that address
are checked until the first of them is forgotten, so that a right guess looks like a wrong one.
"""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Final

from layover.api.log_limits import LogLimit
from layover.api.problems import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Scope

    from layover.api.trusted_proxies import TrustedProxies

_log = logging.getLogger("layover.api")

_MOST_ADDRESSES: Final = 10_000
_LINES, _SECONDS = 20, 10.0  # of the log


class Guesses:
    """Counts credentials that were not valid; `limit` is how many of an address in how many seconds."""

    def __init__(
        self,
        limit: tuple[int, float] | None,
        proxies: TrustedProxies,
        clock: Callable[[], float] = monotonic,
        most_addresses: int = _MOST_ADDRESSES,
    ) -> None:
        self._limit = limit
        self._proxies = proxies
        self._clock = clock
        self._most_addresses = most_addresses
        # By address: when each was last shown, by a hash that is another in each process; the oldest first.
        self._shown: OrderedDict[str, OrderedDict[int, float]] = OrderedDict()
        self._lines = LogLimit(_LINES, _SECONDS, clock)

    def check(self, scope: Scope) -> None:
        """Refuse a request with credentials from an address that has shown too many."""
        if self._limit is None or not self._shown:
            return
        limit, seconds = self._limit
        address = self._proxies.address_of(scope)
        shown = self._shown.get(address)
        if shown is None:
            return
        now = self._clock()
        while shown and next(iter(shown.values())) + seconds <= now:
            shown.popitem(last=False)
        if not shown:
            del self._shown[address]
        elif len(shown) >= limit:
            wait = next(iter(shown.values())) + seconds - now
            message = "Too many credentials that are not valid came from this address."
            raise Refusal("rate_limited", message, headers={"retry-after": str(max(1, math.ceil(wait)))})

    def note(self, scope: Scope, credentials: object, request_id: str) -> None:
        """Count credentials that were not valid, and write it down."""
        address = self._proxies.address_of(scope)
        left_out = self._lines.take()
        if left_out is not None:
            _log.warning("credentials_refused address=%s request=%s left_out=%d", address, request_id, left_out)
        if self._limit is None:
            return
        shown = self._shown.setdefault(address, OrderedDict())
        self._shown.move_to_end(address)
        shown[hash(credentials)] = self._clock()
        shown.move_to_end(hash(credentials))
        if len(self._shown) > self._most_addresses:
            self._shown.popitem(last=False)
