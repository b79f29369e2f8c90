"""Every expression of a definition: does it parse, do its names exist there, can its types work?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layover.core.definitions.check_secrets import SecretChecker
from layover.core.definitions.expression_fields import ExpressionField, expression_fields, find
from layover.core.definitions.node_types import Callback, Loop, Parallel
from layover.core.definitions.problems import TooManyProblems
from layover.core.definitions.scopes import CALLBACK, SECRETS, SIGNAL
from layover.core.definitions.secret_use import secret_fields
from layover.core.expressions import BOOL, DYN, ExpressionError, ListOf, Type, check
from layover.core.expressions.types import may_be, name_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from layover.core.definitions.model import Definition, DefinitionPart, Node
    from layover.core.definitions.parsed_expressions import ParsedExpressions
    from layover.core.definitions.read import Reading
    from layover.core.definitions.scopes import VisibleNames
    from layover.core.definitions.tree import Tree
    from layover.core.expressions import Expression

_CONDITIONS = frozenset({"if", "while", "break_if", "skip_if", "filter"})
_BRACES = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)")
_EXPOSED = (
    "A secret can only be given to a call (of a function, a source, or by HTTP), not be used here; a child has its own."
)
_AFTER_BODY = frozenset({"break_if", "collect"})


class ExpressionChecker:
    """Checks the expression fields of nodes and learns their types."""

    def __init__(
        self, reading: Reading, texts: ParsedExpressions, most_parts: int, declared: Collection[str] = ()
    ) -> None:
        self._reading = reading
        self._secrets = SecretChecker(reading.problems, declared)
        self._problems = reading.problems
        self._texts = texts
        self._parts = 0
        self._most_parts = most_parts

    def check_node(self, node: Node, scope: VisibleNames) -> None:
        """Check the expressions of a node, without its bodies."""
        for slot in expression_fields(node):
            if not (isinstance(node, Loop | Parallel) and slot.path in (*_AFTER_BODY, "skip_if", "for_each")):
                self._check_field(slot, scope.names(_extra_names(node, slot)))

    def check_items(self, node: Loop | Parallel, scope: VisibleNames) -> Type:
        """Check `for_each` and return the known type of one item."""
        tree = self._reading.site(node).get("for_each")
        if node.for_each is None or tree is None:
            return DYN
        found = self._check_text(tree, node.for_each, scope.names())
        if not may_be(found, ListOf(DYN)):
            self._add("expression_type", tree, f"`for_each` needs a list, and this is a {name_of(found)}.")
        return found.element if isinstance(found, ListOf) else DYN

    def check_rounds(self, node: Loop | Parallel, before: VisibleNames, after: VisibleNames) -> None:
        """Check the expressions that are evaluated before each round of a body and after it."""
        for slot in expression_fields(node):
            if slot.path in _AFTER_BODY:
                self._check_field(slot, after.names())
            elif slot.path == "skip_if":
                self._check_field(slot, before.names())

    def check_part(
        self, part: DefinitionPart, names: Mapping[str, Type], other: Mapping[str, Mapping[str, Type]] | None = None
    ) -> None:
        """Check the expressions of a part that is not a node; some of its fields may have `other` names."""
        for slot in expression_fields(part):
            self._check_field(slot, (other or {}).get(slot.path, names))

    def check_top(self, definition: Definition) -> None:
        """Check what a definition declares beside its graph."""
        site = self._reading.site(definition)
        self._secrets.check_declaration(site.get("secrets"))
        if (variables := site.get("variables")) is not None:
            self._secrets.check_literals(variables)

    def _check_field(self, slot: ExpressionField, names: Mapping[str, Type]) -> None:
        tree = find(self._reading.site(slot.part), slot.field)
        if tree is None:
            return
        if slot.is_expression:
            found = self._check_text(tree, str(slot.value), names)
            if slot.field in _CONDITIONS and not may_be(found, BOOL):
                self._add(
                    "expression_type", tree, f"`{slot.field}` needs true or false, and this is a {name_of(found)}."
                )
            return
        self._secrets.check_literals(tree)
        seen: set[str] = set()  # an alias can repeat one text a hundred thousand times
        for leaf in _texts_in(tree):
            text = str(leaf.value)
            if text in seen:
                continue
            known = self._problems.count
            self._check_template(leaf, names)
            self._check_braces(leaf, names)
            if self._problems.count == known:
                seen.add(text)

    def _check_text(self, tree: Tree, text: str, names: Mapping[str, Type]) -> Type:
        try:
            expression = self._texts.expression(text)
        except ExpressionError as error:
            self._report(tree, error, 0)
            return DYN
        return self._check_names(tree, expression, names, 0)

    def _check_template(self, tree: Tree, names: Mapping[str, Type]) -> None:
        try:
            template = self._texts.template(str(tree.value))
        except ExpressionError as error:
            self._report(tree, error, 0)
            return
        for offset, expression in template.expressions:
            if "secrets" in expression.roots and "secrets" in names:
                self._secrets.check_use(tree, template)
            self._check_names(tree, expression, names, offset)

    def _check_braces(self, tree: Tree, names: Mapping[str, Type]) -> None:
        """Warn of `{{ input.x }}`, which other tools replace: here it stays as it is."""
        braces = next((found for found in _BRACES.finditer(str(tree.value)) if found[1] in names), None)
        if braces is not None:
            self._problems.warn(
                "double_braces",
                tree.place,
                f"`{{{{ {braces[1]}… }}}}` is plain text and stays as it is: write `${{{braces[1]}…}}` for its value.",
            )

    def _check_names(self, tree: Tree, expression: Expression, names: Mapping[str, Type], offset: int) -> Type:
        if "secrets" in expression.roots and "secrets" not in names:
            self._add("secret_exposed", tree, _EXPOSED)
            return DYN
        self._parts += expression.nodes
        if self._parts > self._most_parts:
            self._add("too_large", tree, f"The expressions of a definition have at most {self._most_parts} parts.")
            raise TooManyProblems
        found, errors = check(expression, names, self._problems.suggestions)
        for error in errors:
            self._report(tree, error, offset)
        return found

    def _report(self, tree: Tree, error: ExpressionError, offset: int) -> None:
        within = offset + (error.offset or 0)
        column = tree.text_column + within if tree.text_column is not None else None
        self._problems.add(error.code, tree.place, _sentence(error.message), column=column)

    def _add(self, code: str, tree: Tree, message: str) -> None:
        self._problems.add(code, tree.place, message)


def _extra_names(node: Node, slot: ExpressionField) -> dict[str, Type]:
    """Return the names that only some fields have."""
    names: dict[str, Type] = {}
    if slot.path in secret_fields(node):
        names["secrets"] = SECRETS
    if isinstance(node, Callback):
        names["callback"] = CALLBACK
    if slot.field == "filter":
        names["signal"] = SIGNAL
    if isinstance(node, Loop) and slot.path == "while":
        names[node.index_as] = DYN
    return names


def _texts_in(tree: Tree) -> Iterator[Tree]:
    """Return the strings that may hold a template."""
    if isinstance(tree.value, str):
        if "$" in tree.value or "{{" in tree.value:
            yield tree
    elif isinstance(tree.value, dict):
        for child in tree.value.values():
            yield from _texts_in(child)
    elif isinstance(tree.value, list):
        for child in tree.value:
            yield from _texts_in(child)


def _sentence(message: str) -> str:
    return message if message.endswith((".", "?")) else f"{message}."
