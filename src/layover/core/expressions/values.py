"""The values of expressions, which are plain Python data: their kinds, and when two are equal.

Nothing is converted on the way in. Kinds are recognised by exact type, so a bool is never an int and no attribute of a
foreign object is ever read; a Mapping or Sequence that is not a dict or list (a view of state, say) works too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Final, Literal

from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.instants import Duration, Timestamp

if TYPE_CHECKING:
    from layover.core.expressions.limits import Meter

Value = object
Kind = Literal["null", "bool", "int", "double", "string", "timestamp", "duration", "list", "map", "unknown"]

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
_LONG: Final = 64
_PER_STEP: Final = 8  # elements that are looked at, where that takes one comparison each
_SHOWN: Final = 100

_KINDS: Final[dict[type, Kind]] = {
    NoneType: "null",
    bool: "bool",
    int: "int",
    float: "double",
    str: "string",
    Timestamp: "timestamp",
    Duration: "duration",
    list: "list",
    tuple: "list",
    dict: "map",
}


def kind(value: Value) -> Kind:
    """Return the kind of a value in expressions."""
    known = _KINDS.get(type(value))
    if known is not None:
        return known
    if isinstance(value, Mapping):
        return "map"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview):
        return "list"
    return "unknown"


def as_list(value: Value) -> Sequence[Value] | None:
    """Return a value as a list, or None if it is not one."""
    if type(value) is list:
        return value
    return value if isinstance(value, Sequence) and kind(value) == "list" else None


def as_map(value: Value) -> Mapping[Value, Value] | None:
    """Return a value as a map, or None if it is not one."""
    if type(value) is dict:
        return value
    return value if isinstance(value, Mapping) else None


def no_overload(operation: str, *operands: Value) -> ExpressionError:
    """Return the error for an operation on values of the wrong kinds."""
    kinds = ", ".join(kind(operand) for operand in operands)
    return ExpressionError(f"`{operation}` has no meaning for ({kinds}).", code="no_such_overload")


def display(value: Value) -> str:
    """Return a value for a message, shortened if it is long."""
    if type(value) is str:
        return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
    if type(value) is int:
        return str(value) if INT_MIN <= value <= INT_MAX else "(an integer of more than 64 bits)"
    return str(value).lower() if type(value) is bool else kind(value)


def holds(container: Mapping[Value, Value], key: Value, meter: Meter) -> bool:
    """Return whether a map has a key; unlike Python, `true` and `1` are different keys."""
    if key not in container:
        return False
    if type(key) is str or key not in {0, 1}:
        return True
    meter.charge(len(container) // _PER_STEP)
    as_bool = type(key) is bool
    return any(found == key and (type(found) is bool) is as_bool for found in container)


def equal(left: Value, right: Value, meter: Meter) -> bool:
    """Return whether two values are equal as CEL sees it: deep, and false for different kinds."""
    kind_left, kind_right = type(left), type(right)
    if kind_left is str and kind_right is str:
        return _equal_texts(left, right, meter)  # type: ignore[arg-type]  # both are text, as just checked
    if kind_left in _SCALARS and kind_right in _SCALARS:
        return _equal_scalars(left, right)
    return _equal_deep(left, right, meter)


_NUMBERS: Final = frozenset({int, float})
_SCALARS: Final = frozenset({NoneType, bool, int, float, str, Timestamp, Duration})


def _equal_texts(left: str, right: str, meter: Meter) -> bool:
    if len(left) != len(right):
        return False
    meter.scan(len(left))
    return left == right


def _equal_scalars(left: Value, right: Value) -> bool:
    if type(left) is type(right) or (type(left) in _NUMBERS and type(right) in _NUMBERS):
        return left == right
    return False


def _equal_deep(left: Value, right: Value, meter: Meter) -> bool:
    """Compare with a stack of our own: data may be nested deeper than Python can recurse."""
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        meter.charge(1)
        if type(one) in _SCALARS or type(other) in _SCALARS:
            if type(one) is str and type(other) is str:
                same = _equal_texts(one, other, meter)
            else:
                same = _equal_scalars(one, other)
            if not same:
                return False
            continue
        list_one, list_other = as_list(one), as_list(other)
        if list_one is not None and list_other is not None:
            if len(list_one) != len(list_other):
                return False
            meter.charge(len(list_one))
            pending.extend(zip(list_one, list_other, strict=True))
            continue
        map_one, map_other = as_map(one), as_map(other)
        if map_one is None or map_other is None or len(map_one) != len(map_other):
            return False
        meter.charge(len(map_one))
        for key in map_one:
            if not holds(map_other, key, meter):
                return False
            pending.append((map_one[key], map_other[key]))
    return True


def contains(container: Sequence[Value], needle: Value, meter: Meter) -> bool:
    """Return whether a list has an element that equals a value."""
    short = type(needle) in _SCALARS and (type(needle) is not str or len(needle) < _LONG)
    if type(container) is list and short:
        meter.charge(len(container) // _PER_STEP)
        if needle not in container:
            return False  # Python's equality is wider than CEL's, so a miss is a miss
        if type(needle) is str:
            return True
    meter.charge(len(container))
    return any(equal(item, needle, meter) for item in container)
