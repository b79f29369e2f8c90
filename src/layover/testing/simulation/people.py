"""People: they start, answer, decide, hold, resume, retry, cancel and look, and hang up when it takes too long."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from layover.ports.records import PointRow
    from layover.testing.simulation.scenario import Start
    from layover.testing.simulation.world import World

_WAITS = 0.3  # of the starts, until the execution rests
_AMONG = 0.05  # of the looks at the end, at which what is held is let go of


class People:
    """Everybody who asks something of the instances."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._answers = 0
        self._started = 0

    def begin(self) -> None:
        """Have them all at work."""
        outside = self._world.outside
        for work in (self._start(), self._answer(), self._operate(), self._read()):
            outside.begin(work)

    def _patience(self) -> float | None:
        """Return after how many seconds somebody hangs up, if they do."""
        world = self._world
        if world.loop.time() > world.heals_at or world.chance.random() >= world.mixture.hang_ups:
            return None
        return world.chance.expovariate(50 if world.chance.random() < 0.7 else 1)

    async def _start(self) -> None:
        world = self._world
        mixture = world.mixture
        for number in range(mixture.executions):
            await asyncio.sleep(world.chance.expovariate(mixture.executions / (mixture.minutes * 50)))
            start = world.scenario.start(world.chance, number)
            self._started += 1
            world.outside.begin(self._begin_one(start, "rest" if world.chance.random() < _WAITS else None))

    async def _begin_one(self, start: Start, wait: Literal["rest"] | None) -> None:
        world = self._world
        await world.ask(
            lambda engine: engine.start(start.workflow, start.input, key=start.key, on_conflict="return", wait=wait),
            lambda view: world.oracle.told("start", view),
            self._patience(),
        )

    async def _answer(self) -> None:
        world = self._world
        while True:
            await asyncio.sleep(world.chance.expovariate(1 / 4))
            if rows := self._open_points():
                await self._decide(world.chance.choice(rows))

    def _open_points(self) -> list[PointRow]:
        rows = self._world.database.points.values()
        return [row for row in rows if row.closed_at is None and row.point.kind in ("form", "approval")]

    async def _decide(self, row: PointRow) -> None:
        """Answer a form, or decide at an approval; now and then twice, under the same key."""
        world, point = self._world, row.point.id
        self._answers += 1
        key, by = str(self._answers), f"person-{world.chance.randrange(3)}"
        if row.point.kind == "form":
            data = world.scenario.answer(world.chance, row)
            for _ in range(1 + (world.chance.random() < 0.1)):
                await world.ask(
                    lambda engine: engine.answer(point, data, by=by, key=key),
                    lambda taken: world.oracle.answered(point, data, taken),
                    self._patience(),
                )
        else:
            approved = world.chance.random() < 0.8
            await world.ask(
                lambda engine: engine.answer(point, approved=approved, by=by, roles=("boss",), key=key),
                None,
                self._patience(),
            )

    async def _operate(self) -> None:
        """Hold executions, and let them go; cancel and retry a few."""
        world = self._world
        while True:
            await asyncio.sleep(world.chance.expovariate(1 / 8))
            if world.database.heads:
                await self._act_on(world.chance.choice(list(world.database.heads)), world.chance.random())

    async def _act_on(self, id_: str, draw: float) -> None:
        world, oracle, status = self._world, self._world.oracle, self._world.database.heads[id_].status
        if status in ("paused", "pausing") and (id_ in oracle.held or draw < 0.4):
            await self._resume(id_)
        elif world.loop.time() > world.heals_at:
            return
        elif status == "failed" and draw < 0.5:
            await world.ask(lambda engine: engine.retry(id_), lambda view: oracle.told("retry", view), self._patience())
        elif status not in CLOSED and draw < 0.8:
            await world.ask(lambda engine: engine.pause(id_, "look"), oracle.paused, self._patience())
        elif status not in CLOSED and draw < 0.87 and world.scenario.cancels:
            await world.ask(
                lambda engine: engine.cancel(id_, "enough"), lambda view: oracle.told("cancel", view), self._patience()
            )

    async def _resume(self, id_: str) -> None:
        world = self._world
        world.oracle.held.pop(id_, None)
        await world.ask(
            lambda engine: engine.resume(id_), lambda view: world.oracle.told("resume", view), self._patience()
        )

    async def _read(self) -> None:
        world = self._world
        while True:
            await asyncio.sleep(world.chance.expovariate(1 / 5))
            if world.database.heads:
                await self._look_at(world.chance.choice(list(world.database.heads)))

    async def _look_at(self, id_: str) -> None:
        world = self._world
        await world.ask(lambda engine: engine.get(id_), lambda view: world.oracle.told("get", view))

    async def have_finished(self) -> bool:
        """Let go of what is held, now that all is healed; return whether everything has come to its end."""
        world = self._world
        if world.chance.random() < _AMONG:
            for id_, head in list(world.database.heads.items()):
                if head.status == "paused":
                    await self._resume(id_)
        return self._started == world.mixture.executions and world.is_over()
