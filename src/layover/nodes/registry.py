"""The functions that nodes call, by the name of their node type."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

import msgspec

from layover.core.definitions import Parameters
from layover.core.definitions.node_types import TYPES
from layover.core.errors import LayoverError
from layover.nodes.annotations import BadFunction, context_kind, hints_of
from layover.nodes.function import AnyFunction, NodeFunction, name_of
from layover.nodes.results import Result, result_of
from layover.nodes.typed import Arguments, BadInput, arguments_of, misfit, parameters_of

if TYPE_CHECKING:
    from layover.nodes.context import CallContext

__all__ = ["AnyFunction", "BadFunction", "Function", "Registry", "UnknownNodeType", "UnknownProbe"]

_NOT_CALLED = TYPES.keys() - {"http"}  # node types that the engine itself knows how to run


class UnknownNodeType(LayoverError):  # noqa: N818 - it says what the type is
    """A node type for which this instance has no function."""

    code = "unknown_node_type"


class UnknownProbe(LayoverError):  # noqa: N818 - it says what the probe is
    """A node type for which no function tells whether a lost call had its effect."""

    code = "unknown_probe"


class Function(msgspec.Struct, frozen=True):
    """A function as the runtime calls it; the arguments are the fields of the node's input."""

    name: str
    function: AnyFunction
    is_async: bool
    context: str | None  # the parameter that takes the context, if there is one
    blocks: bool  # that context is one whose methods block
    whole: str | None  # the parameter that takes the whole input, if it is no object
    arguments: Arguments | None = None  # how the input becomes arguments, if their types say more than JSON
    result: Result | None = None  # what the result has to be, if its type says so
    parameters: Parameters | None = None  # what it takes by name, as far as that is certain

    def call(self, given: object, context: CallContext | None) -> object:
        """Call it, with the context if it asks for one; an async one returns what is to be awaited."""
        named = given if isinstance(given, dict) else self._named(given)
        if self.result is None:
            return self._called(named, context)
        if self.is_async:
            return self._awaited(named, context)
        return self.result.checked(self._called(named, context))

    def _called(self, named: dict[str, object], context: CallContext | None) -> object:
        if self.arguments is not None:
            if self.context is None and self.arguments.by_position:
                return self.function(*self.arguments.in_order(named))
            named = self.arguments.by_name(named)
        if self.context is not None:
            if self.context in named:
                raise BadInput(f"{self.context}: `{self.name}` takes its context from the engine.")
            named = {**named, self.context: context}
        try:
            return self.function(**named)
        except TypeError as error:
            # One that comes from within the function, and not from how it is called, is the function's own.
            wrong = misfit(self.name, self.function, named)
            if wrong is None:
                raise
            raise wrong from error

    async def _awaited(self, named: dict[str, object], context: CallContext | None) -> object:
        output = await self._called(named, context)  # type: ignore[misc]  # it is async
        return output if self.result is None else self.result.checked(output)

    def _named(self, given: object) -> dict[str, object]:
        """Return an input that is no object as the one argument that there is."""
        if given is None:
            return {}
        if self.whole is None:
            raise BadInput(f"`{self.name}` takes named arguments; its input is no object.")
        return {self.whole: given}


_of_classes: dict[type, Function] = {}  # what is known of their objects


class Registry:
    """The functions that this instance can run."""

    def __init__(self) -> None:
        self.threaded: set[str] = set()  # the node types whose functions are not async: a call of them needs a thread
        self._functions: dict[str, Function] = {}
        self._names: frozenset[str] = frozenset()
        self._probes: dict[str, Function] = {}

    def add(self, function: AnyFunction, name: str | None = None, probe: AnyFunction | None = None) -> str:
        """Make a function a node type, if wanted with its probe; the same name again replaces both."""
        known = name or name_of(function)
        if not known.isidentifier() or known in _NOT_CALLED:
            raise BadFunction(f"`{known}` cannot be the name of a node type; give another as `name`.")
        self.put(known, _describe(known, function))
        looks = probe or (function.probe_function if isinstance(function, NodeFunction) else None)
        if looks is not None:
            self.add_probe(known, looks)
        return known

    def put(self, known: str, described: Function) -> None:
        """Make a function a node type that is described already: in a simulation many engines have the same ones."""
        self._functions[known] = described
        self._names = frozenset(self._functions)
        (self.threaded.discard if described.is_async else self.threaded.add)(known)
        self._probes.pop(known, None)

    def add_object(self, function: AnyFunction, known: str) -> None:
        """Make an object a node type whose class says all that is to be known: that is worked out once."""
        described = _of_classes.get(type(function))
        if described is None:
            described = _of_classes[type(function)] = _describe(known, function)
        self.put(known, msgspec.structs.replace(described, name=known, function=function))

    def add_probe(self, node_type: str, function: AnyFunction) -> None:
        """Have a function tell whether a call of a node type that was lost had its effect; it is given the same."""
        self.find(node_type)
        self.put_probe(node_type, _describe(node_type, function, is_probe=True))

    def put_probe(self, node_type: str, described: Function) -> None:
        """Take a probe that is described already."""
        self._probes[node_type] = described

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
        return self._names

    def parameters(self) -> dict[str, Parameters | None]:
        """Return the node types that can be run here, each with what its function takes."""
        return {name: function.parameters for name, function in self._functions.items()}


def _describe(name: str, given: AnyFunction, *, is_probe: bool = False) -> Function:
    """Work out all that can be known about a function before it is called; what a probe returns is its own affair."""
    function, seen = (given.function, given.seen) if isinstance(given, NodeFunction) else (given, {})
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise BadFunction(f"`{name}` cannot be a node: {error}.") from error
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise BadFunction(f"`{name}` has the positional-only parameter `{parameter.name}`; nodes pass names.")
    context = next((one for one in parameters if context_kind(one.annotation)), None)
    named = context.name if context is not None else None
    others = [one for one in parameters if one.name != named]
    fitting = [one.name for one in others if one.kind is one.POSITIONAL_OR_KEYWORD]
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - the method itself is inspected
    is_async = asyncio.iscoroutinefunction(target)
    blocks = context is not None and context_kind(context.annotation) == "SyncNodeContext"
    if is_async and blocks:
        raise BadFunction(f"`{name}` is async, and a SyncNodeContext would block it; take a NodeContext.")
    hints = hints_of(name, function, seen)
    arguments = arguments_of(name, others, hints)
    return Function(
        name=name,
        function=function,
        is_async=is_async,
        context=named,
        blocks=blocks,
        whole=fitting[0] if len(fitting) == 1 else None,
        arguments=arguments,
        result=None if is_probe else result_of(hints.get("return", object)),
        parameters=arguments.parameters if arguments is not None else parameters_of(function, others),
    )
