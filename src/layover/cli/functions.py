"""The functions of a module that is named on the command line, as node types."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, cast

from layover.cli.exits import Stop
from layover.cli.python_modules import import_named
from layover.errors import LayoverError
from layover.nodes.function import NodeFunction
from layover.nodes.notifier import NotifierFunction
from layover.nodes.registry import Registry
from layover.nodes.source import SourceFunction

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from layover.core.definitions import Parameters
    from layover.nodes.registry import AnyFunction


def functions_of(modules: tuple[str, ...]) -> list[AnyFunction]:
    """Return the functions of modules: those in `NODES` if there is one, else those that are marked with `@node`.

    Where no node is marked, every public function that a module defines is one. Sources come beside them.
    """
    return [function for name in modules for function in _functions_in(import_named(name, f"--nodes {name}"), name)]


def node_types(functions: Iterable[AnyFunction]) -> frozenset[str]:
    """Return the node types that an engine with these functions can run, and the sources that it can poll."""
    return frozenset(parameters_of(functions))


def parameters_of(functions: Iterable[AnyFunction]) -> dict[str, Parameters | None]:
    """Return the node types that an engine with these functions can run, each with what its function takes."""
    registry = Registry()
    for function in functions:
        try:
            registry.add(function)
        except (LayoverError, TypeError, ValueError) as error:
            raise Stop(f"{_name_of(function)} cannot be a node: {error}") from error
    return {"http": None, **registry.parameters(), **registry.source_parameters()}


def _functions_in(module: ModuleType, name: str) -> list[AnyFunction]:
    listed = getattr(module, "NODES", None)
    found: list[object]
    if listed is None:
        public = [one for key, one in vars(module).items() if not key.startswith("_")]
        sources: list[object] = [one for one in public if isinstance(one, SourceFunction | NotifierFunction)]
        marked: list[object] = [one for one in public if isinstance(one, NodeFunction)]
        found = sources + (marked or [one for one in public if _is_own(one, module)])
    elif isinstance(listed, (list, tuple)):
        found = list(listed)
    else:
        raise Stop(f"--nodes {name}: `NODES` is a list of functions, not {type(listed).__name__}.")
    for one in found:
        if not callable(one):
            raise Stop(f"--nodes {name}: `NODES` holds {one!r}, which is not a function.")
    if not found:
        raise Stop(f"--nodes {name}: it has no public functions.", hint="Define one, or list them as `NODES = [...]`.")
    return cast("list[AnyFunction]", found)


def _is_own(one: object, module: ModuleType) -> bool:
    """Return whether a module defines something that can be called, rather than having imported it."""
    if (
        inspect.isclass(one)
        or isinstance(one, SourceFunction | NotifierFunction)
        or getattr(one, "__module__", None) != module.__name__
    ):
        return False
    return callable(one) and bool(getattr(one, "__name__", ""))


def _name_of(function: object) -> str:
    return f"`{getattr(function, '__name__', None) or repr(function)}`"
