"""What the tests of the dialects have in common: translate plain data, evaluate what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from layover.core.definitions import check
from layover.core.definitions.dialects import translate
from layover.core.definitions.problems import Problem, Problems
from layover.core.definitions.tree import plant
from layover.core.expressions import Template, compile_expression, parse

if TYPE_CHECKING:
    from collections.abc import Mapping


def translated(document: object) -> tuple[Any, list[Problem]]:
    """Return a document in our form, and what was wrong with it."""
    problems = Problems()
    return translate(plant(document), problems).plain(), problems.found()


def cleanly(document: object) -> Any:
    """Return a document in our form; nothing may be wrong with it."""
    made, problems = translated(document)
    assert problems == []
    return made


def faults(document: object, functions: set[str] | None = None) -> list[Problem]:
    """Return what is wrong with a document, but for how long it waits for people: most do not say that."""
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
    """Return what a single builder node becomes."""
    (made,) = cleanly(builder(node))["nodes"]
    return cast(dict[str, Any], made)


def many(node: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """Return the nodes that a single builder node becomes, by id."""
    return {made["id"]: made for made in cleanly(builder(node))["nodes"]}


def value_of(expression: str, **names: object) -> object:
    return compile_expression(parse(expression)).evaluate(names)


def render(template: str, **names: object) -> object:
    return Template.parse(template).render(names)
