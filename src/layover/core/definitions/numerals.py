"""Numbers as both syntaxes write them: whole numbers of 64 bits, fractions that a double can hold.

The work is bounded before any digit is converted.
"""

from __future__ import annotations

from math import isinf

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_DIGITS = 19  # of 2**63 in decimal, more than in any other base

TOO_LARGE = "This number is too large: a whole number fits into 64 bits, a fraction into a double. Write it as text."
NOT_A_NUMBER = "JSON has no number that is infinite or not a number: leave it out, or write null or text."


def integer(digits: str, base: int = 10, sign: int = 1) -> int | None:
    """Return the whole number that digits without a sign spell, or None if it does not fit into 64 bits."""
    significant = digits.lstrip("0")
    if len(significant) > (_DIGITS if base == 10 else 64):
        return None
    number = sign * int(significant or "0", base)
    return number if _SMALLEST <= number <= _LARGEST else None


def fraction(text: str, most_digits: int) -> float | None:
    """Return the double nearest to a decimal numeral, or None if it is longer than allowed or overflows."""
    if len(text) > most_digits:
        return None
    number = float(text)
    return None if isinf(number) else number
