"""The largest size of a definition. Every bound is checked before the work that it bounds is done."""

from __future__ import annotations

import msgspec


class DefinitionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one definition; the defaults fit workflows that people write and read."""

    bytes: int = 4 * 1024 * 1024
    values: int = 200_000
    depth: int = 100
    nodes: int = 5_000
    edges: int = 20_000
    parts: int = 1_000_000  # of all its expressions, counted again for each alias
    problems: int = 200
    number_digits: int = 400


DEFAULT_LIMITS = DefinitionLimits()
