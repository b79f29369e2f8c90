"""A future whose callback does not wait for the next turn of the event loop.

Every step of an execution waits for a commit. The callbacks of other futures are called one turn after the result has
arrived, and a turn costs as much as a small part of the step.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class PromptFuture(asyncio.Future[T]):
    """A future that calls `on_settled` where it is settled; apart from that it is a future like any other."""

    on_settled: Callable[[asyncio.Future[T]], None] | None = None

    def settle(self, answer: T | Exception) -> None:
        """Set the result or the exception, and call back at once."""
        if isinstance(answer, Exception):
            self.set_exception(answer)
        else:
            self.set_result(answer)
        if self.on_settled is not None:
            self.on_settled(self)
