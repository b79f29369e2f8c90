"""What the span of a leg says of it."""

from __future__ import annotations

from typing import NamedTuple


class LegFacts(NamedTuple):
    """A leg, by ids and numbers."""

    execution_id: str
    workflow: str
    version: int | None
    depth: int  # how many ancestors the execution has
    number: int
    cause: str
    instance: str
