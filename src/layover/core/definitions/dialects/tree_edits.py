"""New trees from old ones.

A translated value has the position of the value that it was made from, so that every later problem still points at the
author's own text. Trees that are moved unchanged keep their exact positions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from layover.core.definitions.tree import Tree

Shape: TypeAlias = "Tree | bool | int | float | str | Sequence[Shape] | Mapping[str, Shape] | None"

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GAP = re.compile(r"[_\s-]+")


def build_tree(value: Shape, stock: Tree) -> Tree:
    """Make a tree: parts that are trees keep their positions, the rest gets the position of `stock`."""
    if isinstance(value, Tree):
        return value
    if isinstance(value, Mapping):
        return stock.with_value({key: build_tree(child, stock) for key, child in value.items()})
    if isinstance(value, Sequence) and not isinstance(value, str):
        return stock.with_value([build_tree(child, stock) for child in value])
    return stock.with_value(value)


def items_of(tree: Tree | None) -> list[Tree]:
    """Return the items of a list, or none."""
    return tree.value if tree is not None and isinstance(tree.value, list) else []


def fields_of(tree: Tree | None) -> dict[str, Tree]:
    """Return the fields of a mapping, or none."""
    return tree.value if tree is not None and isinstance(tree.value, dict) else {}


def text_of(tree: Tree | None) -> str | None:
    """Return text that is not empty."""
    return tree.value if tree is not None and isinstance(tree.value, str) and tree.value else None


def label_of(tree: Tree | None) -> str | None:
    """Return the label of a branch: text, or the word for a boolean or a number."""
    value = tree.value if tree is not None else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float) and abs(value) < 1e15:
        return str(value)
    return text_of(tree)


def number_of(tree: Tree | None) -> int | float | None:
    """Return a number, also one that was written as text."""
    value = tree.value if tree is not None else None
    if isinstance(value, str):
        value = _parsed(value)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value


def is_false(tree: Tree | None) -> bool:
    """Return whether something is explicitly switched off."""
    return tree is not None and (tree.value is False or tree.value == "false")


def kebab(text: str) -> str:
    """Return the one spelling of `waitEvents`, `wait_events`, `Wait Events` and `wait-events`."""
    return _GAP.sub("-", _HUMP.sub("-", text.strip())).lower()


def _parsed(text: str) -> int | float | None:
    text = text.strip()
    if len(text) > 40 or not re.fullmatch(r"-?[0-9]+(?:\.[0-9]+)?", text):
        return None
    return float(text) if "." in text else int(text)
