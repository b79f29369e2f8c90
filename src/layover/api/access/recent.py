"""Credentials that were used a moment ago: those of a frequent caller are not looked up each time.

A key or a session that is ended by this process is forgotten at once; one that another process ends is honoured here
until its moment has passed. Only those that are there are kept, so guesses take no room.
"""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_KEPT: Final = 2.0  # seconds
_MOST: Final = 10_000

R = TypeVar("R")


class RecentlyUsed(Generic[R]):
    """Finds keys or sessions by their hash, in memory or by `read`."""

    def __init__(self, read: Callable[[bytes], Awaitable[R | None]], clock: Callable[[], float] = monotonic) -> None:
        self._read = read
        self._clock = clock
        self._found: OrderedDict[bytes, tuple[float, R]] = OrderedDict()
        self._forgotten = 0

    async def find(self, hash_: bytes) -> R | None:
        """Return one, as it was at most a moment ago."""
        now = self._clock()
        kept = self._found.get(hash_)
        if kept is not None and now - kept[0] < _KEPT:
            return kept[1]
        forgotten = self._forgotten
        row = await self._read(hash_)
        # What was read while one was being ended may be from before.
        if row is not None and forgotten == self._forgotten:
            self._found[hash_] = (now, row)
            self._found.move_to_end(hash_)
            if len(self._found) > _MOST:
                self._found.popitem(last=False)
        return row

    def forget(self, is_ended: Callable[[R], bool]) -> list[R]:
        """Look those up again when they are next used that have ended; return them."""
        self._forgotten += 1
        ended = [(hash_, row) for hash_, (_, row) in self._found.items() if is_ended(row)]
        for hash_, _ in ended:
            del self._found[hash_]
        return [row for _, row in ended]
