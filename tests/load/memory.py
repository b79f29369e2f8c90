"""Whether the memory of a process stays as it is: its size each second, and a straight line through what was seen.

The first third of the samples is warming up: connections, caches and pools fill. Through the rest goes the line with
the least squares. It is flat if it rises by less than 5 MB in a minute, and by less than a tenth in all.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

MB = 1_000_000
MOST_PER_MINUTE = 5 * MB
MOST_GROWTH = 0.1
FEWEST = 45  # samples of which a line says something


class Slope(msgspec.Struct, frozen=True):
    """A line through what the memory of a process was."""

    begins: float  # bytes
    ends: float
    per_minute: float
    most: float

    @property
    def is_flat(self) -> bool:
        return self.per_minute < MOST_PER_MINUTE and self.ends < self.begins * (1 + MOST_GROWTH)

    def __str__(self) -> str:
        grown = 100 * (self.ends / self.begins - 1)
        return (
            f"{self.begins / MB:.1f} to {self.ends / MB:.1f} MB after warming up ({grown:+.1f} %),"
            f" {self.per_minute / MB:+.2f} MB a minute, at most {self.most / MB:.1f} MB"
        )


def slope_of(samples: list[tuple[float, float]]) -> Slope:
    """Return the line through samples of seconds and bytes, without the first third of them."""
    kept = samples[len(samples) // 3 :]
    middle = sum(at for at, _ in kept) / len(kept)
    level = sum(size for _, size in kept) / len(kept)
    spread = sum((at - middle) ** 2 for at, _ in kept)
    rise = sum((at - middle) * (size - level) for at, size in kept) / spread if spread else 0.0
    begins, ends = (level + rise * (at - middle) for at in (kept[0][0], kept[-1][0]))
    return Slope(begins, ends, rise * 60, max(size for _, size in samples))


async def sample(resident: Callable[[], int], into: list[tuple[float, float]], every: float = 1.0) -> None:
    """Write down how large a process is, until cancelled."""
    began = monotonic()
    while True:
        into.append((monotonic() - began, float(resident())))
        await asyncio.sleep(every)
