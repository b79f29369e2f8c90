"""Whether one JSON document contains another, as PostgreSQL's `@>` has it.

An object contains another if it has every member of it, and each contains what is wanted of it. An array contains
another if each wanted element is contained in one of its own, in whatever order and however often. Numbers are the same
by value, and everything else only if it is of the same type.
"""

from __future__ import annotations

from functools import lru_cache

from layover.core.conditions import contained, is_same
from layover.core.documents import UNREADABLE, fault_of, read_document
from layover.ports.errors import StoreError


def contains(data: object, wanted: object) -> bool:
    """Return whether data contains what is wanted."""
    if isinstance(data, list) and not isinstance(wanted, list | dict):
        return any(is_same(part, wanted) for part in data)  # an exception that is made for the whole document only
    return contained(data, wanted)


def storable_input(document: bytes | None) -> bytes | None:
    """Return what an execution is found by: nothing, if what it began with is not what every store can keep."""
    return document if document is not None and fault_of(document) is None else None


def check_where(document: bytes | None) -> None:
    """Refuse to look for what is never kept."""
    fault = fault_of(document) if document is not None else None
    if fault is not None:
        raise StoreError(f"`where` cannot be looked for: {fault}.", code="invalid_filter")


def document_contains(document: bytes | None, where: bytes) -> bool:
    """Return whether a document contains another; one that is not there, or cannot be read, contains nothing."""
    if document is None:
        return False
    try:
        data = read_document(document)
    except UNREADABLE:
        return False  # damaged: whoever looks for others still finds them
    return contains(data, _wanted(where))


@lru_cache(maxsize=8)
def _wanted(where: bytes) -> object:
    return read_document(where)  # once for the many documents that it is compared with
