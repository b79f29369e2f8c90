"""The functions that nodes call, by the name of their node type."""

from __future__ import annotations

import asyncio
import inspect
import re
from typing import TYPE_CHECKING, Any

import msgspec

from layover.core.definitions import Parameters
from layover.core.definitions.node_types import TYPES
from layover.core.definitions.trigger_types import source_key
from layover.errors import LayoverError
from layover.nodes.annotations import BadFunction, context_kind, hints_of
from layover.nodes.function import AnyFunction, NodeFunction, name_of
from layover.nodes.notifier import NotifierFunction
from layover.nodes.results import Result, result_of
from layover.nodes.source import SourceFunction
from layover.nodes.typed import Arguments, BadInput, arguments_of, misfit, parameters_of

if TYPE_CHECKING:
    from collections.abc import Container

    from layover.nodes.context import CallContext

__all__ = [
    "AnyFunction",
    "BadFunction",
    "Function",
    "Notifier",
    "PolledSource",
    "Registry",
    "UnknownNodeType",
    "UnknownProbe",
    "UnknownUndo",
]

_CURSOR = "cursor"  # the parameter of a source
_is_destination = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}").fullmatch
_NOT_CALLED = TYPES.keys() - {"http", "send"}  # node types that the engine runs by itself


class UnknownNodeType(LayoverError):  # noqa: N818 - it says what the type is
    """A node type for which this instance has no function."""

    code = "unknown_node_type"


class UnknownProbe(LayoverError):  # noqa: N818 - it says what the probe is
    """A node type without a probe for lost calls."""

    code = "unknown_probe"


class UnknownUndo(LayoverError):  # noqa: N818 - it says what the undo is
    """A node type without an undo for lost calls."""

    code = "unknown_undo"


class Function(msgspec.Struct, frozen=True):
    """A function as the runtime calls it; the arguments are the fields of the node's input."""

    name: str
    function: AnyFunction
    is_async: bool
    context: str | None  # the parameter that takes the context, if there is one
    blocks: bool  # that context is a SyncNodeContext
    whole: str | None  # the parameter that takes an input that is not an object
    arguments: Arguments | None = None  # how the input becomes arguments, if their types say more than JSON
    result: Result | None = None  # the check of the result, if it has a type
    parameters: Parameters | None = None  # its arguments by name, as far as they are certain

    def call(self, given: object, context: CallContext | None) -> object:
        """Call it, with the context if it takes one; an async one returns an awaitable."""
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
                raise BadInput(f"{self.context}: the engine passes this to `{self.name}`; remove it from the input.")
            named = {**named, self.context: context}
        try:
            return self.function(**named)
        except TypeError as error:
            # A TypeError from within the function, and not from the way it is called, is the function's own.
            wrong = misfit(self.name, self.function, named)
            if wrong is None:
                raise
            raise wrong from error

    async def _awaited(self, named: dict[str, object], context: CallContext | None) -> object:
        output = await self._called(named, context)  # type: ignore[misc]  # it is async
        return output if self.result is None else self.result.checked(output)

    def _named(self, given: object) -> dict[str, object]:
        """Return an input that is not an object as the only argument."""
        if given is None:
            return {}
        if self.whole is None:
            raise BadInput(f"`{self.name}` takes named arguments: its input must be an object.")
        return {self.whole: given}


class PolledSource(msgspec.Struct, frozen=True):
    """A source as the runtime polls it."""

    function: Function
    acknowledging: Function | None = None  # is told a cursor that is durable

    def poll(self, cursor: str | None, given: dict[str, object]) -> object:
        """Ask for what is behind a cursor; an async one returns an awaitable."""
        return self.function.call({**given, "cursor": cursor}, None)

    def acknowledge(self, cursor: str | None, given: dict[str, object]) -> object:
        """Tell that a cursor is durable, with those of the arguments that are taken."""
        function = self.acknowledging
        if function is None:
            return None
        known = function.parameters
        taken = {
            name: value
            for name, value in given.items()
            if known is not None and (known.takes_others or name in (*known.required, *known.optional))
        }
        return function.call({**taken, "cursor": cursor}, None)


class Notifier(msgspec.Struct, frozen=True):
    """A function that is a destination, as the runtime calls it."""

    function: Function
    on: tuple[str, ...] = ()  # the kinds of occasions that it is told of

    def tell(self, notification: object) -> object:
        """Call it; an async one returns an awaitable."""
        return self.function.function(notification)


