"""The names that an expression can use at a position, and their known types.

A node sees the nodes that come before it, in its own graph and in the enclosing ones; the loop or parallel around it
adds `item` and `index`. Scopes are lazy: to make one costs the same whatever the size of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from layover.core.definitions.node_types import (
    Approval,
    Delay,
    Form,
    Http,
    Loop,
    Parallel,
    Send,
    Set,
    WaitSignal,
)
from layover.core.expressions import (
    BOOL,
    DYN,
    INT,
    NULL,
    STRING,
    ListOf,
    MapOf,
    RecordType,
    Type,
    type_of_schema,
)

if TYPE_CHECKING:
    from layover.core.definitions.model import Definition, GraphDefinition, Node
    from layover.core.definitions.topology import Topology

ROOTS = ("input", "nodes", "errors", "vars", "execution", "trigger", "callback", "secrets", "signal")
BEFORE_START = ("input", "trigger")

_ERROR = RecordType(
    {
        "code": STRING,
        "type": STRING,
        "message": STRING,
        "retryable": BOOL,
        "attempt": INT,
        "context_id": STRING,
        "status": DYN,
        "details": DYN,
    },
    open=False,
)
_EXECUTION = RecordType(
    {
        "id": STRING,
        "workflow": STRING,
        "version": INT,
        "created_at": DYN,
        "started_at": DYN,
        "tags": DYN,
        "priority": INT,
        "correlation_id": DYN,
        "parent_id": DYN,
        "user": DYN,
        "resume_count": INT,
    },
    open=False,
)
_SIGNAL_OUTPUT = RecordType({"id": STRING, "name": STRING, "key": STRING, "data": DYN, "at": DYN}, open=False)
CALLBACK = RecordType({"url": STRING, "token": STRING}, open=False)
SIGNAL = RecordType({"name": STRING, "key": STRING, "data": DYN}, open=False)
SECRETS = MapOf(STRING)


class Visible(Mapping[str, Type]):
    """The nodes that one position can refer to, each with a type; enclosing graphs come last."""

    def __init__(
        self, graph: GraphDefinition, shape: Topology, seen: int, type_of: Callable[[Node], Type], outer: Visible | None
    ):
        self._graph = graph
        self._shape = shape
        self._seen = seen
        self._type_of = type_of
        self._outer = outer

    def __getitem__(self, name: str) -> Type:
        position = self._shape.position.get(name)
        if position is not None and self._seen >> position & 1:
            return self._type_of(self._graph.nodes[position])
        if self._outer is None:
            raise KeyError(name)
        return self._outer[name]

    def __iter__(self) -> Iterator[str]:
        for name, position in self._shape.position.items():
            if self._seen >> position & 1:
                yield name
        if self._outer is not None:
            yield from self._outer

    def __len__(self) -> int:
        return sum(1 for _ in self)


class VisibleNames:
    """The names of one graph: those of its enclosing scopes, and its own nodes as far as they come before."""

    def __init__(
        self,
        graph: GraphDefinition,
        shape: Topology,
        names: Mapping[str, Type],
        outer: VisibleNames | None,
        seen: int = 0,
        outputs: dict[str, Type] | None = None,
    ) -> None:
        self._graph = graph
        self._shape = shape
        self._names = names
        self._outer = outer
        self._seen = seen
        # A type takes as long to make as its node is large, and every expression may need it.
        self._outputs: dict[str, Type] = {} if outputs is None else outputs

    def at(self, position: int) -> VisibleNames:
        """Return the scope of a node: it sees the nodes before it."""
        return self._seeing(self._shape.ancestors[position])

    def at_end(self) -> VisibleNames:
        """Return the scope at the end of the graph: it sees all nodes."""
        return self._seeing((1 << len(self._graph.nodes)) - 1)

    def inside(self, graph: GraphDefinition, shape: Topology, names: Mapping[str, Type]) -> VisibleNames:
        """Return the scope of a nested graph, with the names that its container gives."""
        return VisibleNames(graph, shape, {**self._names, **names}, self)

    def names(self, extra: Mapping[str, Type] | None = None) -> dict[str, Type]:
        """Return the root names with their types."""
        nodes = RecordType(self._visible(errors=False), open=False, noun="node")
        errors = RecordType(self._visible(errors=True), open=False, noun="node")
        return {"nodes": nodes, "errors": errors, **self._names, **(extra or {})}

    def _seeing(self, seen: int) -> VisibleNames:
        return VisibleNames(self._graph, self._shape, self._names, self._outer, seen, self._outputs)

    def _visible(self, *, errors: bool) -> Visible:
        outer = self._outer._visible(errors=errors) if self._outer is not None else None  # noqa: SLF001 - the same class
        return Visible(self._graph, self._shape, self._seen, _error_type if errors else self._output_type, outer)

    def _output_type(self, node: Node) -> Type:
        known = self._outputs.get(node.id)
        if known is None:
            known = self._outputs[node.id] = output_type(node)
        return known


def root_names(definition: Definition) -> dict[str, Type]:
    """Return the names that every expression of a definition can use."""
    return {
        "input": type_of_schema(definition.input),
        "vars": RecordType(dict.fromkeys(definition.variables, DYN), open=True, noun="variable"),
        "execution": _EXECUTION,
        "trigger": DYN,
    }


def output_type(node: Node) -> Type:
    """Return the known type of the output of a node before it has run."""
    match node:
        case Approval():
            data = type_of_schema(node.schema)
            fields = {"approved": BOOL, "by": DYN, "at": DYN, "comment": DYN, "data": data, "decisions": ListOf(DYN)}
            return RecordType(fields, open=False)
        case Form():
            return type_of_schema(node.schema) if node.on_deadline in (None, "fail", "expired") else DYN
        case WaitSignal(signals=()):
            return _SIGNAL_OUTPUT
        case WaitSignal():
            return RecordType({signal.alias: _SIGNAL_OUTPUT for signal in node.signals}, open=False, noun="signal")
        case Http():
            return RecordType({"status": INT, "headers": MapOf(STRING), "body": DYN}, open=False)
        case Send():
            return RecordType({"id": STRING, "at": INT} if node.wait else {"id": STRING}, open=False)
        case Parallel(body=None):
            return RecordType({branch.id: DYN for branch in node.branches}, open=False, noun="branch")
        case Loop() | Parallel():
            return ListOf(DYN)
        case Delay() | Set():
            return NULL
        case _:
            return DYN


def _error_type(node: Node) -> Type:  # noqa: ARG001 - the errors of all nodes have the same shape
    return _ERROR
