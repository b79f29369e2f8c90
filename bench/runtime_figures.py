"""Figures with their floor and their aim, and how rounds become one."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from runtime_workloads import Sample


HEADER = ("", "measured", "floor", "of floor", "loop CPU µs/step (floor)", "aim", "met")


class Figure(NamedTuple):
    """One line of the table."""

    name: str
    value: str
    floor: str = ""
    ratio: str = ""
    loop_cpu: str = ""
    aim: str = ""
    met: bool | None = None

    def row(self) -> tuple[str, ...]:
        """Return the cells of the line."""
        met = "" if self.met is None else "yes" if self.met else "NO"
        return (self.name, self.value, self.floor, self.ratio, self.loop_cpu, self.aim, met)


Measure: TypeAlias = Callable[[bool], Coroutine[object, object, list[Figure]]]


async def in_turn(
    rounds: int, ours: Callable[[], Awaitable[Sample]], floor: Callable[[], Awaitable[Sample]]
) -> tuple[Sample, Sample]:
    """Return the medians of rounds of both, taken in turn."""
    mine: list[Sample] = []
    bare: list[Sample] = []
    for turn in range(rounds):
        for function, samples in ((ours, mine), (floor, bare)) if turn % 2 == 0 else ((floor, bare), (ours, mine)):
            samples.append(await function())
        print(f"  round {turn + 1}: {mine[-1].seconds:.3f} s, floor {bare[-1].seconds:.3f} s", flush=True)
    return medians(mine), medians(bare)


def medians(samples: list[Sample]) -> Sample:
    """Return the median of each part."""
    kind = type(samples[0])
    return kind(*(statistics.median(part) for part in zip(*samples, strict=True)))


def percentile(values: list[float], percent: int) -> float:
    """Return the value that so many percent do not exceed."""
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]
