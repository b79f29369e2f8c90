"""The functions on lists that Layover adds to CEL: `min`, `max`, `sum`, `sort`, `distinct`.

They take values of one comparable kind (integers and doubles count as one) and refuse a mixture.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Protocol

from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.numbers import fits
from layover.core.expressions.values import INT_MAX, INT_MIN, as_list, equal, kind, no_overload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.expressions.frame import Frame

_PER_STEP: Final = 8  # numbers that are compared
_COMPARABLE: Final = {
    "int": "number",
    "double": "number",
    "string": "string",
    "bool": "bool",
    "timestamp": "timestamp",
    "duration": "duration",
}


class _Ordered(Protocol):
    def __lt__(self, other: object, /) -> bool: ...
    def __gt__(self, other: object, /) -> bool: ...


def minimum(frame: Frame, *values: object) -> object:
    """Return the smallest of several values, or of one list."""
    ordered = _ordered("min", frame, values)
    return min(ordered)


def maximum(frame: Frame, *values: object) -> object:
    """Return the largest of several values, or of one list."""
    ordered = _ordered("max", frame, values)
    return max(ordered)


def total(frame: Frame, values: Sequence[object]) -> int | float:
    """Return the sum of numbers: an integer if all are, 0 if there are none."""
    frame.meter.charge(len(values))
    whole = 0
    fraction = 0.0
    exact = True
    for value in values:
        if type(value) is int:
            if exact:
                whole = fits(whole + fits(value))
            else:
                fraction += fits(value)
        elif type(value) is float:
            fraction = float(whole) + value if exact else fraction + value
            exact = False
        else:
            raise no_overload("sum", values, value)
    return whole if exact else fraction


def sort(frame: Frame, values: Sequence[object]) -> list[object]:
    """Return values from the smallest to the largest; equal ones keep their order."""
    frame.meter.charge(len(values) * max(len(values).bit_length(), 1), len(values))
    comparable = _comparable("sort", values)
    if any(type(value) is float and math.isnan(value) for value in values):
        raise ExpressionError("`sort` cannot order NaN.", code="invalid_argument")
    frame.meter.scan(_characters(values) * len(values).bit_length())
    return list[object](sorted(comparable))


def distinct(frame: Frame, values: Sequence[object]) -> list[object]:
    """Return values without those that equal an earlier one."""
    frame.meter.charge(len(values), len(values))
    frame.meter.scan(_characters(values))
    seen: set[tuple[str, object]] = set()
    structures: list[object] = []
    large: list[object] = []
    kept: list[object] = []
    for value in values:
        comparable = _COMPARABLE.get(kind(value))
        if comparable == "number" and not _hashes_well(value):
            frame.meter.charge(len(large) // _PER_STEP)
            if value not in large:
                large.append(value)
                kept.append(value)
        elif value is None or comparable is not None:
            key = (comparable or "null", value)
            if key not in seen or value != value:  # noqa: PLR0124 - only NaN differs from itself
                seen.add(key)
                kept.append(value)
        elif not any(equal(value, other, frame.meter) for other in structures):
            structures.append(value)
            kept.append(value)
    return kept


def _hashes_well(value: object) -> bool:
    """Return whether a number is of a kind for which hash collisions cannot be constructed."""
    if type(value) is float:
        return not abs(value) > INT_MAX  # NaN, too: its hash is its identity
    return type(value) is int and INT_MIN <= value <= INT_MAX


def _characters(values: Sequence[object]) -> int:
    return sum(len(value) for value in values if type(value) is str)


def _ordered(function: str, frame: Frame, values: Sequence[object]) -> Sequence[_Ordered]:
    only = as_list(values[0]) if len(values) == 1 else None
    chosen = values if only is None else only
    if not chosen:
        raise ExpressionError(f"`{function}` of an empty list.", code="invalid_argument")
    frame.meter.charge(len(chosen))
    frame.meter.scan(_characters(chosen))
    return _comparable(function, chosen)


def _comparable(function: str, values: Sequence[object]) -> Sequence[_Ordered]:
    """Return the values, now known to be of one comparable kind."""
    if values:
        first = _COMPARABLE.get(kind(values[0]))
        for value in values:
            if first is None or _COMPARABLE.get(kind(value)) != first:
                raise no_overload(function, values[0], value)
    return values  # type: ignore[return-value]  # every element was just found comparable
