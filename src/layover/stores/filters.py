"""Whether what an execution began with fulfils conditions: of one whose input is not kept, nothing is known."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from layover.core.conditions import Condition, holds
from layover.core.documents import UNREADABLE, read_document
from layover.ports.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENCODER = msgspec.json.Encoder(decimal_format="number")


def check_conditions(conditions: Sequence[Condition]) -> None:
    """Refuse conditions on what a store cannot read."""
    for condition in conditions:
        if condition.path[0] != "input":
            where = ".".join(condition.path)
            raise StoreError(f"A store looks for nothing but inputs, and not for `{where}`.", code="invalid_filter")


def document_fulfils(document: bytes | None, conditions: Sequence[Condition]) -> bool:
    """Return whether a document fulfils all conditions; one that is not there, or cannot be read, fulfils none."""
    if document is None:
        return False
    try:
        found = {"input": read_document(document)}
    except UNREADABLE:
        return False  # damaged: whoever looks for others still finds them
    return all(holds(condition, found) for condition in conditions)


def encode_conditions(conditions: Sequence[Condition]) -> bytes:
    """Return conditions as they are handed to a function of a database."""
    return _ENCODER.encode(conditions)


@lru_cache(maxsize=8)
def decode_conditions(text: bytes) -> tuple[Condition, ...]:
    """Return the conditions that were encode_conditions, once for the many documents that they are compared with."""
    return msgspec.convert(read_document(text), tuple[Condition, ...])
