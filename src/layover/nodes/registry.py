"""The functions that nodes call, by the name of their node type."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from layover.core.definitions.node_types import TYPES
from layover.core.errors import LayoverError

if TYPE_CHECKING:
    from layover.nodes.context import NodeContext

AnyFunction: TypeAlias = Callable[..., object]


class UnknownNodeType(LayoverError):  # noqa: N818 - it says what the type is
    """A node type for which this instance has no function."""

    code = "unknown_node_type"


class BadFunction(LayoverError):  # noqa: N818 - it says what the function is
    """A function that cannot be a node."""

    code = "bad_function"


class Function(msgspec.Struct, frozen=True):
    """A function as the runtime calls it; the arguments are the fields of the node's input."""

    name: str
    function: AnyFunction
    is_async: bool
    context: str | None  # the parameter that takes the context, if there is one
    whole: str | None  # the parameter that takes the whole input, if it is no object

    def call(self, given: object, context: NodeContext | None) -> object:
        """Call it, with the context if it asks for one; an async one returns what is to be awaited."""
        named = given if isinstance(given, dict) else self._named(given)
        if self.context is not None:
            return self.function(**named, **{self.context: context})
        return self.function(**named)

    def _named(self, given: object) -> dict[str, object]:
        """Return an input that is no object as the one argument that there is."""
        if given is None:
            return {}
        if self.whole is None:
            raise BadFunction(f"`{self.name}` takes named arguments; its input is no object.")
        return {self.whole: given}


class Registry:
    """The functions that this instance can run."""

    def __init__(self) -> None:
        self._functions: dict[str, Function] = {}

    def add(self, function: AnyFunction, name: str | None = None) -> str:
        """Make a function a node type; the same name again replaces it."""
        known: str = name or str(getattr(function, "__name__", ""))
        if not known.isidentifier() or known in TYPES:
            raise BadFunction(f"`{known}` cannot be the name of a node type; give another as `name`.")
        self._functions[known] = _describe(known, function)
        return known

    def find(self, node_type: str) -> Function:
        """Return the function of a node type."""
        found = self._functions.get(node_type)
        if found is None:
            raise UnknownNodeType(f"No function is registered for the node type `{node_type}`.")
        return found

    def has(self, node_type: str) -> bool:
        """Return whether there is a function for a node type."""
        return node_type in self._functions

    def names(self) -> frozenset[str]:
        """Return the node types that can be run here."""
        return frozenset(self._functions)


def _describe(name: str, function: AnyFunction) -> Function:
    parameters = list(inspect.signature(function).parameters.values())
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise BadFunction(f"`{name}` has the positional-only parameter `{parameter.name}`; nodes pass names.")
    context = next((one.name for one in parameters if _is_context(one)), None)
    others = [one.name for one in parameters if one.name != context and one.kind is one.POSITIONAL_OR_KEYWORD]
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - the method itself is inspected
    return Function(
        name=name,
        function=function,
        is_async=asyncio.iscoroutinefunction(target),
        context=context,
        whole=others[0] if len(others) == 1 else None,
    )


def _is_context(parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    return bool(getattr(annotation, "__name__", annotation) == "NodeContext")