_of_classes: dict[type, Function] = {}  # descriptions of their objects


class Registry:
    """The functions that this instance can run."""

    def __init__(self) -> None:
        self.threaded: set[str] = set()  # node types whose functions are not async: a call needs a thread
        self._functions: dict[str, Function] = {}
        self._names: frozenset[str] = frozenset()
        self._probes: dict[str, Function] = {}
        self._undos: dict[str, Function] = {}
        self._sources: dict[str, PolledSource] = {}
        self.notifiers: dict[str, Notifier] = {}

    def add(
        self,
        function: AnyFunction,
        name: str | None = None,
        probe: AnyFunction | None = None,
        undo: AnyFunction | None = None,
    ) -> str:
        """Register a function as a node type, optionally with its probe and its undo; the same name again replaces all.

        A source or a notifier is registered as such: node types, sources and destinations have names of their own.
        """
        if isinstance(function, SourceFunction):
            return self.add_source(function)
        if isinstance(function, NotifierFunction):
            return self.add_notifier(function)
        known = name or name_of(function)
        if not known.isidentifier() or known in _NOT_CALLED:
            raise BadFunction(f"`{known}` cannot be the name of a node type; give another as `name`.")
        self.put(known, _describe(known, function))
        if isinstance(function, NodeFunction):
            probe, undo = probe or function.probe_function, undo or function.undo_function
        if probe is not None:
            self.add_probe(known, probe)
        if undo is not None:
            self.add_undo(known, undo)
        return known

    def put(self, known: str, described: Function) -> None:
        """Register a function that is described already: in a simulation many engines share their functions."""
        self._functions[known] = described
        self._names = frozenset(self._functions)
        (self.threaded.discard if described.is_async else self.threaded.add)(known)
        self._probes.pop(known, None)
        self._undos.pop(known, None)

    def add_object(self, function: AnyFunction, known: str) -> None:
        """Register a callable object, described by its class: the description is made once per class."""
        kind = type(function)
        described = _of_classes.get(kind)
        if described is None:
            # Without the object: it would stay for as long as the process, and its whole engine with it.
            described = _of_classes[kind] = msgspec.structs.replace(_describe(known, function), function=kind)
        self.put(known, msgspec.structs.replace(described, name=known, function=function))

    def add_probe(self, node_type: str, function: AnyFunction) -> None:
        """Register a probe: a function that checks whether a lost call had its effect; it gets the same input."""
        self.find(node_type)
        self.put_probe(node_type, _describe(node_type, function, checks_result=False))

    def put_probe(self, node_type: str, described: Function) -> None:
        """Register a probe that is described already."""
        self._probes[node_type] = described

    def add_undo(self, node_type: str, function: AnyFunction) -> None:
        """Register an undo: a function that takes back whatever a lost call may have done; it gets the same input."""
        self.find(node_type)
        self.put_undo(node_type, _describe(node_type, function, checks_result=False))

    def put_undo(self, node_type: str, described: Function) -> None:
        """Register an undo that is described already."""
        self._undos[node_type] = described

    def add_source(self, source: SourceFunction[..., Any]) -> str:
        """Register a source that triggers poll; the same name again replaces it."""
        known = source.name
        if not known.isidentifier():
            raise BadFunction(f"`{known}` cannot be the name of a source; give another as `name`.")
        acknowledging = source.acknowledge_function
        self._sources[known] = PolledSource(
            _describe_polled(known, source), None if acknowledging is None else _describe_polled(known, acknowledging)
        )
        return known

    def add_notifier(self, given: NotifierFunction[..., Any]) -> str:
        """Register a function as a destination; the same name again replaces it."""
        known = given.name
        if not _is_destination(known):
            raise BadFunction(f"`{known}` cannot be the name of a destination; give another as `name`.")
        self.notifiers[known] = Notifier(_describe_notifier(known, given.function), given.on)
        return known

    def find_source(self, name: str) -> PolledSource | None:
        """Return a source, if it is here."""
        return self._sources.get(name)

    def find(self, node_type: str) -> Function:
        """Return the function of a node type."""
        found = self._functions.get(node_type)
        if found is None:
            raise UnknownNodeType(f"No function is registered for the node type `{node_type}`.")
        return found

    def find_probe(self, node_type: str) -> Function:
        """Return the probe of a node type."""
        found = self._probes.get(node_type)
        if found is None:
            raise UnknownProbe(f"No probe is registered for the node type `{node_type}`.")
        return found

    def find_undo(self, node_type: str) -> Function:
        """Return the undo of a node type."""
        found = self._undos.get(node_type)
        if found is None:
            raise UnknownUndo(f"No undo is registered for the node type `{node_type}`.")
        return found

    @property
    def probes(self) -> Container[str]:
        """The node types that have a probe at this moment."""
        return self._probes.keys()

    @property
    def undos(self) -> Container[str]:
        """The node types that have an undo at this moment."""
        return self._undos.keys()

    def has(self, node_type: str) -> bool:
        """Return whether there is a function for a node type."""
        return node_type in self._functions

    def names(self) -> frozenset[str]:
        """Return the node types that have a function here."""
        return self._names

    def parameters(self) -> dict[str, Parameters | None]:
        """Return the node types that have a function here, each with its parameters."""
        return {name: self._parameters_of(function) for name, function in self._functions.items()}

    def _parameters_of(self, function: Function) -> Parameters | None:
        kinds = {"probe": self._probes, "undo": self._undos}
        known = frozenset(kind for kind, registered in kinds.items() if function.name in registered)
        found = function.parameters
        return found and msgspec.structs.replace(found, for_lost_calls=known)

    def source_parameters(self) -> dict[str, Parameters | None]:
        """Return the sources that are here, as a check knows them, each with what the `with` of a trigger gives it."""
        return {source_key(name): _given_parameters(source.function) for name, source in self._sources.items()}


