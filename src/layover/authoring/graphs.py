"""A graph that is being built: one method for each type of node, and the edges between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, Unpack

from layover.authoring.errors import BadBuild, UnknownNode
from layover.authoring.fields import (
    ApprovalFields,
    CallbackFields,
    CallFields,
    ChildFields,
    DelayFields,
    EndFields,
    FormFields,
    HttpFields,
    LoopFields,
    MergeFields,
    NodeFields,
    ParallelFields,
    SendFields,
    WaitSignalFields,
)
from layover.authoring.steps import (
    ApprovalStep,
    ConditionStep,
    EndStep,
    LoopStep,
    ParallelStep,
    Step,
    SwitchStep,
    WaitingStep,
    WorkStep,
)
from layover.authoring.writing import plain_part, to_format
from layover.core.definitions import DEFAULT_LIMITS
from layover.core.suggest import did_you_mean
from layover.nodes.function import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from layover.authoring.parts import Duration
    from layover.authoring.steps import Port
    from layover.nodes.function import AnyFunction

S = TypeVar("S", bound=Step)


class GraphBuilder:
    """The nodes and edges of one graph: a workflow's own, or that inside a loop or a parallel."""

    def __init__(self, name: str, outside: GraphBuilder | None = None) -> None:
        self.name = name
        self.outside = outside
        self.steps: dict[str, Step] = {}
        self.depth: int = outside.depth + 1 if outside is not None else 0
        self.edges: list[dict[str, object]] = []
        self._wired: set[tuple[object, ...]] = set()
        self.extra: dict[str, object] = {}
        self._starts: list[str] = []
        self._functions: dict[str, AnyFunction] = outside.known_functions if outside is not None else {}

    # Decided by the engine itself

    def condition(self, node_id: str, if_: str, **fields: Unpack[NodeFields]) -> ConditionStep:
        """Leave by `true` or `false`."""
        return self.add(ConditionStep, node_id, "condition", {"if": if_, **_node(node_id, fields)})

    def switch(self, node_id: str, value: str | None = None, **fields: Unpack[NodeFields]) -> SwitchStep:
        """Leave by the port of the first case that fits (`.case(…)`, `.when(…)`), else by `default`."""
        return self.add(SwitchStep, node_id, "switch", {**_optional("value", value), **_node(node_id, fields)})

    def set(self, node_id: str, given: Mapping[str, object] | None = None, /, **values: object) -> WorkStep:
        """Set variables by name; names that are not valid in Python go into a mapping."""
        return self.add(WorkStep, node_id, "set", {"values": {**(given or {}), **values}})

    def compute(self, node_id: str, output: object, **fields: Unpack[NodeFields]) -> WorkStep:
        """Give a computed value as output."""
        return self.add(WorkStep, node_id, "compute", {"output": output, **_node(node_id, fields)})

    def merge(self, node_id: str, **fields: Unpack[MergeFields]) -> WorkStep:
        """Bring branches together."""
        return self.add(WorkStep, node_id, "merge", _to_format(node_id, fields, MergeFields))

    def end(self, node_id: str, **fields: Unpack[EndFields]) -> EndStep:
        """End the execution."""
        return self.add(EndStep, node_id, "end", _to_format(node_id, fields, EndFields))

    # Containers

    def loop(self, node_id: str, **fields: Unpack[LoopFields]) -> LoopStep:
        """Run a body (`.body`) for each item, while a condition holds, or a number of times."""
        return self.add(LoopStep, node_id, "loop", _to_format(node_id, fields, LoopFields))

    def parallel(self, node_id: str, **fields: Unpack[ParallelFields]) -> ParallelStep:
        """Run a body (`.body`) for each item, or named branches (`.branch(…)`), side by side."""
        return self.add(ParallelStep, node_id, "parallel", _to_format(node_id, fields, ParallelFields))

    # Pauses

    def delay(self, node_id: str, duration: Duration | None = None, **fields: Unpack[DelayFields]) -> WorkStep:
        """Wait for a duration, or until a moment."""
        length = _optional("duration", plain_part(duration))
        return self.add(WorkStep, node_id, "delay", {**length, **_to_format(node_id, fields, DelayFields)})

    def approval(self, node_id: str, **fields: Unpack[ApprovalFields]) -> ApprovalStep:
        """Wait until enough people have approved or rejected."""
        return self.add(ApprovalStep, node_id, "approval", _to_format(node_id, fields, ApprovalFields))

    def form(self, node_id: str, **fields: Unpack[FormFields]) -> WaitingStep:
        """Wait for an answer that fits a schema, or a type."""
        return self.add(WaitingStep, node_id, "form", _to_format(node_id, fields, FormFields))

    def wait_signal(self, node_id: str, signal: str | None = None, **fields: Unpack[WaitSignalFields]) -> WaitingStep:
        """Wait for a signal, or for several (`signals`)."""
        named = _optional("signal", signal)
        return self.add(WaitingStep, node_id, "wait_signal", {**named, **_to_format(node_id, fields, WaitSignalFields)})

    # Work

    def callback(
        self, node_id: str, call: AnyFunction | str | None = None, **fields: Unpack[CallbackFields]
    ) -> WaitingStep:
        """Call a function with an address to reply to, then wait for the reply."""
        named = _optional("call", None if call is None else self._node_type_of(call))
        return self.add(WaitingStep, node_id, "callback", {**named, **_to_format(node_id, fields, CallbackFields)})

    def workflow(self, node_id: str, workflow: str | GraphBuilder, **fields: Unpack[ChildFields]) -> WorkStep:
        """Start another workflow and wait for its output."""
        name = workflow.name if isinstance(workflow, GraphBuilder) else workflow
        return self.add(WorkStep, node_id, "workflow", {"workflow": name, **_to_format(node_id, fields, ChildFields)})

    def http(self, node_id: str, url: str, **fields: Unpack[HttpFields]) -> WorkStep:
        """Call an HTTP address."""
        return self.add(WorkStep, node_id, "http", {"url": url, **_to_format(node_id, fields, HttpFields)})

    def send(self, node_id: str, via: str | Mapping[str, object], **fields: Unpack[SendFields]) -> WorkStep:
        """Send a message by a destination, and go on once it was sent; or at once, if it does not `wait`."""
        by = via if isinstance(via, str) else dict(via)
        return self.add(WorkStep, node_id, "send", {"via": by, **_to_format(node_id, fields, SendFields)})

    def call(self, node_id: str, function: AnyFunction | str, **fields: Unpack[CallFields]) -> WorkStep:
        """Call a function, by itself or by the name of its node type."""
        return self.add(WorkStep, node_id, self._node_type_of(function), _to_format(node_id, fields, CallFields))

    # The graph

    def start(self, *steps: Step) -> None:
        """Name the first nodes; needed only if there are several."""
        for step in steps:
            self._check_same_graph(step)
        self._starts = [step.id for step in steps]

    def add(self, kind: type[S], node_id: str, node_type: str, fields: dict[str, object]) -> S:
        """Add a node, in the words of the format."""
        graph: GraphBuilder | None = self
        while graph is not None:
            if node_id in graph.steps:
                raise BadBuild(f"`{graph.name}` has a node `{node_id}` already: each needs an id of its own.")
            graph = graph.outside
        step = kind(self, node_id, node_type, fields)
        self.steps[node_id] = step
        return step

    def wire(self, port: Port, target: Step) -> None:
        """Add an edge from a port to a node of this graph."""
        self._check_same_graph(target)
        edge = {"source": port.step.id, "target": target.id, "port": port.name}
        if tuple(edge.values()) in self._wired:
            raise BadBuild(f"`{port.step.id}.{port.name} >> {target.id}` is wired already.")
        self.add_edge(edge)

    def add_edge(self, edge: Mapping[str, object]) -> None:
        """Add an edge, in the words of the format."""
        self.edges.append(dict(edge))
        self._wired.add((edge["source"], edge["target"], edge["port"]))

    def inner(self, name: str) -> GraphBuilder:
        """Return a graph inside this one."""
        if self.depth == DEFAULT_LIMITS.depth:
            raise BadBuild(f"`{name}` is nested deeper than {DEFAULT_LIMITS.depth} levels.")
        return GraphBuilder(name, self)

    def graph_document(self) -> dict[str, object]:
        """Return the graph as part of a document."""
        graph: dict[str, object] = {"nodes": [step.document() for step in self.steps.values()]}
        if self.edges:
            graph["edges"] = [dict(edge) for edge in self.edges]
        if self._starts:
            graph["start"] = list(self._starts)
        return {**graph, **self.extra}

    @property
    def known_functions(self) -> dict[str, AnyFunction]:
        """The functions of the whole workflow by their node types."""
        return self._functions

    def __getitem__(self, node_id: str) -> Step:
        if node_id not in self.steps:
            guess = did_you_mean(str(node_id), self.steps)
            raise UnknownNode(f"`{self.name}` has no node `{node_id!s:.100}`.{guess}")
        return self.steps[node_id]

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.steps

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps.values())

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}: {len(self.steps)} nodes>"

    def _check_same_graph(self, step: Step) -> None:
        if step.graph is not self:
            where, here = step.graph.name, self.name
            raise BadBuild(f"`{step.id}` is a node of `{where}`, not of `{here}`: an edge stays within one graph.")

    def _node_type_of(self, function: AnyFunction | str) -> str:
        """Return the node type of a function, and remember it."""
        if isinstance(function, str):
            return function
        name = name_of(function)
        if self._functions.setdefault(name, function) is not function:
            raise BadBuild(f"Two functions are called `{name}`: give one another name with `@node(name=…)`.")
        return name


def _to_format(node_id: str, fields: Mapping[str, object], known: type) -> dict[str, object]:
    return to_format(f"`{node_id}`", fields, known.__annotations__)


def _node(node_id: str, fields: Mapping[str, object]) -> dict[str, object]:
    return _to_format(node_id, fields, NodeFields)


def _optional(name: str, value: object) -> dict[str, object]:
    return {} if value is None else {name: value}
