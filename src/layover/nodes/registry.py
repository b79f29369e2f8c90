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
    from layover.nodes.context import CallContext

AnyFunction: TypeAlias = Callable[..., object]

_NOT_CALLED = TYPES.keys() - {"http"}  # node types that the engine itself knows how to run


class UnknownNodeType(LayoverError):  # noqa: N818 - it says what the type is
    """A node type for which this instance has no function."""

    code = "unknown_node_type"


class UnknownProbe(LayoverError):  # noqa: N818 - it says what the probe is
    """A node type for which no function tells whether a lost call had its effect."""

    code = "unknown_probe"


class BadFunction(LayoverError):  # noqa: N818 - it says what the function is
    """A function that cannot be a node."""

    code = "bad_function"


class Function(msgspec.Struct, frozen=True):
    """A function as the runtime calls it; the arguments are the fields of the node's input."""

    name: str
    function: AnyFunction
    is_async: bool
    context: str | None  # the parameter that takes the context, if there is one
    blocks: bool  # that context is one whose methods block
    whole: str | None  # the parameter that takes the whole input, if it is no object

    def call(self, given: object, context: CallContext | None) -> object:
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
        self._probes: dict[str, Function] = {}

    def add(self, function: AnyFunction, name: str | None = None, probe: AnyFunction | None = None) -> str:
        """Make a function a node type, if wanted with its probe; the same name again replaces both."""
        known: str = name or str(getattr(function, "__name__", ""))
        if not known.isidentifier() or known in _NOT_CALLED:
            raise BadFunction(f"`{known}` cannot be the name of a node type; give another as `name`.")
        self._functions[known] = _describe(known, function)
        self._probes.pop(known, None)
        if probe is not None:
            self.add_probe(known, probe)
        return known

    def add_probe(self, node_type: str, function: AnyFunction) -> None:
        """Have a function tell whether a call of a node type that was lost had its effect; it is given the same."""
        self.find(node_type)
        self._probes[node_type] = _describe(node_type, function)

    def find(self, node_type: str) -> Function:
        """Return the function of a node type."""
        found = self._functions.get(node_type)
        if found is None:
            raise UnknownNodeType(f"No function is registered for the node type `{node_type}`.")
        return found

    def find_probe(self, node_type: str) -> Function:
        """Return the function that tells whether a lost call of a node type had its effect."""
        found = self._probes.get(node_type)
        if found is None:
            raise UnknownProbe(f"No function tells whether `{node_type}` happened.")
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
    context = next((one for one in parameters if _context_kind(one)), None)
    named = context.name if context is not None else None
    others = [one.name for one in parameters if one.name != named and one.kind is one.POSITIONAL_OR_KEYWORD]
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - the method itself is inspected
    is_async = asyncio.iscoroutinefunction(target)
    blocks = context is not None and _context_kind(context) == "SyncNodeContext"
    if is_async and blocks:
        raise BadFunction(f"`{name}` is async, and a SyncNodeContext would block it; take a NodeContext.")
    return Function(
        name=name,
        function=function,
        is_async=is_async,
        context=named,
        blocks=blocks,
        whole=others[0] if len(others) == 1 else None,
    )


def _context_kind(parameter: inspect.Parameter) -> str | None:
    """Return which context a parameter takes, if it takes one; its annotation may be a class or a text."""
    annotation = parameter.annotation
    name = str(getattr(annotation, "__name__", annotation)).rpartition(".")[2]
    return name if name in ("NodeContext", "SyncNodeContext") else None
