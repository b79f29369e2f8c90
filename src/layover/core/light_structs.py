"""Structs for small objects that are made for each leg, decision or write.

A struct of msgspec is made without a call of Python, in a third of the time. These are never encoded, decoded or
compared, so the types of their fields need not be known when they are defined; and they do not show their fields, which
may hold what a user has given.
"""

from __future__ import annotations

import msgspec


class LightStruct(msgspec.Struct, eq=False):
    """An object with a few fields that costs little to make."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