def _given_parameters(function: Function) -> Parameters | None:
    known = function.parameters
    if known is None:
        return None
    return Parameters(
        required=tuple(name for name in known.required if name != _CURSOR),
        optional=tuple(name for name in known.optional if name != _CURSOR),
        takes_others=known.takes_others,
    )


def _describe_polled(name: str, given: AnyFunction) -> Function:
    """Describe a source, or what acknowledges its cursors."""
    described = _describe(name, given, checks_result=False)
    if described.context is not None:
        raise BadFunction(f"`{name}` cannot be a source: it is no node, so it has no `{described.context}`.")
    taken = described.parameters
    if taken is not None and _CURSOR not in (*taken.required, *taken.optional) and not taken.takes_others:
        raise BadFunction(f"`{name}` cannot be a source: it has no parameter `{_CURSOR}`.")
    return described


def _describe_notifier(name: str, function: AnyFunction) -> Function:
    """Describe a function that is told something: its only argument is the notification itself."""
    try:
        inspect.signature(function).bind(None)
    except (TypeError, ValueError) as error:
        raise BadFunction(f"`{name}` cannot be a notifier: it takes one argument, the notification.") from error
    return Function(name=name, function=function, is_async=_is_async(function), context=None, blocks=False, whole=None)


def _is_async(function: AnyFunction) -> bool:
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - the method itself is inspected
    return asyncio.iscoroutinefunction(target)


def _describe(name: str, given: AnyFunction, *, checks_result: bool = True) -> Function:
    """Describe a function before it is called; the result of a probe, an undo or a source is not checked."""
    marked = given if isinstance(given, NodeFunction | SourceFunction) else None
    function, seen = (given, {}) if marked is None else (marked.function, marked.seen)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise BadFunction(f"`{name}` cannot be a node: {error}.") from error
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise BadFunction(f"`{name}` has the positional-only parameter `{parameter.name}`; nodes pass by name.")
    context = next((one for one in parameters if context_kind(one.annotation)), None)
    named = context.name if context is not None else None
    others = [one for one in parameters if one.name != named]
    fitting = [one.name for one in others if one.kind is one.POSITIONAL_OR_KEYWORD]
    is_async = _is_async(function)
    blocks = context is not None and context_kind(context.annotation) == "SyncNodeContext"
    if is_async and blocks:
        raise BadFunction(f"`{name}` is async, and a SyncNodeContext would block it: use a NodeContext.")
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
        result=result_of(hints.get("return", object)) if checks_result else None,
        parameters=arguments.parameters if arguments is not None else parameters_of(function, others),
    )
