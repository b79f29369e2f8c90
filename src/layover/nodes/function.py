"""`@node`: a function that workflows can call by its name, and that a program or a test calls as before."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeAlias, TypeVar, overload

from layover.nodes.annotations import locals_of

if TYPE_CHECKING:
    from collections.abc import Mapping

AnyFunction: TypeAlias = Callable[..., object]

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=AnyFunction)


class NodeFunction(Generic[P, R]):
    """A function as a node type: its name, its probe if it has one, and the function itself."""

    __name__: str

    def __init__(self, function: Callable[P, R], name: str, seen: Mapping[str, object]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.seen = seen
        self.probe_function: AnyFunction | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, as if it were no node."""
        return self.function(*args, **kwargs)

    def probe(self, function: F) -> F:
        """Have a function tell whether a call that was lost had its effect; it is given the same input."""
        self.probe_function = function
        return function

    def __repr__(self) -> str:
        return f"<node {self.name}>"


@overload
def node(function: Callable[P, R], /) -> NodeFunction[P, R]: ...


@overload
def node(*, name: str | None = None) -> Callable[[Callable[P, R]], NodeFunction[P, R]]: ...


def node(
    function: Callable[P, R] | None = None, /, *, name: str | None = None
) -> NodeFunction[P, R] | Callable[[Callable[P, R]], NodeFunction[P, R]]:
    """Make a function a node type, under its own name or another: `@node` or `@node(name="charge")`."""

    def make(function: Callable[P, R]) -> NodeFunction[P, R]:
        return _made(function, name, sys._getframe(1).f_locals)  # noqa: SLF001 - types may be local there

    return make if function is None else _made(function, name, sys._getframe(1).f_locals)  # noqa: SLF001 - the same


def name_of(function: AnyFunction) -> str:
    """Return the node type that a function is by itself: the name it was given, or its own."""
    return function.name if isinstance(function, NodeFunction) else str(getattr(function, "__name__", ""))


def _made(function: Callable[P, R], name: str | None, found: Mapping[str, object]) -> NodeFunction[P, R]:
    if not callable(function):
        raise TypeError(f"`@node` is put before a function, not {function!r:.100}; a name is given as `@node(name=…)`.")
    return NodeFunction(function, name or name_of(function), locals_of(function, found))
