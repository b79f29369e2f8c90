"""The meaning of a YAML scalar by the core schema of YAML 1.2: null, booleans, numbers, and everything else is text.

YAML 1.1 made booleans of `on` and `no`, dates of `2026-01-01` and minutes of `1:30`; here they stay the text that they
look like. The reader asks for the meaning of a scalar, the writer whether a text would be read as something else.
"""

from __future__ import annotations

import re
from typing import Final

from layover.core.definitions import numerals

WORDS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_FIRST = frozenset("0123456789-+.~nNtTfF")
_WHOLE = re.compile(r"([-+]?)([0-9]+)").fullmatch
_BASED = re.compile(r"0(?:o([0-7]+)|x([0-9a-fA-F]+))").fullmatch
_FRACTION = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?").fullmatch
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)").fullmatch


class RefusedNumber(ValueError):  # noqa: N818 - the reader turns it into a problem
    """A number that JSON cannot hold; `code` is the problem's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def meaning(text: str, most_digits: int) -> bool | int | float | str | None:
    """Return the value of a plain scalar; refuse a number that JSON cannot hold."""
    if text and text[0] not in _FIRST:
        return text
    if text in WORDS:
        return WORDS[text]
    number = _number(text, most_digits)
    return text if number is None else number


def reads_as_text(text: str) -> bool:
    """Return whether a plain scalar is read as text."""
    if text in WORDS:
        return False
    return not (_WHOLE(text) or _BASED(text) or _FRACTION(text) or _NO_NUMBER(text))


def _number(text: str, most_digits: int) -> int | float | None:
    if _NO_NUMBER(text):
        raise RefusedNumber("bad_number", numerals.NOT_A_NUMBER)
    number: int | float | None
    if match := _WHOLE(text):
        number = numerals.integer(match[2], sign=-1 if match[1] == "-" else 1)
    elif match := _BASED(text):
        number = numerals.integer(match[1], 8) if match[1] else numerals.integer(match[2], 16)
    elif _FRACTION(text):
        number = numerals.fraction(text, most_digits)
    else:
        return None
    if number is None:
        raise RefusedNumber("number_too_large", numerals.TOO_LARGE)
    return number
