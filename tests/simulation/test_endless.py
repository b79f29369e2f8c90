"""A run that never comes to an end breaks a law, and tells who went on and on."""

from __future__ import annotations

import asyncio

from layover.testing.simulation.mixture import Mixture
from layover.testing.simulation.running import run
from layover.testing.simulation.scenario import Scenario, Start

FLOW = {"name": "spin", "nodes": [{"id": "a", "type": "spin"}]}


async def spin() -> None:
    """Go round and round without waiting for anything."""
    while True:  # noqa: ASYNC110 - that is what is wrong with it
        await asyncio.sleep(0)


def test_a_livelock_breaks_a_law_and_is_found_by_its_name() -> None:
    scenario = Scenario([FLOW], [spin], lambda _chance, _number: Start("spin"))
    ran = run(1, scenario, Mixture(executions=1, instances=1, minutes=1, most_steps=20_000), traces=True)
    (broken,) = ran.broken
    assert broken.law == "NO_LIVELOCK"
    assert "of i0.0" in broken.seen
    assert "BROKEN NO_LIVELOCK" in ran.lines[-1]
