"""Which kinds the operators take and give, as tables for the checker: the static twin of `operators`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.expressions.types import (
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NUMBER,
    STRING,
    TIMESTAMP,
    ListOf,
    Type,
    common,
    kinds,
)

if TYPE_CHECKING:
    from layover.core.expressions.syntax import Arithmetic
    from layover.core.expressions.values import Kind

_LIST: Final = ListOf(DYN)
_NUMBERS: Final[dict[tuple[Kind, Kind], Type]] = {
    ("int", "int"): INT,
    ("int", "double"): DOUBLE,
    ("double", "int"): DOUBLE,
    ("double", "double"): DOUBLE,
}
_RESULTS: Final[dict[Arithmetic, dict[tuple[Kind, Kind], Type]]] = {
    "+": {
        **_NUMBERS,
        ("string", "string"): STRING,
        ("list", "list"): _LIST,
        ("timestamp", "duration"): TIMESTAMP,
        ("duration", "timestamp"): TIMESTAMP,
        ("duration", "duration"): DURATION,
    },
    "-": {
        **_NUMBERS,
        ("timestamp", "timestamp"): DURATION,
        ("timestamp", "duration"): TIMESTAMP,
        ("duration", "duration"): DURATION,
    },
    "*": _NUMBERS,
    "/": _NUMBERS,
    "%": {("int", "int"): INT},
}
_ORDERED: Final[frozenset[Kind]] = frozenset({"bool", "string", "timestamp", "duration"})
KEY: Final[frozenset[Kind]] = frozenset({"string", "int", "bool", "double"})


def arithmetic(operator: Arithmetic, left: Type, right: Type) -> Type | None:
    """Return the type of `left operator right`, or None if it cannot work."""
    lefts, rights = kinds(left), kinds(right)
    found = [result for pair, result in _RESULTS[operator].items() if pair[0] in lefts and pair[1] in rights]
    if not found:
        return None
    if isinstance(left, ListOf) and isinstance(right, ListOf):
        return ListOf(common([left.element, right.element]))
    return common(found)


def comparable(left: Type, right: Type) -> bool:
    """Return whether some values of two types can be ordered."""
    both = kinds(left) & kinds(right)
    if both & _ORDERED:
        return True
    return bool(kinds(left) & NUMBER.kinds) and bool(kinds(right) & NUMBER.kinds)
