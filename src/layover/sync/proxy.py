"""The proxy: an object of the async interface whose methods block.

`blocking` gives a class the public methods of an async one. What they return is turned likewise: an awaitable is waited
for, an async iterator becomes an iterator, and an object whose class has a blocking twin becomes that twin.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from msgspec.structs import replace

from layover.model.shared import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from layover.runtime.loop_thread import LoopThread

Twin = TypeVar("Twin", bound="SyncProxy")

_TWINS: Final[dict[type, type[SyncProxy]]] = {}
_END: Final = object()


class SyncProxy:
    """An object of the async interface, on the loop of a thread; what is read from it is passed through."""

    __slots__ = ("_of", "_thread")

    def __init__(self, of: Any, thread: LoopThread) -> None:
        self._of = of
        self._thread = thread

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a copy asks before there is anything
            raise AttributeError(name)
        return getattr(self._of, name)

    def __repr__(self) -> str:
        return repr(self._of)

    def _call(self, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call a method of the object; wait for it, and turn what it returns."""
        method = getattr(self._of, name)
        returned = method(*map(_unwrap, args), **{key: _unwrap(value) for key, value in named.items()})
        if isinstance(returned, Awaitable):
            returned = self._thread.wait(cast("Coroutine[Any, Any, Any]", returned))
        return self if returned is self._of else self._turned(returned)

    def _turned(self, value: Any) -> Any:
        twin = _TWINS.get(type(value))
        if twin is not None:
            made = object.__new__(twin)
            SyncProxy.__init__(made, value, self._thread)
            return made
        match value:
            case AsyncGenerator():
                return _iterator(value, self._thread)
            case Page():
                return replace(value, items=tuple(map(self._turned, value.items)))
            case list():
                return [*map(self._turned, value)]
        return value


def blocking(of: type) -> Callable[[type[Twin]], type[Twin]]:
    """Return what makes a class the blocking twin of another: it gets all public methods that it has not."""

    def make(twin: type[Twin]) -> type[Twin]:
        for name, method in inspect.getmembers(of, inspect.isfunction):
            if not name.startswith("_") and not hasattr(twin, name):
                setattr(twin, name, _blocking_method(name, method))
        _TWINS[of] = twin
        return twin

    return make


def _blocking_method(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: SyncProxy, *args: Any, **named: Any) -> Any:
        return self._call(name, args, named)

    return call


def _unwrap(value: Any) -> Any:
    """Return an argument as the async method takes it."""
    return value._of if isinstance(value, SyncProxy) else value  # noqa: SLF001 - our own


def _iterator(items: AsyncGenerator[Any, None], thread: LoopThread) -> Iterator[Any]:
    """Return what an async iterator gives, waiting for each; leaving early closes it."""

    async def following() -> Any:
        return await anext(items, _END)

    async def leave() -> None:
        await items.aclose()

    try:
        while (item := thread.wait(following())) is not _END:
            yield item
    finally:
        if thread.runs:
            thread.wait(leave())
