"""Processes die one after the other, anywhere, in the history of the same executions."""

from __future__ import annotations

import random
import signal
from typing import TYPE_CHECKING

import pytest

from tests.conftest import FACTOR

from .workload import ALWAYS, OUTPUTS
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

KILLS = 4
SEEDS = [(seed,) for seed in range(2 * FACTOR)]


@pytest.mark.parametrize(("world", "seed"), everywhere(SEEDS, SEEDS[:1]), indirect=["world"])
async def test_processes_may_die_again_and_again(world: World, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - it keeps no secret
    for _ in range(KILLS):
        before, effects = await world.completed(), len(world.effects.read())
        code, out, err = world.run(die_at=("", chance.randint(1, 80))).ended()
        assert code in (-signal.SIGKILL, 0), (code, out, err)
        await world.is_sound()
        await world.did_nothing_twice(before, effects)
    before, effects = await world.completed(), len(world.effects.read())
    assert world.run().is_done() == [OUTPUTS[name] for name in ALWAYS]
    await world.is_sound()
    await world.did_nothing_twice(before, effects)
