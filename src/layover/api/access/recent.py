"""Keys that were used a moment ago: the key of a frequent caller is not looked up each time.

A key that is ended by this process is forgotten at once; one that another process ends is honoured here until its
moment has passed. Only keys that are there are kept, so guesses take no room.
"""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.access import Key

_KEPT: Final = 2.0  # seconds
_MOST: Final = 10_000


class RecentKeys:
    """Finds keys by their hash, in memory or by `read`."""

    def __init__(self, read: Callable[[bytes], Awaitable[Key | None]], clock: Callable[[], float] = monotonic) -> None:
        self._read = read
        self._clock = clock
        self._found: OrderedDict[bytes, tuple[float, Key]] = OrderedDict()
        self._forgotten = 0

    async def key(self, hash_: bytes) -> Key | None:
        """Return a key, as it was at most a moment ago."""
        now = self._clock()
        kept = self._found.get(hash_)
        if kept is not None and now - kept[0] < _KEPT:
            return kept[1]
        forgotten = self._forgotten
        key = await self._read(hash_)
        # What was read while a key was being ended may be from before.
        if key is not None and forgotten == self._forgotten:
            self._found[hash_] = (now, key)
            self._found.move_to_end(hash_)
            if len(self._found) > _MOST:
                self._found.popitem(last=False)
        return key

    def forget(self, key_id: str) -> None:
        """Look a key up again when it is next used."""
        self._forgotten += 1
        for hash_ in [hash_ for hash_, (_, key) in self._found.items() if key.id == key_id]:
            del self._found[hash_]
