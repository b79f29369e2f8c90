"""Filters on the input of executions. An execution whose input is not stored matches no condition."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from layover.core.conditions import PathCondition, holds
from layover.core.input_index import UNREADABLE, read_document
from layover.ports.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENCODER = msgspec.json.Encoder(decimal_format="number")


def check_conditions(conditions: Sequence[PathCondition]) -> None:
    """Refuse conditions on anything but the input."""
    for condition in conditions:
        if condition.path[0] != "input":
            where = ".".join(condition.path)
            raise StoreError(f"A store looks for nothing but inputs, and not for `{where}`.", code="invalid_filter")


def document_fulfils(document: bytes | None, conditions: Sequence[PathCondition]) -> bool:
    """Return whether a document fulfils all conditions. A missing or unreadable document fulfils none."""
    if document is None:
        return False
    try:
        found = {"input": read_document(document)}
    except UNREADABLE:
        return False  # damaged; the other executions are still listed
    return all(holds(condition, found) for condition in conditions)


def encode_conditions(conditions: Sequence[PathCondition]) -> bytes:
    """Return conditions in the form that is passed to the SQL function `fulfils`."""
    return _ENCODER.encode(conditions)


@lru_cache(maxsize=8)
def decode_conditions(text: bytes) -> tuple[PathCondition, ...]:
    """Return encoded conditions. The result is cached, since one list compares many documents with them."""
    return msgspec.convert(read_document(text), tuple[PathCondition, ...])
