"""From a source to a checked definition: the one way in, for files, requests, stored versions and Python data alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.definitions.check_definition import check_definition
from layover.core.definitions.dialects import translate
from layover.core.definitions.limits import DEFAULT_LIMITS, DefinitionLimits
from layover.core.definitions.parsed_expressions import ParsedExpressions
from layover.core.definitions.problems import InvalidDefinition, Problem, Problems, TooManyProblems
from layover.core.definitions.read_graph import DefinitionReader
from layover.core.definitions.read_text import Syntax, read_text
from layover.core.definitions.tree import NotJson, Tree, tree_from_data

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from layover.core.definitions.model import Definition


class Checked:
    """The result of a check: all problems, and the definition as far as it could be read.

    `steps` counts the work that was done (values read, parts checked, characters of expressions), so that tests can see
    that it is bounded.
    """

    __slots__ = ("_definition", "problems", "steps", "texts")

    def __init__(
        self, definition: Definition | None, problems: list[Problem], texts: ParsedExpressions, steps: int
    ) -> None:
        self._definition = definition
        self.problems = tuple(problems)
        self.texts = texts
        self.steps = steps

    @property
    def ok(self) -> bool:
        """Whether it can run; warnings do not prevent that."""
        return self._definition is not None and all(problem.severity == "warning" for problem in self.problems)

    @property
    def definition(self) -> Definition:
        """The definition; InvalidDefinition if there are errors."""
        if self._definition is None or not self.ok:
            raise InvalidDefinition([problem for problem in self.problems if problem.severity == "error"])
        return self._definition


def check(
    source: str | bytes | Mapping[str, object],
    *,
    syntax: Syntax = "auto",
    functions: Collection[str] | None = None,
    limits: DefinitionLimits = DEFAULT_LIMITS,
    stored: bool = False,
) -> Checked:
    """Read a definition and find all its problems.

    `functions` are the registered node types; without them, types that are not built in are only warned about. Where
    they map to their `Parameters`, the arguments that nodes give them are checked as well. A source that triggers poll
    is among them as `source:NAME`. A version that was accepted and `stored` by an earlier release stays usable: rules
    that are newer only warn.
    """
    problems = Problems(limits.problems, stored=stored)
    texts = ParsedExpressions()
    definition: Definition | None = None
    reader = DefinitionReader(problems, limits)
    try:
        tree = _tree(source, syntax, problems, limits)
        if tree is not None:
            definition = reader.read(translate(tree, problems))
            if definition is not None:
                check_definition(definition, reader.reading, texts, functions, limits)
    except TooManyProblems:
        definition = None
    return Checked(definition, problems.listed(), texts, reader.reading.steps + texts.steps)


def _tree(
    source: str | bytes | Mapping[str, object], syntax: Syntax, problems: Problems, limits: DefinitionLimits
) -> Tree | None:
    if isinstance(source, str | bytes):
        return read_text(source, problems, limits, syntax=syntax)
    try:
        return tree_from_data(dict(source), limits=limits)
    except NotJson as error:
        problems.add(error.code, error.place, str(error))
        return None
