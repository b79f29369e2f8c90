"""The JSON documents in the input index: the inputs of executions, and the searched values.

Every store indexes the same ones, so that a list is the same from each of them: a document that one of them could not
store (PostgreSQL has no text with U+0000, and no number without bounds) is indexed by none. Numbers are read exactly as
they are written, so that they are compared by value and without the rounding of floats.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

import msgspec

MOST_BYTES = 8_192  # an index has an entry for each value: larger documents cost more than they find
MOST_DEPTH = 32  # levels of objects and arrays
_MOST_EXPONENT = 400  # more than a float can have

_NESTING = (dict, list)
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class Unbounded(ArithmeticError):  # noqa: N818 - it says what the number is
    """A number with an exponent that not every database supports."""


UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, Unbounded)


def document_of(value: object) -> bytes | None:
    """Return the document by which an execution with this input is found, or None if it is not indexed."""
    if not isinstance(value, dict) or not value:
        return None
    document = msgspec.json.encode(value)
    return document if len(document) <= MOST_BYTES else None


def fault_of(document: bytes) -> str | None:
    """Return why a document is not indexed and cannot be searched for, or None."""
    if len(document) > MOST_BYTES:
        return f"it has {len(document):,} bytes, and at most {MOST_BYTES:,} can be searched for"
    try:
        value = read_document(document)
    except Unbounded as error:
        return str(error)
    except UNREADABLE as error:
        return f"it is not valid JSON: {error}"
    if not isinstance(value, dict) or not value:
        return "it is not an object with members"
    if _is_too_deep(value, document):
        return f"it nests deeper than {MOST_DEPTH} levels"
    if b"\\u0000" in document and _NUL.search(document) is not None:  # after a backslash it is six other characters
        return "a text in it has the character U+0000"
    return None


def _exact(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = None
    if number is None or abs(number.adjusted()) > _MOST_EXPONENT:
        raise Unbounded(f"the number {text[:40]} is too large or too precise to be searched for")
    return number


def _is_too_deep(value: dict[str, object], document: bytes) -> bool:
    if document.count(b"[") + document.count(b"{") <= MOST_DEPTH:
        return False
    level: list[dict[str, object] | list[object]] = [value]
    for _ in range(MOST_DEPTH):
        parts = (part for whole in level for part in (whole.values() if isinstance(whole, dict) else whole))
        level = [part for part in parts if isinstance(part, _NESTING)]
    return bool(level)


read_document = msgspec.json.Decoder(float_hook=_exact).decode
