"""Pages that are bounded in bytes: items that hold data may be few and large."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from layover.model.shared import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

MOST = 100  # items of one page


def fitting(items: Sequence[T], most: int | None) -> tuple[T, ...]:
    """Return the first items that take so many bytes at most when they are written, but at least one."""
    if most is None:
        return tuple(items)
    found: list[T] = []
    for item in items:
        most -= len(encode(item))
        if most < 0 and found:
            break
        found.append(item)
    return tuple(found)
