"""Executions as they are sent: what they hold may be larger than an answer can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.payloads import MAX_INLINE

if TYPE_CHECKING:
    from layover.model.executions import Event, Execution

_LONGEST_CHARACTER = 6  # bytes, as an escape of JSON
_LEVELS = 3  # of objects that are looked into


def bounded(execution: Execution) -> Execution:
    """Return an execution with as many of its variables as fit; of the others, how many bytes each has."""
    variables = execution.variables
    sizes = {name: len(msgspec.json.encode(value)) for name, value in variables.items()}
    if sum(sizes.values()) <= MAX_INLINE:
        return execution
    found: dict[str, object] = {}
    room = MAX_INLINE
    for name, value in variables.items():
        fits = sizes[name] <= room
        room -= sizes[name] if fits else 0
        found[name] = value if fits else {"$omitted": sizes[name]}
    return replace(execution, variables=found)


def without_large_values(event: Event, largest: int) -> Event:
    """Return an event of whose values none has more bytes than that."""
    return replace(event, data={name: _cut(value, largest, _LEVELS) for name, value in event.data.items()})


def _cut(value: object, largest: int, levels: int) -> object:
    """Return a value if it is small enough; else the beginning of a text, what is small of an object, or its size."""
    size = len(msgspec.json.encode(value))
    if size <= largest:
        return value
    match value:
        case str():
            return value[: largest // _LONGEST_CHARACTER]
        case dict() if levels:
            inside = {str(name): _cut(one, largest, levels - 1) for name, one in value.items()}
            return inside if len(msgspec.json.encode(inside)) <= largest else {"$omitted": size}
        case _:
            return {"$omitted": size}
