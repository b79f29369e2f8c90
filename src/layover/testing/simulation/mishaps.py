"""What goes wrong with instances, their lines and their clocks, one thing after the other until all is healed."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.world import World

_LONGEST_STEP = 20_000  # milliseconds
_POISON = 10  # times as many executions always end their process as calls do so by chance


class Mishaps:
    """Each kind at moments of its own."""

    def __init__(self, world: World) -> None:
        self._world = world

    def begin(self) -> None:
        """Let things go wrong from now on."""
        world, mixture = self._world, self._world.mixture
        kinds: list[tuple[float, Callable[[Life], None]]] = [
            (mixture.crashes, lambda life: world.instances.crash(life, "killed")),
            (mixture.stops, lambda life: self.stop(life, world.chance.expovariate(1 / 8))),
            (mixture.restarts, self._restart),
            (mixture.partitions, self._cut),
            (mixture.outages, self._go_down),
            (mixture.clock_steps, self._step),
        ]
        for mean, act in kinds:
            if mean:
                world.outside.begin(self._go_wrong(mean, act))

    def stop(self, life: Life, seconds: float) -> None:
        """Have a process stand still for a while."""
        world = self._world
        world.counts["stopped"] += 1
        world.loop.stop_life(life, world.loop.time() + seconds)
        life.disturb(life.stopped_until)
        world.noted(life, f"stands still for {seconds:.3f} s")

    def is_poison(self, execution_id: str) -> bool:
        """Return whether every call of an execution ends its process, until all is healed."""
        world = self._world
        if not world.mixture.deadly_calls or world.loop.time() > world.heals_at:
            return False
        chance = Random(f"poison {world.seed} {execution_id}")  # noqa: S311 - chance, not secrets
        return chance.random() < _POISON * world.mixture.deadly_calls

    async def _go_wrong(self, mean: float, act: Callable[[Life], None]) -> None:
        world = self._world
        while True:
            await asyncio.sleep(world.chance.expovariate(1 / mean))
            if world.loop.time() > world.heals_at:
                return
            if alive := world.instances.alive:
                act(world.chance.choice(alive))

    def _restart(self, life: Life) -> None:
        if life.engine is not None:
            life.begin(self._world.instances.restart(life))

    def _cut(self, life: Life) -> None:
        world = self._world
        until = world.loop.time() + world.chance.expovariate(1 / 12)
        kind = world.chance.choice(("cut_until", "deaf_until"))
        setattr(life, kind, until)
        life.disturb(until)
        world.counts["partitions"] += 1
        world.noted(
            life, f"has no line until {until:.3f}" if kind == "cut_until" else f"hears nothing until {until:.3f}"
        )

    def _go_down(self, _life: Life) -> None:
        world = self._world
        world.down_until = world.loop.time() + world.chance.expovariate(1 / 6)
        world.counts["outages"] += 1
        world.noted(world.server, f"is down until {world.down_until:.3f}")
        for life in world.instances.alive:
            life.disturb(world.down_until)

    def _step(self, _life: Life) -> None:
        world = self._world
        by = int(world.chance.uniform(-_LONGEST_STEP, _LONGEST_STEP))
        world.clock.step(by)
        world.counts["clock_steps"] += 1
        world.noted(world.server, f"has its clock stepped by {by} ms")
        for life in world.instances.alive:
            life.disturb(world.loop.time() + world.mixture.settings.lease_ttl / 1000)
