"""From one kind to another: `int`, `double`, `string`, `bool`, `timestamp`, `duration`, `dyn`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.expressions import instants
from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.instants import SECOND, Duration, Timestamp
from layover.core.expressions.numbers import fits, format_double, int_of_double, parse_double, parse_int, to_double

if TYPE_CHECKING:
    from layover.core.expressions.frame import Frame

_BOOLS: Final = {
    **dict.fromkeys(("1", "t", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "false", "FALSE", "False"), False),
}


def to_int(_: Frame, value: float | str | Timestamp) -> int:
    """Return a value as an integer: doubles are cut off, timestamps are seconds since 1970."""
    if isinstance(value, str):
        return parse_int(value)
    if isinstance(value, Timestamp):
        return value.ns // SECOND
    return fits(value) if isinstance(value, int) else int_of_double(value)


def to_double_value(_: Frame, value: float | str) -> float:
    """Return a value as a double."""
    return parse_double(value) if isinstance(value, str) else to_double(value)


def to_string(_: Frame, value: str | float | Timestamp | Duration) -> str:
    """Return a value as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(fits(value))
    if isinstance(value, float):
        return format_double(value)
    return instants.format_timestamp(value) if isinstance(value, Timestamp) else instants.format_duration(value)


def to_bool(_: Frame, value: bool | str) -> bool:  # noqa: FBT001 - a value, not a switch
    """Return a text such as `true` or `0` as a bool."""
    if isinstance(value, bool):
        return value
    known = _BOOLS.get(value)
    if known is None:
        raise ExpressionError(f"`{value[:100]}` is neither true nor false.", code="invalid_argument")
    return known


def to_timestamp(_: Frame, value: str | int | Timestamp) -> Timestamp:
    """Return an RFC 3339 text, or seconds since 1970, as a timestamp."""
    if isinstance(value, Timestamp):
        return value
    return instants.parse_timestamp(value) if isinstance(value, str) else instants.timestamp(fits(value) * SECOND)


def to_duration(_: Frame, value: str | Duration) -> Duration:
    """Return a text such as `1h30m` as a duration."""
    return value if isinstance(value, Duration) else instants.parse_duration(value)


def dyn(_: Frame, value: object) -> object:
    """Return a value unchanged; the checker knows nothing about it from here on."""
    return value
