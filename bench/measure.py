"""Repeated measurements that can be compared: rounds taken in turn, medians reported.

What is measured in the same round meets the same noise, so a ratio between two names holds even where no time does.
"""

from __future__ import annotations

import gc
import statistics
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

T = TypeVar("T")


class Size(Enum):
    """How much is measured: all of it, less of it, or so little that a test of the script itself can run it."""

    FULL = "full"
    QUICK = "quick"
    SMALL = "small"

    def of(self, full: T, *, quick: T, small: T) -> T:
        """Return the value that belongs to this size."""
        return {Size.FULL: full, Size.QUICK: quick, Size.SMALL: small}[self]


def size_of(words: Sequence[str]) -> Size:
    """Return the size that the arguments of a script ask for: `--small`, `--quick` or, without either, all of it."""
    return Size.SMALL if "--small" in words else Size.QUICK if "--quick" in words else Size.FULL


def compare(functions: Mapping[str, Callable[[], object]], rounds: int = 7, min_time: float = 0.05) -> dict[str, float]:
    """Return the median seconds per call of each function; each round runs every function for about `min_time`."""
    repetitions = {name: _repetitions(function, min_time) for name, function in functions.items()}
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(rounds):
        names = list(functions)
        for name in names if turn % 2 == 0 else reversed(names):
            taken[name].append(_time(functions[name], repetitions[name]) / repetitions[name])
    return {name: statistics.median(times) for name, times in taken.items()}


def _repetitions(function: Callable[[], object], min_time: float) -> int:
    """Find out how many calls take about `min_time`; this warms the function up as well."""
    repetitions = 1
    while (seconds := _time(function, repetitions)) < min_time / 2:
        repetitions *= 2 if seconds <= 0 else max(2, min(10, int(min_time / seconds)))
    return repetitions


def _time(function: Callable[[], object], repetitions: int) -> float:
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        started = perf_counter()
        for _ in range(repetitions):
            function()
        return perf_counter() - started
    finally:
        if was_enabled:
            gc.enable()


def table(title: str, rows: list[tuple[str, ...]]) -> str:
    """Return rows as aligned columns under a title: the first column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([title, *(f"  {line}" for line in lines)])
