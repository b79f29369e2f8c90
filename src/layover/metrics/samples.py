"""The values of metrics at one moment.

They are plain sums, so those of several processes are added. A counter and a gauge are one number; a summary is a sum
and a count; a histogram is its sum and then its counts, one for each bound and one beyond them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from layover.metrics.distribution import Distribution

Series: TypeAlias = tuple[str, tuple[str, ...]]  # a metric, and the values of its labels
Numbers: TypeAlias = dict[Series, list[float]]


class Samples:
    """The numbers of each time series. A series that is added again grows by what is added."""

    __slots__ = ("_sums",)

    def __init__(self, numbers: Numbers | None = None) -> None:
        self._sums: Numbers = dict(numbers or {})

    def add(self, name: str, value: float, *labels: str) -> None:
        """Add a counter or a gauge."""
        self._add((name, labels), [value])

    def add_distribution(self, name: str, found: Distribution, *labels: str) -> None:
        """Add a histogram."""
        self._add((name, labels), [found.total, *found.counts])

    def add_summary(self, name: str, total: float, count: float, *labels: str) -> None:
        """Add a sum and how many values it is of."""
        self._add((name, labels), [total, count])

    def merge(self, other: Samples) -> None:
        """Add those of another process."""
        for series, numbers in other.items():
            self._add(series, numbers)

    def items(self) -> Iterator[tuple[Series, list[float]]]:
        """Return each time series with its numbers."""
        return iter(self._sums.items())

    def get(self, name: str, *labels: str) -> list[float]:
        """Return the numbers of a time series; none if there is none."""
        return self._sums.get((name, labels), [])

    def _add(self, series: Series, numbers: Sequence[float]) -> None:
        found = self._sums.get(series)
        self._sums[series] = (
            list(numbers) if found is None else [one + more for one, more in zip(found, numbers, strict=True)]
        )
