"""Arithmetic and the texts of numbers.

Integers have 64 bits and never wrap: a result that does not fit is an error. An integer beside a double becomes a
double, the one place where these numbers differ from CEL's, which has no arithmetic between the two.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from layover.core.expressions.errors import ExpressionError
from layover.core.expressions.values import INT_MAX, INT_MIN, display

_SPACE = " \t\n\v\f\r"
_INT_TEXT = re.compile(r"[+-]?[0-9]+")
_DOUBLE_TEXT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX_TEXT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_SPECIAL_TEXT = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_MAX_TEXT: Final = 1_000
_MAX_DIGITS: Final = 15


def overflow() -> ExpressionError:
    """Return the error for a number that 64 bits cannot hold."""
    return ExpressionError("The result does not fit into a 64-bit integer.", code="overflow")


def fits(value: int) -> int:
    """Return an integer unless it needs more than 64 bits."""
    if INT_MIN <= value <= INT_MAX:
        return value
    raise overflow()


def to_double(value: float) -> float:
    """Return a number as a double."""
    return float(fits(value)) if type(value) is int else value


def divide(left: int, right: int) -> int:
    """Divide integers towards zero."""
    if right == 0:
        raise ExpressionError("Division by zero.", code="division_by_zero")
    quotient = abs(fits(left)) // abs(fits(right))
    return fits(quotient if (left < 0) == (right < 0) else -quotient)


def divide_doubles(left: float, right: float) -> float:
    """Divide doubles as IEEE 754 has it: by zero gives an infinity or NaN."""
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def remainder(left: int, right: int) -> int:
    """Return the remainder of an integer division, with the sign of the left side."""
    if right == 0:
        raise ExpressionError("The remainder of a division by zero.", code="division_by_zero")
    if left == INT_MIN and right == -1:
        raise overflow()
    rest = abs(fits(left)) % abs(fits(right))
    return rest if left >= 0 else -rest


def parse_int(text: str) -> int:
    """Return the integer that a text stands for."""
    digits = text.strip(_SPACE) if len(text) <= _MAX_TEXT else ""
    if _INT_TEXT.fullmatch(digits) is not None:
        value = int(digits)
        if INT_MIN <= value <= INT_MAX:
            return value
    raise ExpressionError(f"`{text[:100]}` is not a 64-bit integer.", code="invalid_argument")


def int_of_double(value: float) -> int:
    """Return a double cut off towards zero."""
    if not -(2.0**63) < value < 2.0**63:
        raise ExpressionError("The double lies outside the 64-bit integers.", code="overflow")
    return int(value)


def parse_double(text: str) -> float:
    """Return the double that a text stands for."""
    number = text.strip(_SPACE) if len(text) <= _MAX_TEXT else ""
    if _DOUBLE_TEXT.fullmatch(number) or _SPECIAL_TEXT.fullmatch(number):
        return float(number)
    if _HEX_TEXT.fullmatch(number):
        try:
            return float.fromhex(number)
        except OverflowError:
            return -math.inf if number[0] == "-" else math.inf
    raise ExpressionError(f"`{text[:100]}` is not a number.", code="invalid_argument")


def format_double(value: float) -> str:
    """Return a double as CEL's `string()` writes it: the fewest digits that give it back, in exponents from 1e+06."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    if not isinstance(exponent, int):
        raise TypeError(exponent)
    text = "".join(map(str, digits)).lstrip("0")
    power = len(text) + exponent - 1
    text = text.rstrip("0")
    minus = "-" if sign else ""
    if not text:
        return f"{minus}0"
    if -4 <= power < 6:
        return f"{minus}{_plain(text, power)}"
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{minus}{text[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02}"


def plain_double(value: float) -> str:
    """Return a double as people write it: no exponent unless it is very large or very small, no empty fraction."""
    text = repr(value)
    return text.removesuffix(".0")


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return f"0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    fraction = digits[power + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


def round_half_away(value: float, digits: int | None = None) -> float:
    """Round half away from zero: to an integer, or to some decimal digits of the number as it is written."""
    if digits is not None and not 0 <= digits <= _MAX_DIGITS:
        raise ExpressionError(
            f"`round` takes 0 to {_MAX_DIGITS} digits, not {display(digits)}.", code="invalid_argument"
        )
    if type(value) is int:
        return fits(value)
    if math.isnan(value) or math.isinf(value):
        if digits is not None:
            return value
        raise ExpressionError(f"`{format_double(value)}` cannot be rounded to an integer.", code="overflow")
    if digits is None:
        return fits(int(Decimal(repr(value)).to_integral_value(ROUND_HALF_UP)))
    if abs(value) >= 2.0**53:
        return value
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
