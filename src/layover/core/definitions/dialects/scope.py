"""The names that foreign expressions use, and their names in our format.

Foreign expressions name a node's output by the bare id of the node, and the data that started the execution by
`_trigger` or by the id of the trigger node. With us these are `nodes.<id>`, `trigger` and `input`. Text from a document
becomes part of an expression only through `quoted` and `member`, so that data can never turn into code.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from layover.core.expressions.lexer import KEYWORDS
from layover.core.expressions.macros import RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOTS: Final = frozenset({"input", "nodes", "vars", "trigger", "execution", "errors"})
FUNCTIONS: Final = {"_now": "now", "_uuid": "uuid", "_jsonStringify": "json", "_jsonParse": "parseJson"}

_FOREIGN_ROOTS = {"_trigger": "trigger", "_vars": "vars"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INDEXED = re.compile(r"([^\[\]]*)((?:\[[0-9]{1,15}\])+)")
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029]")


class RootNames:
    """The meaning of each root name at one position of a document."""

    __slots__ = ("_base", "_nodes", "_response", "_triggers", "_variables")

    def __init__(
        self,
        nodes: Iterable[str] = (),
        triggers: Iterable[str] = (),
        variables: Iterable[str] = (),
        base: str = "input",
        response: str | None = None,
    ) -> None:
        self._nodes = frozenset(nodes)
        self._triggers = frozenset(triggers)
        self._variables = frozenset(variables)
        self._base = base
        self._response = response

    def within(self, nodes: Iterable[str], variables: Iterable[str]) -> RootNames:
        """Return the scope of a body that has nodes and variables of its own."""
        variables = self._variables.union(variables)
        return RootNames(self._nodes.union(nodes) - variables, self._triggers - variables, variables, self._base)

    def on(self, base: str) -> RootNames:
        """Return the same scope, in which paths that begin with no known name are fields of something else."""
        return RootNames(self._nodes, self._triggers, self._variables, base)

    def answered_by(self, node: str) -> RootNames:
        """Return the scope of a mapping that calls the output of a node `_response`."""
        return RootNames(self._nodes, self._triggers, self._variables, self._base, output_of(node))

    def knows(self, node: str) -> bool:
        """Return whether there is a node of this id."""
        return node in self._nodes

    def reference(self, name: str) -> str | None:
        """Return the expression of a root name, or None if the name is unknown here."""
        if name in self._variables:
            return name
        if name in self._triggers:
            return "input"
        if name in self._nodes:
            return output_of(name)
        if name in ROOTS:
            return name
        return self._response if name == "_response" else _FOREIGN_ROOTS.get(name)

    def path(self, text: str) -> str | None:
        """Return the expression that reads a dotted path such as `order.lines[0].total`; None if it is no path."""
        first, *rest = text.strip().split(".")
        name, indices = _split_indices(first)
        if not name or not all(rest):
            return None
        root = self.reference(name) or (self._base + member(name))
        return root + indices + "".join(_step(segment) for segment in rest)


def output_of(node: str) -> str:
    """Return the expression for the output of a node."""
    return "nodes" + member(node)


def member(key: str) -> str:
    """Return the suffix that reads a field of an expression."""
    if _NAME.fullmatch(key) and key not in KEYWORDS and key not in RESERVED:
        return f".{key}"
    return f"[{quoted(key)}]"


def quoted(text: str) -> str:
    """Return the literal that evaluates to exactly this text."""
    literal = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", literal)


def _step(segment: str) -> str:
    name, indices = _split_indices(segment)
    if name.isascii() and name.isdigit() and len(name) <= 15:
        return f"[{int(name)}]{indices}"
    return member(name) + indices


def _split_indices(segment: str) -> tuple[str, str]:
    match = _INDEXED.fullmatch(segment)
    return (match[1], match[2]) if match else (segment, "")
