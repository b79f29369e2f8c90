"""Random edits of a definition: what people change between two versions, sensible or not."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

from layover.core.plan import load
from layover.errors import InvalidDefinition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.plan import Plan
    from tests.core.definitions.dice import Dice

Document = dict[str, Any]


def edited(document: Document, dice: Dice) -> tuple[Plan, dict[str, str]] | None:
    """Return another version and names of nodes in it; None if the edits have made it invalid."""
    after, names = copy.deepcopy(document), dict[str, str]()
    for n in range(dice.integer(1, 3)):
        after = _edit(after, names, dice, n)
    try:
        return load(after), names
    except InvalidDefinition:
        return None


def _graphs(graph: Document) -> Iterator[Document]:
    yield graph
    for node in graph["nodes"]:
        for inner in (node.get("body"), *(branch["body"] for branch in node.get("branches", ()))):
            if isinstance(inner, dict) and "nodes" in inner:
                yield from _graphs(inner)


def _edit(document: Document, names: dict[str, str], dice: Dice, n: int) -> Document:
    graph = dice.pick([one for one in _graphs(document) if one["nodes"]] or [document])
    if not graph["nodes"]:
        return document
    node = dice.pick(graph["nodes"])
    match dice.integer(0, 10):
        case 0 | 1:
            return _rename(document, names, dice, node["id"], f"z{n}")
        case 2:
            _remove(graph, node["id"])
        case 3 | 4:
            _insert(graph, dice, f"y{n}")
        case 5:
            node["label"] = "another"
        case 6:
            kind = dice.pick(("form", "compute", "delay"))
            graph["nodes"][graph["nodes"].index(node)] = {"id": node["id"], **_fields_of(kind)}
        case 9:
            _swap(graph, node["id"], dice.pick(graph["nodes"])["id"])
        case 7:
            graph["nodes"].append({"id": f"x{n}", **_fields_of(dice.pick(("form", "compute")))})
            other = dice.pick(graph["nodes"])["id"]
            source, target = (f"x{n}", other) if dice.chance(3) else (other, f"x{n}")
            if source != target:
                graph["edges"].append({"source": source, "target": target, "port": "done"})
        case 10:
            document["variables"] = {**document.get("variables", {}), f"late{n}": n}
        case _:
            asking = [one for one in graph["nodes"] if one["type"] in ("form", "approval")]
            for one in asking:
                one["title"] = "Asked in another way"
    return document


def _swap(graph: Document, one: str, other: str) -> None:
    """Have two nodes change places."""
    places = {one: other, other: one}
    for edge in graph["edges"]:
        for end in ("source", "target"):
            edge[end] = places.get(edge[end], edge[end])


def _fields_of(kind: str) -> Document:
    fields: dict[str, Document] = {"form": {}, "compute": {"output": 1}, "delay": {"duration": "1h"}}
    return {"type": kind, **fields[kind]}


def _rename(document: Document, names: dict[str, str], dice: Dice, old: str, new: str) -> Document:
    if not dice.chance(4):
        first = next((one for one, name in names.items() if name == old), old)
        names[first] = new
    after: Document = json.loads(re.sub(rf"\b{re.escape(old)}\b", new, json.dumps(document)))
    return after


def _remove(graph: Document, id_: str) -> None:
    """Remove a node; what led to it leads to what was behind it."""
    behind = [edge["target"] for edge in graph["edges"] if edge["source"] == id_]
    before = [edge for edge in graph["edges"] if edge["target"] == id_]
    graph["nodes"] = [node for node in graph["nodes"] if node["id"] != id_]
    graph["edges"] = [edge for edge in graph["edges"] if id_ not in (edge["source"], edge["target"])]
    graph["edges"] += [{**edge, "target": target} for edge in before for target in behind]


def _insert(graph: Document, dice: Dice, id_: str) -> None:
    """Insert a node into an edge."""
    if not graph["edges"]:
        return
    edge = dice.pick(graph["edges"])
    kind = dice.pick(("form", "compute"))
    graph["nodes"].append({"id": id_, **_fields_of(kind)})
    graph["edges"].append({"source": id_, "target": edge["target"], "port": "done"})
    edge["target"] = id_
