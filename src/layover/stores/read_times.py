"""Measures queries from the call to the answer, if a metric is observed."""

from __future__ import annotations

from functools import wraps
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from layover.ports.read_times import OnRead

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="TimedQueries")


class TimedQueries:
    """The queries of a store, and who is told how long they take."""

    on_read: OnRead | None = None


def timed(query: Callable[Concatenate[S, P], Awaitable[T]]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Have a query measured under its own name."""
    name = query.__name__

    @wraps(query)
    async def measured(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self.on_read is None:
            return await query(self, *args, **kwargs)
        began = perf_counter()
        try:
            return await query(self, *args, **kwargs)
        finally:
            self.on_read(name, perf_counter() - began)

    return measured
