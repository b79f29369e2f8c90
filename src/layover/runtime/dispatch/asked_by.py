"""Which request asked for a leg that the claimer is about to begin: its log lines carry the id of that request.

A command reaches an execution through the store, where it has no request. So the instance that took the request
remembers it until it claims the execution itself; if another instance is faster, the request is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.logs.context import REQUEST_ID

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST: Final = 1_000
_KEPT_FOR: Final = 10_000  # milliseconds


class AskedBy:
    """The requests whose commands wait for a claim, by execution."""

    __slots__ = ("_requests", "_running")

    def __init__(self, running: Callable[[], int]) -> None:
        self._running = running
        self._requests: dict[str, tuple[str, int]] = {}  # in the order in which they came

    def note(self, execution_id: str) -> None:
        """Remember the request that is being answered, if there is one."""
        request = REQUEST_ID.get()
        if request:
            self._requests.pop(execution_id, None)
            self._requests[execution_id] = request, self._running()
            if len(self._requests) > _MOST:
                del self._requests[next(iter(self._requests))]

    def take(self, execution_id: str) -> str:
        """Return the request that asked for a leg, and forget it; empty if there is none."""
        request, at = self._requests.pop(execution_id, ("", 0))
        return request if request and self._running() - at < _KEPT_FOR else ""

    def __bool__(self) -> bool:
        return bool(self._requests)
