"""`@source`: makes a function something that triggers poll for new items.

    @source
    async def mailbox(cursor: str | None, folder: str) -> Batch:
        messages = await fetch_after(folder, cursor)
        return Batch([Item(one.id, one.fields) for one in messages], cursor=messages[-1].id)

The cursor is whatever text the source has returned last, and None at the beginning; the engine keeps it. The other
arguments are the `with` of the trigger. Of an item whose id is known, nothing starts again.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar, overload

import msgspec

from layover.nodes.annotations import locals_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from layover.nodes.function import AnyFunction

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound="AnyFunction")


class Item(msgspec.Struct, frozen=True):
    """Something that a source has found: its id, which is the same whenever it is found, and its data."""

    id: str
    data: object = None


class Batch(msgspec.Struct, frozen=True):
    """What a source has found: at most 1,000 items, and the cursor behind them; without one, the cursor stays.

    With `more`, the source is polled again at once.
    """

    items: Sequence[Item] = ()
    cursor: str | None = None
    more: bool = False


class SourceFunction(Generic[P, R]):
    """A function as a source: its name, what acknowledges a cursor if there is something, and the function itself."""

    __name__: str

    def __init__(self, function: Callable[P, R], name: str, seen: Mapping[str, object]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.seen = seen
        self.acknowledge_function: AnyFunction | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function directly."""
        return self.function(*args, **kwargs)

    def acknowledge(self, function: F) -> F:
        """Register a function that is told the cursor once it is durable, perhaps twice: `acknowledge(cursor)`.

        It may also take arguments of the trigger's `with`, by their names.
        """
        self.acknowledge_function = function
        return function

    def __repr__(self) -> str:
        return f"<source {self.name}>"


@overload
def source(function: Callable[P, R], /) -> SourceFunction[P, R]: ...


@overload
def source(*, name: str | None = None) -> Callable[[Callable[P, R]], SourceFunction[P, R]]: ...


def source(
    function: Callable[P, R] | None = None, /, *, name: str | None = None
) -> SourceFunction[P, R] | Callable[[Callable[P, R]], SourceFunction[P, R]]:
    """Make a function a source that triggers poll, under its own name or another."""

    def make(function: Callable[P, R]) -> SourceFunction[P, R]:
        return _make_source(function, name, sys._getframe(1).f_locals)  # noqa: SLF001 - types may be local there

    return make if function is None else _make_source(function, name, sys._getframe(1).f_locals)  # noqa: SLF001 - the same


def _make_source(function: Callable[P, R], name: str | None, found: Mapping[str, object]) -> SourceFunction[P, R]:
    if not callable(function):
        raise TypeError(f"`@source` decorates a function, not {function!r:.100}; a name is given as `@source(name=…)`.")
    known = name or str(getattr(function, "__name__", ""))
    return SourceFunction(function, known, locals_of(function, found))
