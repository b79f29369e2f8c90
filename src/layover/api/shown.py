"""Executions as they are sent: what they hold may be larger than an answer can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from layover.core.payloads import MAX_INLINE

if TYPE_CHECKING:
    from layover.model.executions import Execution


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
