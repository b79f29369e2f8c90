"""The graph of an execution: the nodes of its plan, also those inside containers, with their status.

A node is named by its position in the plan: `count:lines` is in the body of `lines`, `charge:checks.payment`
in a branch of `checks`. The rounds of a loop are one and the same node here, however many there are.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from layover.core.context_ids import context_id
from layover.core.engine.state import ExecutionState
from layover.model.executions import Graph, GraphEdge, GraphNode, Position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.core.plan import Plan, PlannedGraph, PlannedNode
    from layover.runtime.queries.node_executions import NodeDraft

_AHEAD = frozenset({"ready", "skipped"})  # what only the state knows of: the log does not tell it


def drawn(plan: Plan, version: int | None = None) -> Graph:
    """Return the graph of a plan before anything has run."""
    return graph(plan, ExecutionState(plan), (), version)


def graph(plan: Plan, state: ExecutionState, reached: Sequence[NodeDraft], version: int | None = None) -> Graph:
    """Return the graph of an execution."""
    drawing = _Drawing(plan, state, reached)
    return Graph(
        workflow=plan.definition.name,
        version=version,
        nodes=tuple(drawing.nodes(plan.graph, "", None, None)),
        edges=tuple(drawing.edges(plan.graph, "")),
    )


class _Drawing:
    def __init__(self, plan: Plan, state: ExecutionState, reached: Sequence[NodeDraft]) -> None:
        self._plan = plan
        self._runs: dict[str, Counter[str]] = {}
        self._latest: dict[str, str] = {}
        self._left: Counter[tuple[str, str]] = Counter()
        known = {one.context_id for one in reached}
        ahead = [(name, node.status) for name, node in state.nodes.rows.items() if name not in known]
        for name, status in ahead:
            if status in _AHEAD:
                self._note(self._place(name), status)
        for one in reached:
            place = self._place(one.context_id)
            self._note(place, one.status)
            if one.status in ("completed", "failed") and one.port:
                self._left[place, one.port] += 1

    def _note(self, place: str, status: str) -> None:
        self._runs.setdefault(place, Counter())[status] += 1
        self._latest[place] = status

    def _place(self, name: str) -> str:
        """Return where in the plan something stands that has a context id."""
        node, _, path = name.partition(":")
        found, here = "", self._plan.graph
        for step in path.split(":") if path else ():
            container, _, key = step.partition(".")
            planned = here.node(container)
            found, here = _inside(found, planned, key), planned.body(key)
        return context_id(found, node)

    def nodes(self, here: PlannedGraph, path: str, parent: str | None, branch: str | None) -> Iterator[GraphNode]:
        for index in here.order:
            planned = here.nodes[index]
            place, node = context_id(path, planned.id), planned.node
            yield GraphNode(
                id=place,
                node=node.id,
                type=node.type,
                label=node.label or None,
                parent=parent,
                branch=branch,
                status=self._latest.get(place),
                runs=dict(self._runs.get(place, {})),
                position=Position(x=node.position.x, y=node.position.y) if node.position is not None else None,
            )
            for key, body in planned.bodies.items():
                yield from self.nodes(body, _inside(path, planned, key), place, key or None)

    def edges(self, here: PlannedGraph, path: str) -> Iterator[GraphEdge]:
        for index in here.order:
            planned = here.nodes[index]
            place = context_id(path, planned.id)
            for port, target in planned.edges:
                goal = context_id(path, here.nodes[target].id)
                yield GraphEdge(source=place, target=goal, port=port, taken=self._left[place, port])
            for key, body in planned.bodies.items():
                yield from self.edges(body, _inside(path, planned, key))


def _inside(path: str, planned: PlannedNode, key: str) -> str:
    """Return the path of a body: all rounds of a container have one."""
    step = planned.id if "" in planned.bodies else f"{planned.id}.{key}"
    return f"{path}:{step}" if path else step
