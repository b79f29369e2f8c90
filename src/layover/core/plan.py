"""The plan: a checked definition made ready to run.

Everything that the engine needs while an execution moves is a lookup here: which nodes a port leads to, how
many edges a node waits for, what an expression or a template gives. A plan is immutable, holds no state of any
execution, and is shared by all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from layover.core.definitions.canonical import content_hash
from layover.core.definitions.check import Checked, check
from layover.core.definitions.expression_fields import expression_fields
from layover.core.definitions.limits import DEFAULT_LIMITS, DefinitionLimits
from layover.core.definitions.model import (
    ConcurrencyDefinition,
    Definition,
    DefinitionPart,
    GraphDefinition,
    Node,
    NotifyDefinition,
    RateDefinition,
    TriggerDefinition,
)
from layover.core.definitions.node_types import (
    Approval,
    AskingNode,
    Callback,
    ChildWorkflow,
    Delay,
    Loop,
    Parallel,
    Send,
    WaitSignal,
    WorkingNode,
    nested,
)
from layover.core.definitions.secret_use import SecretPosition, secret_positions
from layover.core.definitions.topology import topology
from layover.core.expressions import Program, compile_expression
from layover.core.rendering import Renderer, prepare

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from layover.core.context_ids import ContextId
    from layover.core.definitions.parsed_expressions import ParsedExpressions
    from layover.core.definitions.read_text import Syntax

Ports: TypeAlias = "Mapping[str, tuple[int, ...]]"
Role: TypeAlias = Literal[
    "container",  # it opens scopes
    "call",  # a function is called, and its return value is the result
    "callback",  # a function is called, and the callback goes to a point
    "awaited",  # a child is started, or a message sent, and its outcome goes to a point
    "detached",  # an execution is started, or a message sent, and left alone
    "wait",  # it waits at a point
    "inline",  # the engine decides it at once
]


class PlannedNode(msgspec.Struct, frozen=True, eq=False):
    """One node with its wiring and its compiled fields, by their paths (`if`, `cases.0.if`, `input`).

    `edges` are the edges that leave by its `ports`, one by one; `sources` are the nodes that lead to it. `secrets` are
    the positions in the input of its call at which the definition has a secret.
    """

    node: Node
    id: str
    role: Role
    index: int
    ports: Ports
    edges: tuple[tuple[str, int], ...]
    incoming: int
    sources: tuple[int, ...]
    expressions: Mapping[str, Program]
    renderers: Mapping[str, Renderer]
    bodies: Mapping[str, PlannedGraph]
    secrets: tuple[SecretPosition, ...] = ()

    @property
    def calls(self) -> str:
        """The node type whose function is called: a callback names another than itself."""
        return self.node.call or "" if isinstance(self.node, Callback) else self.node.type

    def targets(self, port: str) -> tuple[int, ...]:
        """Return the indexes of the nodes that a port leads to."""
        return self.ports.get(port, ())

    def body(self, key: int | str) -> PlannedGraph:
        """Return the graph of a scope: a container has one for each branch, or one for all rounds."""
        bodies = self.bodies
        return bodies[""] if "" in bodies else bodies[str(key)]


class PlannedGraph(msgspec.Struct, frozen=True, eq=False):
    """The nodes of one graph by index; `order` has each after everything that comes before it."""

    nodes: tuple[PlannedNode, ...]
    by_id: Mapping[str, PlannedNode]
    positions: Mapping[str, int]
    starts: tuple[int, ...]
    order: tuple[int, ...]

    def node(self, name: str) -> PlannedNode:
        """Return the node with an id."""
        return self.by_id[name]


class PlannedTrigger(msgspec.Struct, frozen=True, eq=False):
    """A trigger with its compiled fields, by their paths (`filter`, `input`, `tags.0`, `deliver.key`).

    `secrets` are the positions in the `with` of a poll that get values just before its source is asked.
    """

    trigger: TriggerDefinition
    expressions: Mapping[str, Program]
    renderers: Mapping[str, Renderer]
    secrets: tuple[SecretPosition, ...] = ()


class PlannedNotify(msgspec.Struct, frozen=True, eq=False):
    """A notification with its compiled texts, by their paths (`message.subject`, `message.text`)."""

    definition: NotifyDefinition
    renderers: Mapping[str, Renderer]


class Plan(msgspec.Struct, frozen=True, eq=False):
    """A workflow ready to run; equal hashes mean equal plans."""

    definition: Definition
    hash: str
    graph: PlannedGraph
    concurrency_key: Renderer | None = None
    rate_key: Renderer | None = None
    lookback: int = 0  # the longest of its waits
    needs_requester: bool = False  # an approval of it excludes who started the execution
    triggers: Mapping[str, PlannedTrigger] = MappingProxyType({})
    notify: tuple[PlannedNotify, ...] = ()
    occasions: frozenset[str] = frozenset()  # the kinds that are told


def planned_at(plan: Plan, place: ContextId) -> PlannedNode | None:
    """Return the node at a position, if the plan has it."""
    graph = plan.graph
    for scope in place.scopes:
        container = graph.by_id.get(scope.container)
        # One body serves all rounds, which are numbered; the branches of a parallel have names.
        key = "" if isinstance(scope.key, int) else scope.key
        if container is None or key not in container.bodies:
            return None
        graph = container.bodies[key]
    return graph.by_id.get(place.node)


def load(
    source: str | bytes | Mapping[str, object],
    *,
    syntax: Syntax = "auto",
    functions: Collection[str] | None = None,
    limits: DefinitionLimits = DEFAULT_LIMITS,
    stored: bool = False,
) -> Plan:
    """Read, check and compile a definition; InvalidDefinition lists all its problems."""
    return compile_plan(check(source, syntax=syntax, functions=functions, limits=limits, stored=stored))


def compile_plan(checked: Checked) -> Plan:
    """Compile a checked definition; InvalidDefinition if it has errors."""
    definition, texts = checked.definition, checked.texts
    settings = definition.settings
    graph = _compile_graph(definition.graph, texts)
    return Plan(
        definition=definition,
        hash=content_hash(definition),
        graph=graph,
        lookback=_longest_lookback(graph),
        needs_requester=_excludes_requester(graph),
        concurrency_key=_compile_key(settings.concurrency, texts),
        rate_key=_compile_key(settings.rate, texts),
        triggers=MappingProxyType({one.name: _compile_trigger(one, texts) for one in definition.triggers}),
        notify=compile_notify(definition.notify, texts),
        occasions=frozenset(kind for one in definition.notify for kind in one.on),
    )


def _longest_lookback(graph: PlannedGraph) -> int:
    """Return how far the waits of a graph look back at most."""
    found = 0
    for planned in graph.nodes:
        if isinstance(planned.node, WaitSignal):
            found = max(found, planned.node.lookback)
        for body in planned.bodies.values():
            found = max(found, _longest_lookback(body))
    return found


def _excludes_requester(graph: PlannedGraph) -> bool:
    """Return whether an approval of a graph excludes the requester."""
    return any(map(excludes_requester, graph.nodes))


def excludes_requester(planned: PlannedNode) -> bool:
    """Return whether a node is an approval that excludes the requester, or has one inside."""
    if isinstance(planned.node, Approval) and planned.node.exclude_requester:
        return True
    return any(map(_excludes_requester, planned.bodies.values()))


def _compile_trigger(trigger: TriggerDefinition, texts: ParsedExpressions) -> PlannedTrigger:
    expressions, renderers = _compile_slots(trigger, texts)
    return PlannedTrigger(trigger, expressions, renderers, secret_positions(trigger, texts))


def compile_notify(rules: Sequence[NotifyDefinition], texts: ParsedExpressions) -> tuple[PlannedNotify, ...]:
    """Compile the texts of notifications that have been checked."""
    return tuple(PlannedNotify(one, _compile_slots(one, texts)[1]) for one in rules)


def _compile_key(limit: ConcurrencyDefinition | RateDefinition | None, texts: ParsedExpressions) -> Renderer | None:
    return _compile_slots(limit, texts)[1].get("key") if limit is not None else None


def _compile_graph(graph: GraphDefinition, texts: ParsedExpressions) -> PlannedGraph:
    shape = topology(graph)
    ports: list[dict[str, list[int]]] = [{} for _ in graph.nodes]
    sources: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        source, target = shape.position[edge.source], shape.position[edge.target]
        ports[source].setdefault(edge.port, []).append(target)
        sources[target].append(source)
    nodes = tuple(
        _compile_node(node, index, ports[index], sources[index], texts) for index, node in enumerate(graph.nodes)
    )
    starts = tuple(shape.position[name] for name in graph.start)
    by_id = {planned.id: planned for planned in nodes}
    return PlannedGraph(nodes, by_id, MappingProxyType(shape.position), starts, shape.order)


def _compile_node(
    node: Node, index: int, ports: Mapping[str, list[int]], sources: list[int], texts: ParsedExpressions
) -> PlannedNode:
    expressions, renderers = _compile_slots(node, texts)
    bodies = {branch: _compile_graph(graph, texts) for branch, graph in nested(node)}
    return PlannedNode(
        node=node,
        id=node.id,
        role=_role(node),
        index=index,
        ports=MappingProxyType({port: tuple(targets) for port, targets in ports.items()}),
        edges=tuple((port, target) for port, targets in ports.items() for target in targets),
        incoming=len(sources),
        sources=tuple(sorted(set(sources))),
        expressions=expressions,
        renderers=renderers,
        bodies=MappingProxyType(bodies),
        secrets=secret_positions(node, texts),
    )


def _role(node: Node) -> Role:
    match node:
        case Loop() | Parallel():
            return "container"
        case ChildWorkflow(detached=True) | Send(wait=False):
            return "detached"
        case Callback(call=str()):
            return "callback"
        case Callback() | ChildWorkflow() | Send():
            return "awaited"
        case WorkingNode():
            return "call"
        case Delay() | AskingNode() | WaitSignal():
            return "wait"
        case _:
            return "inline"


def _compile_slots(
    part: DefinitionPart, texts: ParsedExpressions
) -> tuple[Mapping[str, Program], Mapping[str, Renderer]]:
    expressions: dict[str, Program] = {}
    renderers: dict[str, Renderer] = {}
    for slot in expression_fields(part):
        if slot.is_expression:
            expressions[slot.path] = compile_expression(texts.expression(str(slot.value)))
        else:
            renderers[slot.path] = prepare(slot.value, texts.template)
    return MappingProxyType(expressions), MappingProxyType(renderers)
