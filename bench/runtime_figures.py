"""Figures with their floor and their aim, and how rounds become one."""

from __future__ import annotations

import statistics
from math import isnan
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from measure import Size
    from runtime_workloads import Sample
    from sites import Site


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


Measure: TypeAlias = "Callable[[Site, Size], Coroutine[object, object, list[Figure]]]"


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


def costs(count: int, ours: Sample, floor: Sample) -> list[Figure]:
    """Return what a step cost a server, if there is one that tells: commits are the transactions that wrote."""
    if not ours.wal_bytes:
        return []
    return [
        Figure(
            name="  per step: statements / commits / bytes of WAL",
            value=f"{ours.statements / count:.2f} / {ours.commits / count:.2f} / {ours.wal_bytes / count:,.0f}",
            floor=f"{floor.statements / count:.2f} / {floor.commits / count:.2f} / {floor.wal_bytes / count:,.0f}",
        ),
        Figure(
            name="  CPU µs/step: our process / the server",
            value=f"{ours.process_cpu / count * 1e6:.0f} / {ours.server_cpu / count * 1e6:.0f}",
            floor=f"{floor.process_cpu / count * 1e6:.0f} / {floor.server_cpu / count * 1e6:.0f}",
        ),
        *(
            []
            if isnan(ours.hot)
            else [Figure("  updates of heads that are HOT, in the round", f"{ours.hot:.1%}", f"{floor.hot:.1%}")]
        ),
    ]
