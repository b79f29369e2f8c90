"""Whether one JSON document contains another, by the rules of PostgreSQL's `@>`.

An object contains another if it has each of its members, and the values contain each other in the same way. An array
contains another if each element of the other is contained in one of its own, in any order and any number. Numbers are
compared by value; values of different types are never equal.
"""

from __future__ import annotations

from functools import lru_cache

from layover.core.conditions import contains_value, is_same
from layover.core.input_index import UNREADABLE, fault_of, read_document
from layover.ports.errors import StoreError


def contains(data: object, wanted: object) -> bool:
    """Return whether data contains other data."""
    if isinstance(data, list) and not isinstance(wanted, list | dict):
        return any(
            is_same(part, wanted) for part in data
        )  # PostgreSQL makes this exception for the whole document only
    return contains_value(data, wanted)


def storable_input(document: bytes | None) -> bytes | None:
    """Return the input by which an execution can be found; None if not every store could store it."""
    return document if document is not None and fault_of(document) is None else None


def check_where(document: bytes | None) -> None:
    """Refuse a `where` that no stored input could contain."""
    fault = fault_of(document) if document is not None else None
    if fault is not None:
        raise StoreError(f"`where` cannot be looked for: {fault}.", code="invalid_filter")


def document_contains(document: bytes | None, where: bytes) -> bool:
    """Return whether a document contains another. A missing or unreadable document contains nothing."""
    if document is None:
        return False
    try:
        data = read_document(document)
    except UNREADABLE:
        return False  # damaged; the other executions are still listed
    return contains(data, _wanted(where))


@lru_cache(maxsize=8)
def _wanted(where: bytes) -> object:
    return read_document(where)  # once for the many documents of a list
