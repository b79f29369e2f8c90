"""People who start, answer, decide and look: they hang up, do things twice, at once and too late."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from layover.ports.records import CLOSED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine
    from typing import Any

    from layover.ports.records import PointRow
    from layover.testing.simulation.scenario import Start
    from layover.testing.simulation.world import World

_WAITS = 0.3  # of the starts, until the execution rests
_TWICE = 0.1  # of the answers, under the same key
_ASKED = ("form", "approval")


class SimulatedPeople:
    """Everybody who starts executions, or is asked by them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._answers = 0
        self._started = 0

    def begin(self) -> None:
        """Have them all at work."""
        for work in (self._start(), self._answer(), self._read()):
            self._world.outside.begin(work)

    @property
    def have_started(self) -> bool:
        """Whether everything has been started that is to be."""
        return self._started == self._world.mixture.executions

    # Starting

    async def _start(self) -> None:
        world = self._world
        mixture = world.mixture
        for number in range(mixture.executions):
            await asyncio.sleep(world.chance.expovariate(mixture.executions / (mixture.minutes * 50)))
            start = world.start(world.chance, number)
            world.outsiders.expect(start)
            wait: Literal["rest"] | None = "rest" if world.chance.random() < _WAITS else None
            world.outside.begin(self._begin_one(start, wait))
            if start.key is not None and world.scenario.twin is not None and world.requests.is_rash():
                world.outside.begin(self._begin_one(world.scenario.twin(world.chance, start), wait))
            self._started += 1

    async def _begin_one(self, start: Start, wait: Literal["rest"] | None) -> None:
        world = self._world
        conflict: Literal["return", "reject"] = "reject" if world.requests.is_rash() else "return"
        world.noted(world.outside, f"start {start.workflow}{f' under the key {start.key}' if start.key else ''}")
        for _ in range(2 if world.requests.is_rash() else 1):
            await world.requests.ask(
                lambda engine: engine.executions.start(
                    start.workflow, start.input, key=start.key, on_conflict=conflict, wait=wait
                ),
                lambda view: world.oracle.started(start, view),
                world.requests.patience(),
            )

    # Answering

    async def _answer(self) -> None:
        world = self._world
        while True:
            await self._decide(await world.loop.look_until(lambda: world.chance.expovariate(1 / 4), self._choose_point))

    def _choose_point(self) -> PointRow | None:
        world = self._world
        rows = [row for row in world.database.points.values() if row.point.kind in _ASKED]
        still_open = [row for row in rows if row.closed_at is None]
        if rows and world.requests.is_rash():
            still_open = rows  # it may be too late
        return world.chance.choice(still_open) if still_open else None

    async def _decide(self, row: PointRow) -> None:
        """Answer a form, or decide at an approval; now and then twice under the same key, or two people at once."""
        world = self._world
        say = self._fill_in if row.point.kind == "form" else self._approve
        if world.requests.is_rash():
            both: list[Coroutine[Any, Any, None]] = [say(row, 0), say(row, 1)]
            await asyncio.wait([world.outside.begin(one) for one in both])
        else:
            await say(row, world.chance.randrange(3))

    def _next_key(self) -> str:
        self._answers += 1
        return str(self._answers)

    async def _fill_in(self, row: PointRow, person: int) -> None:
        world, point = self._world, row.point.id
        key, by, data = self._next_key(), f"person-{person}", world.scenario.answer(world.chance, row)
        world.noted(world.outside, f"answer {row.point.node} of {row.execution_id}")
        for _ in range(1 + (world.chance.random() < _TWICE)):
            await world.requests.ask(
                lambda engine: engine.answers.answer(point, data, by=by, key=key),
                lambda taken: world.oracle.answered(point, key, data, taken),
                world.requests.patience(),
            )

    async def _approve(self, row: PointRow, person: int) -> None:
        world, point = self._world, row.point.id
        key, by, approved = self._next_key(), f"person-{person}", world.chance.random() < 0.8
        world.noted(world.outside, f"{'approve' if approved else 'reject'} {row.point.node} of {row.execution_id}")
        for _ in range(1 + (world.chance.random() < _TWICE)):
            await world.requests.ask(
                lambda engine: engine.answers.answer(point, approved=approved, by=by, roles=("boss",), key=key),
                lambda taken: world.oracle.decided(point, by, taken, approved=approved),
                world.requests.patience(),
            )

    # Looking

    async def _read(self) -> None:
        world = self._world
        while True:
            look = await world.loop.look_until(lambda: world.chance.expovariate(1 / 5), self._choose_execution)
            await look

    def _choose_execution(self) -> Awaitable[object] | None:
        """Choose an execution to read, or to wait for if it has not come to its end."""
        world = self._world
        if not world.database.heads:
            return None
        id_ = world.chance.choice(list(world.database.heads))
        if world.chance.random() < 0.5:
            return world.requests.ask(
                lambda engine: engine.queries.get(id_), lambda view: world.oracle.told("get", view)
            )
        if world.database.heads[id_].status in CLOSED:
            return None
        return world.requests.ask(
            lambda engine: engine.executions.wait(id_, "rest"),
            lambda view: world.oracle.told("wait", view),
            world.chance.uniform(0, 20),
        )
