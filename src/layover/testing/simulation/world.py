"""One run: instances that live and die, a database, people, and what goes wrong, all in one process under one seed."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from layover.ports import commit_points
from layover.ports.errors import StoreError
from layover.ports.records import CLOSED
from layover.stores.memory.database import MemoryDatabase
from layover.testing.simulation.conversations import Conversations
from layover.testing.simulation.database_clock import DatabaseClock
from layover.testing.simulation.effects import Effects
from layover.testing.simulation.instances import Instances
from layover.testing.simulation.lives import Killed, Life
from layover.testing.simulation.log_watch import LogWatch
from layover.testing.simulation.loop import Deadlocked, Endless, SimulatedLoop
from layover.testing.simulation.mishaps import Mishaps
from layover.testing.simulation.operators import Operators
from layover.testing.simulation.oracle import Oracle
from layover.testing.simulation.outsiders import Outsiders
from layover.testing.simulation.people import SimulatedPeople
from layover.testing.simulation.put_off import PutOff
from layover.testing.simulation.requests import Requests
from layover.testing.simulation.trace import Trace

if TYPE_CHECKING:
    from layover.core.plan import Plan
    from layover.testing.simulation.lockstep import Lockstep
    from layover.testing.simulation.mixture import Mixture
    from layover.testing.simulation.oracle import Broken
    from layover.testing.simulation.scenario import Scenario

T = TypeVar("T")

_HALF_AN_HOUR = 1_800.0
_TO_RECOVER = 60.0  # seconds after the last fault: then people resume what they have paused
_LOOKS_EVERY = 2.0  # seconds: what is seen twice in a row has lasted for longer than `_SOON` of the oracle
_MOST_TRIES = 1_000


class Ran(NamedTuple):
    """The outcome of a run."""

    seed: int
    hash: str
    steps: int
    seconds: float  # of virtual time
    broken: tuple[Broken, ...]
    counts: Counter[str]  # of faults, by kind
    statuses: Counter[str]  # of executions at the end
    lines: tuple[str, ...]


class World:
    """Everything that takes part in one run."""

    def __init__(self, seed: int, mixture: Mixture, scenario: Scenario, *, traces: bool = False) -> None:
        self.seed = seed
        self.mixture = mixture
        self.scenario = scenario
        self.chance = Random(seed)  # noqa: S311 - chance, not secrets
        self.trace = Trace(keeps_lines=traces)
        self.loop = SimulatedLoop(self.chance, self.trace, shuffled=mixture.shuffled, most_steps=mixture.most_steps)
        self.heals_at = mixture.minutes * 60
        self.down_until = 0.0
        self.clock = DatabaseClock(self.loop, mixture.settings.lease_ttl / 1000)
        self.database = MemoryDatabase(clock=self.clock)
        self.server, self.outside = Life("database", self), Life("people", self)
        self.threads: dict[Lockstep, None] = {}  # of functions that are not async, and have not returned
        self.counts: Counter[str] = Counter()
        self.refused: dict[str, None] = {}  # executions whose appends the database has refused
        self.start = scenario.start if scenario.focus is None else scenario.focus(self.chance)
        self.ledger: dict[str, None] = {}  # what functions did outside, for their probes
        self.effects = Effects(self)
        self.oracle = Oracle(self)
        self._put_off = PutOff(self)
        self.instances = Instances(self)
        self.mishaps = Mishaps(self)
        self.requests = Requests(self)
        self._people, self.outsiders, self._operators = SimulatedPeople(self), Outsiders(self), Operators(self)
        self._conversations = Conversations(self)

    def noted(self, life: Life | None, what: str) -> None:
        """Write a line of the trace."""
        self.trace.note(self.loop.time(), life.name if life is not None else "", what)

    def counted(self, what: str, found: T) -> T:
        """Count a fault, and return what it is."""
        self.counts[what] += 1
        return found

    # From the beginning to the end

    def run(self) -> Ran:
        """Run it to its end."""
        watch, logger = LogWatch(self), logging.getLogger("layover")
        logger.addHandler(watch)
        commit_points.watch(self.instances.reached)
        asyncio.set_event_loop(self.loop)
        self.loop.set_exception_handler(self._unhandled)
        try:
            self.loop.run_until_complete(self.outside.begin(self._play()))
            return self._ran()
        except (Endless, Deadlocked) as error:
            self.oracle.breaks("NO_LIVELOCK", str(error))
            return self._ran()
        finally:
            commit_points.watch(None)
            logger.removeHandler(watch)
            asyncio.set_event_loop(None)
            self.instances.end()
            self.loop.close()
            for thread in list(self.threads):
                thread.kill()

    async def _play(self) -> None:
        for number in range(self.mixture.instances):
            self.instances.spawn(number)
        await asyncio.sleep(1)
        for plan in self.scenario.plans:
            await self._register(plan)
        for crowd in (self._people, self.outsiders, self._operators, self._conversations):
            crowd.begin()
        self.mishaps.begin()
        self.loop.call_at(self.heals_at, self.instances.replace_incomplete, context=self.outside.context)
        while self.loop.time() < self.heals_at + _HALF_AN_HOUR:
            await self.loop.look_until(lambda: _LOOKS_EVERY, self._look)
            await self._operators.let_go()
            if self._people.have_started and self._is_over():
                break
        await self.oracle.final()

    def _look(self) -> bool | None:
        """Check what must hold at any time; return true once the instances have had time to recover."""
        self.oracle.look()
        self._put_off.look()
        return self.loop.time() > self.heals_at + _TO_RECOVER or None

    async def _register(self, plan: Plan) -> None:
        for _ in range(_MOST_TRIES):
            if await self.requests.ask(lambda engine: engine.workflows.register(plan)) is not None:
                return
            await asyncio.sleep(1)
        raise AssertionError(f"{plan.definition.name} could not be registered")

    def _is_over(self) -> bool:
        """Return whether every execution is closed."""
        return all(head.status in CLOSED for head in self.database.heads.values())

    def _ran(self) -> Ran:
        database = self.database
        tables = (database.heads, database.logs, database.points, database.outbox, database.commands, database.signals)
        for table in tables:
            self.trace.step(repr(sorted(table.items(), key=lambda item: str(item[0]))))
        return Ran(
            seed=self.seed,
            hash=self.trace.hash,
            steps=self.loop.steps,
            seconds=self.loop.time(),
            broken=tuple(self.oracle.broken.values()),
            counts=self.counts,
            statuses=Counter(head.status for head in database.heads.values()),
            lines=tuple(self.trace.lines or ()),
        )

    def _unhandled(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is not None and not isinstance(error, Killed | StoreError | asyncio.CancelledError | ConnectionError):
            self.oracle.breaks("NO_INTERNAL_ERROR", f"{context.get('message')} {error!r}"[:300])
