"""Calls after one another and side by side: steps per second, and what a step costs the event loop."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from runtime_figures import Figure, costs, in_turn
from runtime_workloads import STEPS, carrying, chain, engine_round, fan_out, floor_round, recorded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from measure import Size
    from runtime_figures import Measure
    from sites import Site

ROUNDS = 5
TEXT = random.Random(1).randbytes(500).hex()  # noqa: S311 - PostgreSQL would make next to nothing of one letter
FAN = 100


class Case(NamedTuple):
    """Executions of one workflow, so many at once, and what they should reach."""

    name: str
    definition: Mapping[str, object]
    given: Mapping[str, object]
    nodes: int
    calls: int
    executions: int
    at_once: int
    least_ratio: float = 0
    least_rates: Mapping[str, int] = {}  # by the name of the site


def _chain(
    name: str, executions: int, at_once: int, least_ratio: float = 0, least_rates: Mapping[str, int] | None = None
) -> Case:
    return Case(name, chain(), {"x": 0}, STEPS, STEPS, executions, at_once, least_ratio, least_rates or {})


def _carrying(name: str, executions: int, at_once: int) -> Case:
    return Case(name, carrying(), {"x": 0, "text": TEXT}, STEPS, STEPS, executions, at_once)


CASES = {
    "chain1": _chain("10 calls, 1 at once", 200, 1, least_ratio=0.7),
    "chain100": _chain(
        "10 calls, 100 at once", 3000, 100, least_ratio=0.5, least_rates={"SQLite": 20_000, "PostgreSQL": 12_000}
    ),
    "carrying1": _carrying("the same with 1 KB, 1 at once", 200, 1),
    "carrying100": _carrying("the same with 1 KB, 100 at once", 2000, 100),
    "fan_out": Case("fan-out of 100, 1 at once", fan_out(FAN), {"x": 0}, FAN + 2, FAN, 40, 1),
}


def _amounts(executions: int, at_once: int, size: Size) -> tuple[int, int]:
    """Return how many executions there are in a round, and how many of them at once."""
    return size.of((executions, at_once), quick=(max(at_once, executions // 4), at_once), small=(2, min(at_once, 2)))


async def _measure(case: Case, site: Site, size: Size) -> list[Figure]:
    executions, at_once = _amounts(case.executions, case.at_once, size)
    steps = await recorded(site, case.definition, case.given)
    ours, floor = await in_turn(
        size.of(ROUNDS, quick=3, small=1),
        lambda: engine_round(site, case.definition, case.given, executions, at_once, case.nodes),
        lambda: floor_round(site, steps, executions, at_once),
    )
    count, appends = executions * case.calls, executions * len(steps)
    rate, bare, ratio = count / ours.seconds, count / floor.seconds, floor.seconds / ours.seconds
    aims = [f"≥ {case.least_ratio:.0%} of floor"] if case.least_ratio else []
    least_rate = case.least_rates.get(site.name, 0)
    aims += [f"≥ {least_rate:,}/s"] if least_rate else []
    return [
        Figure(
            name=case.name,
            value=f"{rate:,.0f} steps/s",
            floor=f"{bare:,.0f}",
            ratio=f"{ratio:.0%}",
            loop_cpu=f"{ours.loop_cpu / count * 1e6:.1f} ({floor.loop_cpu / count * 1e6:.1f})",
            aim=", ".join(aims),
            met=ratio >= case.least_ratio and rate >= least_rate if aims else None,
        ),
        Figure(
            name="  appends per commit; process CPU µs/step",
            value=f"{appends / max(1, ours.commits):.1f}; {ours.process_cpu / count * 1e6:.1f}",
            floor=f"{appends / max(1, floor.commits):.1f}; {floor.process_cpu / count * 1e6:.1f}",
        ),
        *costs(count, ours, floor),
    ]


async def _measure_leg(at_once: int, executions: int, site: Site, size: Size) -> list[Figure]:
    """Compare the same chain written by the leg and by the step."""
    count, at_once = _amounts(executions, at_once, size)
    by_leg = {**chain(), "name": "by_leg", "settings": {"durability": "leg"}}
    leg, step = await in_turn(
        size.of(ROUNDS, quick=3, small=1),
        lambda: engine_round(site, by_leg, {"x": 0}, count, at_once, STEPS),
        lambda: engine_round(site, chain(), {"x": 0}, count, at_once, STEPS),
    )
    calls = count * STEPS
    return [
        Figure(
            name=f"10 calls by the leg, {at_once} at once (floor: by the step)",
            value=f"{calls / leg.seconds:,.0f} steps/s",
            floor=f"{calls / step.seconds:,.0f}",
            ratio=f"{step.seconds / leg.seconds:.0%}",
            loop_cpu=f"{leg.loop_cpu / calls * 1e6:.1f} ({step.loop_cpu / calls * 1e6:.1f})",
        )
    ]


MEASURES: dict[str, Measure] = {
    **{name: partial(_measure, case) for name, case in CASES.items()},
    "leg1": partial(_measure_leg, 1, 200),
    "leg100": partial(_measure_leg, 100, 3000),
}
