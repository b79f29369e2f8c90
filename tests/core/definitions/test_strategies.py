"""The generators themselves: their output is valid, and over a run they generate every feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.core.definitions import Checked, check
from layover.core.definitions.model import GraphDefinition
from layover.core.definitions.node_types import Parallel

from .dice import SeededDice
from .parts_of import declaring, parts_of, said, wanted_fields
from .strategies import ROUNDS, definition
from .surface import surface

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.definitions.model import DefinitionPart


def test_every_generated_definition_is_valid_and_together_they_use_every_field() -> None:
    seen: set[tuple[str, str]] = set()
    shapes: set[str] = set()
    for seed in range(400 * max(ROUNDS, 1)):
        checked = check(definition(SeededDice(seed)))
        assert checked.ok, _errors(checked)
        for path, part in parts_of(checked.definition):
            seen.update((declaring(type(part), field), field) for field in said(part))
            shapes.update(_shapes(part, sum(field == "body" for field, _ in path)))
    assert wanted_fields() - seen == set()
    assert {
        "joined merge",
        "joined switch",
        "joined loop",
        "three deep",
        "several starts",
        "several branches",
    } <= shapes
    assert {"port error", "port expired", "port rejected", "port default", "port true", "port done"} <= shapes


def _shapes(part: DefinitionPart, depth: int) -> Iterator[str]:
    if isinstance(part, GraphDefinition):
        targets = [edge.target for edge in part.edges]
        yield from (f"joined {node.type}" for node in part.nodes if targets.count(node.id) > 1)
        yield from (f"port {edge.port}" for edge in part.edges)
        if len(part.start) > 1:
            yield "several starts"
        if depth >= 3:
            yield "three deep"
    if isinstance(part, Parallel) and len(part.branches) > 1:
        yield "several branches"


def test_every_generated_way_of_writing_is_valid_and_together_they_use_every_shorthand() -> None:
    seen: set[str] = set()
    for seed in range(300 * max(ROUNDS, 1)):
        dice = SeededDice(seed)
        written = surface(dice, definition(dice))
        checked = check(written)
        assert checked.ok, _errors(checked)
        seen.update(_shorthands(written, "definition"))
    assert seen == {
        *("definition start is a name", "definition start is a list", "definition start is null", "definition starts"),
        *("next is a name", "next is a list", "next is a mapping", "next is a mapping of lists", "edges"),
        *("edge without port", "body is a list", "body is a mapping", "retry: forever", "retry", "null", "default"),
        "when",
        *("body start is a name", "body start is a list", "body start is null", "body starts"),
    }


def _shorthands(graph: Any, what: str) -> Iterator[str]:
    nodes = graph if isinstance(graph, list) else graph["nodes"]
    if isinstance(graph, dict):
        yield from _starts(graph, what)
        yield from ("edges" if "port" in edge else "edge without port" for edge in graph.get("edges", []))
    for node in nodes:
        yield from _next(node)
        yield from _spelled_out(node)
        bodies = [node["body"]] if node["type"] in ("loop", "parallel") and node.get("body") else []
        branches = (node.get("branches") or []) if node["type"] == "parallel" else []
        for body in [*bodies, *(branch["body"] for branch in branches)]:
            yield "body is a list" if isinstance(body, list) else "body is a mapping"
            yield from _shorthands(body, "body")


def _starts(graph: dict[str, Any], what: str) -> Iterator[str]:
    match graph.get("start", 0):
        case None:
            yield f"{what} start is null"
        case str():
            yield f"{what} start is a name"
        case [_]:
            yield f"{what} start is a list"
        case [_, *_]:
            yield f"{what} starts"


def _next(node: dict[str, Any]) -> Iterator[str]:
    match node.get("next"):
        case str():
            yield "next is a name"
        case list():
            yield "next is a list"
        case dict() as ports:
            yield "next is a mapping"
            if any(isinstance(targets, list) for targets in ports.values()):
                yield "next is a mapping of lists"


def _spelled_out(node: dict[str, Any]) -> Iterator[str]:
    if isinstance(node.get("retry"), str):
        yield "retry: forever"
    elif isinstance(node.get("retry"), dict):
        yield "retry"
    if node.get("join") == "all":
        yield "default"
    if any("when" in case for case in node.get("cases") or []):
        yield "when"
    if "timeout" in node and node["timeout"] is None:
        yield "null"


def _errors(checked: Checked) -> str:
    return "\n".join(str(problem) for problem in checked.problems if problem.severity == "error")
