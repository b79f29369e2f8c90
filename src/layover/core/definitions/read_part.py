"""Reads a part of a definition that stands by itself, as settings and requests have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from layover.core.definitions.model import DefinitionPart
from layover.core.definitions.problems import InvalidDefinition, Problems
from layover.core.definitions.read import Reading, read_struct
from layover.core.definitions.tree import NotJson, tree_from_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.definitions.read import Bad
    from layover.core.definitions.tree import Tree

P = TypeVar("P", bound=DefinitionPart)


def read_part(struct: type[P], data: object, check: Callable[[P, Reading], None]) -> P:
    """Read and check a part that has no graph; InvalidDefinition lists what is wrong with it."""
    problems = Problems()
    reading = Reading(problems, _refuse_graph)
    try:
        found = read_struct(struct, tree_from_data(data), reading)
    except NotJson as error:
        problems.add(error.code, error.place, str(error))
        raise InvalidDefinition(problems.listed()) from error
    if isinstance(found, struct):
        check(found, reading)
        if not problems.failed:
            return found
    raise InvalidDefinition(problems.listed())


def _refuse_graph(tree: Tree, reading: Reading) -> Bad:
    return reading.bad("bad_type", tree, "There is no graph here.")
