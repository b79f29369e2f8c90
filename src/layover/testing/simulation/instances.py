"""The instances of a run: they start, open their engines, die, are restarted, and send each other hints."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, cast

from layover.nodes.function import name_of
from layover.ports.errors import StoreError
from layover.runtime.runtime import Runtime
from layover.testing.secrets import SimulatedSecrets
from layover.testing.simulation.lives import LIFE, Killed, Life
from layover.testing.simulation.machine import SimulatedMachine
from layover.testing.simulation.requests import LONGEST_REQUEST
from layover.testing.simulation.wire import Wire

if TYPE_CHECKING:
    from layover.ports.commit_points import CommitPoint
    from layover.ports.hints import Hint
    from layover.ports.store import Store
    from layover.runtime.calls.call_out import CallOut
    from layover.runtime.secrets.cached_secrets import CachedSecrets
    from layover.testing.simulation.world import World

_BETWEEN_TRIES = 0.5  # seconds until an instance that cannot reach the database opens it again


class Instances:
    """Starts and ends processes; `alive` are those that have not died, whether their engines are open or not."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.alive: list[Life] = []
        self._started: dict[int, int] = {}  # processes, by the number of their instance
        self._wires: dict[Life, Wire] = {}  # of those that are alive
        self._dead: list[tuple[Life, Wire | None]] = []  # kept, so that no `finally` of theirs runs
        self._secrets: list[CachedSecrets] = []  # of all engines, also of dead processes

    def spawn(self, number: int) -> None:
        """Start a process."""
        world = self._world
        lived = self._started.get(number, 0)
        self._started[number] = lived + 1
        life = Life(f"i{number}.{lived}", world)
        drift = world.mixture.drift
        life.rate, life.boot = 1 + world.chance.uniform(-drift, drift), world.chance.uniform(0, 1e6)
        self.alive.append(life)
        world.noted(life, "starts")
        life.begin(self._open(life))

    def _choose_functions(self, life: Life) -> None:
        """Draw whether a process lacks a function, as one of an older release would."""
        world = self._world
        functions = world.scenario.functions
        if functions and world.loop.time() < world.heals_at and world.chance.random() < world.mixture.missing_functions:
            life.lacks = name_of(functions[world.chance.randrange(len(functions))])
            world.counts["missing_functions"] += 1
            world.noted(life, f"has no {life.lacks}")

    async def _open(self, life: Life) -> None:
        """Open the engine of a process, however often it takes."""
        world = self._world
        self._choose_functions(life)
        while True:
            wire = self._wires[life] = Wire(world, life)
            machine = SimulatedMachine(life, world.chance)
            machine.on_begin = partial(self._begins, life)
            engine = Runtime(
                cast("Store", wire),
                settings=world.mixture.settings,
                secrets=[SimulatedSecrets()],
                clock=machine.clock(),
                machine=machine,
            )
            try:
                await engine.__aenter__()
                break
            except StoreError:
                self._leave(life)
                await asyncio.sleep(_BETWEEN_TRIES)
        life.opened(engine)
        self._secrets.append(engine.instance.secrets)
        world.scenario.furnish(engine.instance.registry, without=life.lacks)
        engine.instance.plans.read = world.scenario.read_plan
        world.noted(life, "is ready")

    def _begins(self, life: Life, out: CallOut) -> None:
        """Check a call that begins; a call of a poisoned execution kills its process."""
        world, call = self._world, out.call
        world.noted(life, f"calls {call.node} (attempt {call.attempt}) of {out.execution.id}")
        world.oracle.begins(life, out)
        if world.mishaps.is_poison(out.execution.id):
            world.oracle.kills_instance(out.execution.id, out.call.node)
            self.crash(life, "poisoned")
            raise Killed

    # The end of a process

    def crash(self, life: Life, why: str) -> None:
        """Kill a process; another one is started in its place after a while."""
        if life.dead:
            return
        world = self._world
        world.noted(life, f"dies: {why}")
        world.counts[why] += 1
        world.loop.bury(life)
        self.alive.remove(life)
        self._dead.append((life, self._wires.pop(life, None)))
        self._leave(life)
        for request in list(life.requests):
            if not request.done():
                request.set_exception(ConnectionError("the instance died"))
        number = int(life.name[1:].partition(".")[0])
        world.loop.call_later(world.chance.uniform(0.2, 20), self.spawn, number, context=world.outside.context)

    async def restart(self, life: Life) -> None:
        """Stop an engine in order; then its process ends, and another one is started."""
        world, engine = self._world, life.closing()
        if engine is None or life.dead:
            return
        world.counts["restarts"] += 1
        world.noted(life, "stops in order")
        life.disturb(world.loop.time() + LONGEST_REQUEST)
        await engine.stop()
        self.crash(life, "ended")

    def replace_incomplete(self) -> None:
        """Kill every process that lacks a function."""
        for life in list(self.alive):
            if life.lacks:
                self.crash(life, "replaced")

    def end(self) -> None:
        """End every process and start no other."""
        for life in self.alive:
            self._world.loop.bury(life)
        for secrets in self._secrets:
            secrets.close()

    def _leave(self, life: Life) -> None:
        """Remove what a database server notices at once when a process has ended: its connections."""
        self._world.database.instances.discard(life.name)

    def reached(self, point: CommitPoint) -> None:
        """Draw whether the process that reaches a commit point dies there, or stands still."""
        world, life = self._world, LIFE.get()
        if life is None or life is world.server or life is world.outside:
            return
        if life.dead:
            raise Killed
        if world.loop.time() >= world.heals_at:
            return
        mixture = world.mixture
        if world.chance.random() < mixture.crashes_at_points:
            self.crash(life, f"at {point}")
            raise Killed
        if mixture.stops_at_points and world.chance.random() < mixture.stops_at_points:
            world.mishaps.stop(life, world.chance.uniform(0.1, 2.5) * mixture.settings.lease_ttl / 1000)

    # All of them

    def ready(self) -> list[Life]:
        """Return the processes whose engines are open."""
        return [life for life in self.alive if life.engine is not None]

    def has_room(self) -> bool:
        """Return whether an instance can drive another execution, and none is disturbed."""
        now, found = self._world.loop.time(), False
        for life in self.ready():
            instance = life.instance
            if instance is None or life.faulty_until > now:
                return False
            found = found or instance.driver.room > 0
        return found

    def pass_on(self, sender: Life, hint: Hint) -> None:
        """Send a hint to the other instances; some hints are lost."""
        world = self._world
        for life, wire in self._wires.items():
            if life is sender or wire.hear is None:
                continue
            if world.chance.random() >= world.mixture.lost_hints:
                world.loop.call_later(world.chance.expovariate(500), wire.hear, hint, context=life.context)
