"""Systems outside: they send signals, early, late and twice, and reply to callbacks, early, late and twice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from layover.testing.simulation.promises import Reply

if TYPE_CHECKING:
    from layover.ports.records import PointRow
    from layover.testing.simulation.scenario import Start
    from layover.testing.simulation.world import World

_EARLY = 0.4  # of the signals that are known to be wanted are sent whether an execution waits for them or not
_NEVER = 0.3  # of those that may never come
_FAILS = 0.1  # of the replies say that it has failed
_BEATS = 0.2  # of those who reply have said before that they are at it
_MOST_TRIES = 200


class Outsiders:
    """The systems that executions wait for: they send signals and reply to callbacks."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._early: dict[tuple[str, str], None] = {}  # signals that are sent early, or never
        self._sent: dict[tuple[str, str, str], None] = {}  # the others, by name, key and point
        self._replied: dict[str, None] = {}  # points to which a reply is on its way

    def begin(self) -> None:
        """Have them all at work."""
        self._world.outside.begin(self._send())
        self._world.outside.begin(self._reply())

    # Signals

    def expect(self, start: Start) -> None:
        """Send some of the signals that an execution will wait for, before or after it does."""
        world = self._world
        for wanted in world.scenario.signals(start):
            if wanted[0] in world.scenario.never and world.chance.random() < _NEVER:
                self._early[wanted] = None
            elif world.chance.random() < _EARLY and wanted not in self._early:
                self._early[wanted] = None
                world.counts["early_signals"] += 1
                data = {"n": world.chance.randrange(1_000)}
                world.outside.begin(self._bring(wanted, "early", data, world.chance.uniform(0, 60)))

    async def _send(self) -> None:
        """Send a signal that an execution waits for."""
        world = self._world
        while True:
            wait = await world.loop.look_until(lambda: world.chance.expovariate(1 / 5), self._choose_wait)
            self._sent[wait] = None
            data = world.scenario.answer(world.chance, world.database.points[wait[2]])
            world.outside.begin(self._bring(wait[:2], wait[2], data))

    def _choose_wait(self) -> tuple[str, str, str] | None:
        waits = [one for one in self._world.database.waits if one not in self._sent and one[:2] not in self._early]
        return self._world.chance.choice(waits) if waits else None

    async def _bring(self, wanted: tuple[str, str], mark: str, data: object, delay: float = 0) -> None:
        """Send a signal until an instance says that it is taken; under its id it counts once."""
        world, (name, key) = self._world, wanted
        await asyncio.sleep(delay)
        world.noted(world.outside, f"send the signal {name} with the key {key}")
        told: list[bool] = []
        times = 1 + world.requests.is_rash()
        for _ in range(_MOST_TRIES):
            await world.requests.ask(
                lambda engine: engine.signals.deliver(name, key, data, id=f"{name}-{key}-{mark}"),
                lambda taken: told.append(world.oracle.signalled(name, key, taken)),
                world.requests.patience(),
            )
            if len(told) >= times:
                return
            await asyncio.sleep(world.chance.expovariate(1))

    # Callbacks

    async def _reply(self) -> None:
        """Reply to those who wait for it, some while the call that asked is still out."""
        world = self._world
        while True:
            row = await world.loop.look_until(lambda: world.chance.expovariate(1 / 3), self._choose_callback)
            self._replied[row.point.id] = None
            for _ in range(1 + world.requests.is_rash()):
                world.outside.begin(self._call_back(row))

    def _choose_callback(self) -> PointRow | None:
        world = self._world
        rows = [row for row in world.database.points.values() if row.point.kind == "callback"]
        waiting = [row for row in rows if row.closed_at is None and row.point.id not in self._replied]
        if rows and world.requests.is_rash():
            waiting = rows  # it was replied to before, or it is too late
        return world.chance.choice(waiting) if waiting else None

    async def _call_back(self, row: PointRow) -> None:
        """Reply until an instance says that the reply is taken, or the callback is closed."""
        world, point = self._world, row.point.id
        output, fails = world.scenario.answer(world.chance, row), world.chance.random() < _FAILS
        told: list[None] = []
        world.noted(world.outside, f"{'fail' if fails else 'reply to'} {row.point.node} of {row.execution_id}")

        def accepted(_: None) -> None:
            told.append(None)
            world.oracle.called_back(row.execution_id, point, None if fails else Reply(output))

        if world.chance.random() < _BEATS:
            await world.requests.ask(lambda engine: engine.callbacks.beat(point=point), None, world.requests.patience())
        for _ in range(_MOST_TRIES):
            if fails:
                await world.requests.ask(
                    lambda engine: engine.callbacks.fail(message="no", point=point), accepted, world.requests.patience()
                )
            else:
                await world.requests.ask(
                    lambda engine: engine.callbacks.reply(None, output, point=point),
                    accepted,
                    world.requests.patience(),
                )
            if told or world.database.points[point].status != "open":
                return
            await asyncio.sleep(world.chance.expovariate(1))
