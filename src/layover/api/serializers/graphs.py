"""Graphs as they cross the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.api.resources.executions import Graph, GraphEdge, GraphNode, Position

if TYPE_CHECKING:
    from layover.runtime.queries import graphs


def graph_of(graph: graphs.Graph) -> Graph:
    """Return the graph of an execution."""
    return Graph(
        workflow=graph.workflow,
        version=graph.version,
        nodes=[
            GraphNode(
                id=one.id,
                node=one.node,
                type=one.type,
                label=one.label or None,
                parent=one.parent,
                branch=one.branch,
                status=one.status,
                runs=one.runs,
                position=Position(x=one.position[0], y=one.position[1]) if one.position is not None else None,
            )
            for one in graph.nodes
        ],
        edges=[GraphEdge(source=one.source, target=one.target, port=one.port, taken=one.taken) for one in graph.edges],
    )
