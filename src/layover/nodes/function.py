"""`@node`: makes a function a node type; programs and tests still call it as before."""

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
    """A function as a node type: its name, its probe and its undo if it has them, and the function itself."""

    __name__: str

    def __init__(self, function: Callable[P, R], name: str, seen: Mapping[str, object]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name
        self.seen = seen
        self.probe_function: AnyFunction | None = None
        self.undo_function: AnyFunction | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function directly."""
        return self.function(*args, **kwargs)

    def probe(self, function: F) -> F:
        """Register a probe: a function that checks whether a lost call had its effect; it gets the same input."""
        self.probe_function = function
        return function

    def undo(self, function: F) -> F:
        """Register an undo: a function that takes back whatever a lost call may have done; it gets the same input.

        It must be idempotent: it may find nothing to take back, and it is called again if it is lost itself.
        """
        self.undo_function = function
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
        return _make_node(function, name, sys._getframe(1).f_locals)  # noqa: SLF001 - types may be local there

    return make if function is None else _make_node(function, name, sys._getframe(1).f_locals)  # noqa: SLF001 - the same


def name_of(function: AnyFunction) -> str:
    """Return the node type of a function: the name given to it, or its own."""
    return function.name if isinstance(function, NodeFunction) else str(getattr(function, "__name__", ""))


def _make_node(function: Callable[P, R], name: str | None, found: Mapping[str, object]) -> NodeFunction[P, R]:
    if not callable(function):
        raise TypeError(f"`@node` decorates a function, not {function!r:.100}; a name is given as `@node(name=…)`.")
    return NodeFunction(function, name or name_of(function), locals_of(function, found))
