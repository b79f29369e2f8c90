"""Callbacks as the simulated loop keeps them: millions are made in a minute, so nothing is kept for debugging."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context


def _nothing() -> None:
    """Do nothing, in place of what was cancelled."""


class Ready(asyncio.Handle):
    """Something to call."""

    __slots__ = ("args", "call", "context", "gone")

    def __init__(self, call: Callable[..., object], args: tuple[Any, ...], context: Context | None) -> None:
        self.call = call
        self.args = args
        self.context = copy_context() if context is None else context
        self.gone = False

    def cancel(self) -> None:
        """Let go of it."""
        self.gone, self.call, self.args = True, _nothing, ()

    def cancelled(self) -> bool:
        """Return whether it was let go of."""
        return self.gone

    def __repr__(self) -> str:
        return f"Ready({self.call!r})"


class Timer(asyncio.TimerHandle):
    """Something to call at a moment."""

    __slots__ = ("args", "at", "call", "context", "gone", "later", "left")

    def __init__(self, at: float, call: Callable[..., object], args: tuple[Any, ...], context: Context | None) -> None:
        self.at = at
        self.call = call
        self.args = args
        self.context = copy_context() if context is None else context
        self.gone = False
        self.left = 0

    def unless(self, later: Callable[[], float | None], most: int) -> None:
        """Have it rung at a later moment instead, so many times at most, while there is one."""
        self.later, self.left = later, most

    def passes_over(self) -> bool:
        """Return whether it rings later, because its waiter would do nothing now."""
        moment = self.later() if self.left else None
        if moment is None:
            return False
        self.left -= 1
        self.at = moment
        return True

    def cancel(self) -> None:
        """Let go of it."""
        self.gone, self.call, self.args = True, _nothing, ()

    def cancelled(self) -> bool:
        """Return whether it was let go of."""
        return self.gone

    def when(self) -> float:
        """Return the moment."""
        return self.at

    def __repr__(self) -> str:
        return f"Timer({self.at:.3f}, {self.call!r})"

    __hash__ = object.__hash__
    __eq__ = object.__eq__
