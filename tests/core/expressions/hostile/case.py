"""A hostile expression, and its expected outcome: the allowed codes, or the value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SYNTAX = "expression_syntax"
TOO_LARGE = "expression_too_large"
UNKNOWN = "expression_unknown_name"
BUDGET = "budget_exceeded"
NO_KEY = "no_such_key"
OVERLOAD = "no_such_overload"
ARGUMENT = "invalid_argument"
RANGE = "out_of_range"
OVERFLOW = "overflow"


@dataclass(frozen=True)
class Case:
    """An expression, its data, and the allowed verdicts."""

    name: str
    source: str
    verdicts: frozenset[str]
    context: Mapping[str, object] = field(default_factory=dict)
    value: object = None


def refused(name: str, source: str, *codes: str) -> Case:
    """Return a case that is refused before it is evaluated."""
    return Case(name, source, frozenset(codes or {TOO_LARGE}))


def stopped(name: str, source: str, *codes: str, **context: object) -> Case:
    """Return a case that fails while it is evaluated."""
    return Case(name, source, frozenset(codes or {BUDGET}), context)


def answered(name: str, source: str, value: object, **context: object) -> Case:
    """Return a case that gives a value."""
    return Case(name, source, frozenset({"value"}), context, value)


def nested(open_: str, close: str, depth: int, core: str = "1") -> str:
    """Write one thing inside another, many times."""
    return open_ * depth + core + close * depth


def deep(depth: int, core: object = 0) -> object:
    """Nest lists around a value without recursion."""
    for _ in range(depth):
        core = [core]
    return core


def deep_map(depth: int) -> object:
    """Nest maps around a value without recursion."""
    value: object = 0
    for _ in range(depth):
        value = {"a": value}
    return value
