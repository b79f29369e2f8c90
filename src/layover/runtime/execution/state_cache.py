"""A cache of the states of executions at rest, so that the next leg need not replay the log.

Only durable states are cached. A cached state is used only while the log has the same length and the same epoch of its
last writer.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from layover.core.light_structs import LightStruct

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionState
    from layover.ports.records import Head


class CachedState(LightStruct, gc=False):
    """A state, and the position in the log that it belongs to."""

    state: ExecutionState
    last_seq: int
    last_epoch: int
    snapshot_seq: int
    size: int
    last_at: int = 0  # the time of its last event; a snapshot does not tell it


# What a state takes of memory, as measured: so much by itself, and so many times the bytes of its log.
_BY_ITSELF = 5_000
_PER_BYTE = 3


class StateCache:
    """The most recently used states, up to a number of bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._cached: OrderedDict[str, CachedState] = OrderedDict()
        self.size = 0

    def put(self, execution_id: str, cached: CachedState) -> None:
        """Cache a state, and evict the least recently used ones."""
        self._drop(execution_id)
        self._cached[execution_id] = cached
        self.size += _memory(cached)
        while self.size > self._most and self._cached:
            _, oldest = self._cached.popitem(last=False)
            self.size -= _memory(oldest)

    def take(self, head: Head) -> CachedState | None:
        """Remove and return a state that still matches the log; the caller may change it."""
        cached = self._drop(head.execution_id)
        if cached is None or (cached.last_seq, cached.last_epoch) != (head.last_seq, head.last_epoch):
            return None
        return cached

    def __contains__(self, execution_id: str) -> bool:
        return execution_id in self._cached

    def peek(self, head: Head) -> CachedState | None:
        """Return a state that still matches the log, for reading only: it stays in the cache."""
        cached = self._cached.get(head.execution_id)
        if cached is None or (cached.last_seq, cached.last_epoch) != (head.last_seq, head.last_epoch):
            return None
        return cached

    def _drop(self, execution_id: str) -> CachedState | None:
        cached = self._cached.pop(execution_id, None)
        if cached is not None:
            self.size -= _memory(cached)
        return cached


def _memory(cached: CachedState) -> int:
    return _BY_ITSELF + _PER_BYTE * cached.size
