"""Helpers for the tests of the dialects: translate plain data, evaluate the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from layover.core.definitions import check
from layover.core.definitions.dialects import translate
from layover.core.definitions.problems import Problem, Problems
from layover.core.definitions.tree import tree_from_data
from layover.core.expressions import Template, compile_expression, parse

if TYPE_CHECKING:
    from collections.abc import Mapping


def translated(document: object) -> tuple[Any, list[Problem]]:
    """Return a document in our form, and its problems."""
    problems = Problems()
    return translate(tree_from_data(document), problems).plain(), problems.listed()


def cleanly(document: object) -> Any:
    """Return a document in our form; it must have no problems."""
    made, problems = translated(document)
    assert problems == []
    return made


def faults(document: object, functions: set[str] | None = None) -> list[Problem]:
    """Return the problems of a document, except for missing deadlines: most documents have none."""
    source = cast("Mapping[str, object]", document)
    problems = check(source, functions=functions).problems
    return [problem for problem in problems if problem.code != "default_max_pause"]


def builder(*nodes: Mapping[str, object], edges: list[object] | None = None) -> dict[str, object]:
    return {"name": "built", "nodes": list(nodes), "edges": edges or []}


def logic(kind: str, config: object, **fields: object) -> dict[str, object]:
    return {"nodeId": "n", "type": "logic", "subType": kind, "config": config, **fields}


def action(kind: str, config: object, **fields: object) -> dict[str, object]:
    return {"nodeId": "n", "type": "action", "subType": kind, "config": config, **fields}


def one(node: Mapping[str, object]) -> dict[str, Any]:
    """Return the translation of a single builder node."""
    (made,) = cleanly(builder(node))["nodes"]
    return cast("dict[str, Any]", made)


def many(node: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """Return the nodes that a single builder node becomes, by id."""
    return {made["id"]: made for made in cleanly(builder(node))["nodes"]}


def value_of(expression: str, **names: object) -> object:
    return compile_expression(parse(expression)).evaluate(names)


def render(template: str, **names: object) -> object:
    return Template.parse(template).render(names)
