"""Pages that are bounded in bytes: items that hold data may be few and large."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def fitting(items: Sequence[T], most: int) -> list[T]:
    """Return the first items that take so many bytes at most when they are written, but at least one."""
    found: list[T] = []
    for item in items:
        most -= len(msgspec.json.encode(item))
        if most < 0 and found:
            break
        found.append(item)
    return found
