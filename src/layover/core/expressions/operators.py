"""The operators, for every pair of kinds that they have a meaning for.

These are the complete, slower answers: compiled code decides the most common cases itself (two integers, text with a
constant) and comes here for the rest. Errors raised here have no offset yet; the caller knows it.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Final, cast

from layover.core.expressions import instants
from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.instants import Duration, Timestamp
from layover.core.expressions.numbers import divide, divide_doubles, fits, remainder, to_double
from layover.core.expressions.values import as_list, as_map, contains, display, holds, kind, no_overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.expressions.limits import Meter
    from layover.core.expressions.syntax import Arithmetic

NUMERIC: Final = frozenset({int, float})
KEYS: Final = frozenset({str, int, bool, float})


def add(left: object, right: object, meter: Meter) -> object:
    """`+`: numbers, texts, lists, and time."""
    if type(left) in NUMERIC and type(right) in NUMERIC:
        return _arithmetic(operator.add, left, right)
    if type(left) is str and type(right) is str:
        meter.build(len(left) + len(right))
        return left + right
    if isinstance(left, Duration):
        if isinstance(right, Duration):
            return instants.duration(left.ns + right.ns)
        if isinstance(right, Timestamp):
            return instants.timestamp(left.ns + right.ns)
    elif isinstance(left, Timestamp):
        if isinstance(right, Duration):
            return instants.timestamp(left.ns + right.ns)
    else:
        one, other = as_list(left), as_list(right)
        if one is not None and other is not None:
            meter.build(len(one) + len(other))
            return [*one, *other]
    raise no_overload("+", left, right)


def subtract(left: object, right: object, _: Meter) -> object:
    """`-`: numbers and time."""
    if type(left) in NUMERIC and type(right) in NUMERIC:
        return _arithmetic(operator.sub, left, right)
    if isinstance(left, Timestamp):
        if isinstance(right, Timestamp):
            return instants.duration(left.ns - right.ns)
        if isinstance(right, Duration):
            return instants.timestamp(left.ns - right.ns)
    elif isinstance(left, Duration) and isinstance(right, Duration):
        return instants.duration(left.ns - right.ns)
    raise no_overload("-", left, right)


def multiply(left: object, right: object, _: Meter) -> object:
    """`*`: numbers."""
    if type(left) in NUMERIC and type(right) in NUMERIC:
        return _arithmetic(operator.mul, left, right)
    raise no_overload("*", left, right)


def divide_any(left: object, right: object, _: Meter) -> object:
    """`/`: numbers; integers divide towards zero."""
    if type(left) is int and type(right) is int:
        return divide(left, right)
    if type(left) in NUMERIC and type(right) in NUMERIC:
        return divide_doubles(to_double(cast("float", left)), to_double(cast("float", right)))
    raise no_overload("/", left, right)


def modulo(left: object, right: object, _: Meter) -> object:
    """`%`: integers only."""
    if type(left) is int and type(right) is int:
        return remainder(left, right)
    raise no_overload("%", left, right)


def negate(value: object) -> object:
    """`-value`."""
    if type(value) is int:
        return fits(-fits(value))
    if type(value) is float:
        return -value
    raise no_overload("-", value)


def _arithmetic(compute: Callable[[object, object], object], left: object, right: object) -> object:
    if type(left) is int and type(right) is int:
        return fits(cast("int", compute(fits(left), fits(right))))
    return compute(to_double(cast("float", left)), to_double(cast("float", right)))


ARITHMETIC: Final[dict[Arithmetic, Callable[[object, object, Meter], object]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide_any,
    "%": modulo,
}
ORDER: Final = cast(
    "dict[str, Callable[[object, object], bool]]",
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
)
MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_ORDERED: Final = frozenset({int, float, str, bool, Timestamp, Duration})


def order(relation: str, left: object, right: object, meter: Meter) -> bool:
    """`<` and its like: two numbers, or two values of the same ordered kind."""
    if type(left) is str and type(right) is str:
        meter.scan(min(len(left), len(right)))
        return ORDER[relation](left, right)
    same = type(left) is type(right) and type(left) in _ORDERED
    if same or (type(left) in NUMERIC and type(right) in NUMERIC):
        return ORDER[relation](left, right)
    raise no_overload(relation, left, right)


def is_in(needle: object, container: object, meter: Meter) -> bool:
    """`in`: an element of a list, or a key of a map."""
    items = as_list(container)
    if items is not None:
        return contains(items, needle, meter)
    entries = as_map(container)
    if entries is not None and type(needle) in KEYS:
        if type(needle) is str:
            meter.scan(len(needle))
        return holds(entries, needle, meter)
    raise no_overload("in", needle, container)


def at(container: object, key: object, meter: Meter, path: str) -> object:
    """`container[key]`: an element of a list by its position from 0, or a value of a map by its key."""
    items = as_list(container)
    if items is not None:
        if type(key) is float and key.is_integer():
            key = int(key)
        if type(key) is not int:
            raise no_overload("[]", container, key)
        if 0 <= key < len(items):
            return items[key]
        raise ExpressionError(
            f"`{path}`: there is no element {display(key)} in a list of {len(items)}; positions count from 0.",
            code="out_of_range",
        )
    entries = as_map(container)
    if entries is None or type(key) not in KEYS:
        if container is None:
            raise ExpressionError(f"`{path}`: null has no elements.", code="no_such_key")
        raise no_overload("[]", container, key)
    if type(key) is str:
        meter.scan(len(key))
    if not holds(entries, key, meter):
        raise ExpressionError(f"`{path}`: there is no key `{display(key)}` here.", code="no_such_key")
    return entries[key]


def boolean(operation: str, value: object) -> bool:
    """Return a value that must be a bool."""
    if type(value) is bool:
        return value
    raise ExpressionError(f"`{operation}` needs a bool, not a value of kind {kind(value)}.", code="no_such_overload")
