"""A document as people write it: each node says what comes next, and a body is the list of its nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.node_types import default_port

if TYPE_CHECKING:
    from layover.core.definitions.tree import Json

_CONTAINERS = ("loop", "parallel")


def as_people_write(graph: dict[str, Json]) -> dict[str, Json]:
    """Return a canonical document, or a graph of one, without the edges that a `next` can say."""
    following: dict[str, dict[str, list[Json]]] = {}
    kept: list[Json] = []
    for edge in _mappings(graph.get("edges")):
        if edge.keys() == {"source", "target", "port"}:
            following.setdefault(str(edge["source"]), {}).setdefault(str(edge["port"]), []).append(edge["target"])
        else:  # the edge has an id, or `x-` fields
            kept.append(edge)
    nodes: list[Json] = [_node(node, following.get(str(node["id"]), {})) for node in _mappings(graph["nodes"])]
    written = {**graph, "nodes": nodes, "edges": kept}
    if not kept:
        del written["edges"]
    return written


def _node(node: dict[str, Json], ports: dict[str, list[Json]]) -> dict[str, Json]:
    if node["type"] in _CONTAINERS:
        node = _with_body(node)
        if "branches" in node:
            node["branches"] = [_with_body(branch) for branch in _mappings(node["branches"])]
    if not ports:
        return node
    following: dict[str, Json] = {port: to[0] if len(to) == 1 else to for port, to in ports.items()}
    usual = default_port(str(node["type"]))
    return {**node, "next": following[usual] if usual is not None and [*ports] == [usual] else following}


def _with_body(part: dict[str, Json]) -> dict[str, Json]:
    body = part.get("body")
    if not isinstance(body, dict):
        return {**part}
    graph = as_people_write(body)
    return {**part, "body": graph["nodes"] if graph.keys() == {"nodes"} else graph}


def _mappings(value: Json) -> list[dict[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
