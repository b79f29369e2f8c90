"""One run: instances that live and die, a database, people, and what goes wrong, all in one process under one seed."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from layover.errors import LayoverError
from layover.nodes.function import name_of
from layover.ports import commit_points
from layover.ports.errors import StoreError
from layover.ports.records import CLOSED
from layover.runtime.runtime import Runtime
from layover.stores.memory.database import MemoryDatabase
from layover.testing.secrets import SimulatedSecrets
from layover.testing.simulation.effects import Effects
from layover.testing.simulation.lives import LIFE, Killed, Life
from layover.testing.simulation.loop import Deadlocked, Endless, SimulatedLoop
from layover.testing.simulation.machine import SimulatedMachine
from layover.testing.simulation.mishaps import Mishaps
from layover.testing.simulation.operators import Operators
from layover.testing.simulation.oracle import Oracle
from layover.testing.simulation.outsiders import Outsiders
from layover.testing.simulation.people import SimulatedPeople
from layover.testing.simulation.put_off import PutOff
from layover.testing.simulation.trace import Trace
from layover.testing.simulation.wire import REFUSAL, Wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.core.plan import Plan
    from layover.ports.commit_points import CommitPoint
    from layover.ports.hints import Hint
    from layover.ports.store import Store
    from layover.runtime.calls.call_out import CallOut
    from layover.runtime.secrets.cached_secrets import CachedSecrets
    from layover.testing.simulation.lockstep import Lockstep
    from layover.testing.simulation.mixture import Mixture
    from layover.testing.simulation.oracle import Broken
    from layover.testing.simulation.scenario import Scenario

T = TypeVar("T")

_BEGINNING = 1_800_000_000_000  # milliseconds UTC
_HALF_AN_HOUR = 1_800.0
_TO_RECOVER = 60.0  # seconds after the last fault: then people let go of what they hold
_LONGEST_REQUEST = 120.0
_LOOKS_EVERY = 2.0  # what is seen twice in a row has lasted for longer than `_SOON` of the oracle
_MOST_TRIES = 1_000
_OF_REFUSALS = ("append_unwritable", "execution_unwritable")  # what is logged if the database refuses to write
_OF_FUNCTIONS = ("attempt_failed", "execution_failed")  # what is logged if a function fails


class Ran(NamedTuple):
    """How a run went."""

    seed: int
    hash: str
    steps: int
    seconds: float  # of virtual time
    broken: tuple[Broken, ...]
    counts: Counter[str]  # what went wrong, how often
    statuses: Counter[str]  # of executions at the end
    lines: tuple[str, ...]


class World:
    """All that there is in one run."""

    def __init__(self, seed: int, mixture: Mixture, scenario: Scenario, *, traces: bool = False) -> None:
        self.seed = seed
        self.mixture = mixture
        self.scenario = scenario
        self.chance = Random(seed)  # noqa: S311 - chance, not secrets
        self.trace = Trace(keeps_lines=traces)
        self.loop = SimulatedLoop(self.chance, self.trace, shuffled=mixture.shuffled, most_steps=mixture.most_steps)
        self.heals_at = mixture.minutes * 60
        self.down_until = 0.0
        self._calendar = self._ahead = 0  # milliseconds by which the clock was stepped, and the time is ahead
        self._leapt_at: float | None = None
        self.database = MemoryDatabase(clock=self._database_time)
        self.server, self.outside = Life("database", self), Life("people", self)
        self.lives: list[Life] = []
        self._secrets: list[CachedSecrets] = []  # of all engines, also those that have died
        self.threads: dict[Lockstep, None] = {}  # of functions that are not async, and have not returned
        self.counts: Counter[str] = Counter()
        self.refused: dict[str, None] = {}  # executions of which the database has refused what was to be written
        self.start = scenario.start if scenario.focus is None else scenario.focus(self.chance)
        self.ledger: dict[str, None] = {}  # what functions have done outside, for those who look
        self.effects = Effects(self)
        self.oracle = Oracle(self)
        self._put_off = PutOff(self)
        self._wires: dict[Life, Wire] = {}
        self._mishaps = Mishaps(self)
        self.stop = self._mishaps.stop
        self._people, self.outsiders, self._operators = SimulatedPeople(self), Outsiders(self), Operators(self)

    def _database_time(self) -> int:
        return self.database_time(self.loop.time())

    def database_time(self, at: float) -> int:
        """Return the time of the database at a moment, if nobody sets its clock until then."""
        return _BEGINNING + self._ahead + int(at * 1000)

    def step_clock(self, milliseconds: int) -> None:
        """Set the clock of the database; as in every real one, its time does not go back for that."""
        self._calendar += milliseconds
        if self._calendar > self._ahead:
            self._ahead, self._leapt_at = self._calendar, self.loop.time()

    def has_leapt(self) -> bool:
        """Return whether the time went forward not long ago: then nobody claims, so that all can renew."""
        lease = self.mixture.settings.lease_ttl / 1000
        return self._leapt_at is not None and self.loop.time() < self._leapt_at + lease

    # What is written down

    def noted(self, life: Life | None, what: str) -> None:
        """Take note of something that happened."""
        self.trace.note(self.loop.time(), life.name if life is not None else "", what)

    def counted(self, what: str, found: T) -> T:
        """Count something that went wrong."""
        self.counts[what] += 1
        return found

    # Instances

    def spawn(self, number: int) -> None:
        """Start a process."""
        lived = sum(one.name.startswith(f"i{number}.") for one in self.lives)
        life = Life(f"i{number}.{lived}", self)
        drift = self.mixture.drift
        life.rate, life.boot = 1 + self.chance.uniform(-drift, drift), self.chance.uniform(0, 1e6)
        self.lives.append(life)
        self.noted(life, "starts")
        life.begin(self._open(life))

    def _choose_functions(self, life: Life) -> None:
        """Decide which functions a process has: now and then it is of a release that has not all of them."""
        functions = self.scenario.functions
        if functions and self.loop.time() < self.heals_at and self.chance.random() < self.mixture.missing_functions:
            life.lacks = name_of(functions[self.chance.randrange(len(functions))])
            self.counts["missing_functions"] += 1
            self.noted(life, f"has no {life.lacks}")

    async def _open(self, life: Life) -> None:
        self._choose_functions(life)
        while True:
            wire = self._wires[life] = Wire(self, life)
            machine = SimulatedMachine(life, self.chance)
            machine.on_begin = partial(self._begins, life)
            engine = Runtime(
                cast("Store", wire),
                settings=self.mixture.settings,
                secrets=[SimulatedSecrets()],
                clock=machine.clock(),
                machine=machine,
            )
            try:
                await engine.__aenter__()
                break
            except StoreError:
                self._forget(life)
                await asyncio.sleep(0.5)
        life.opened(engine)
        self._secrets.append(engine.instance.secrets)
        self.scenario.furnish(engine.instance.registry, without=life.lacks)
        engine.instance.plans.read = self.scenario.read_plan
        self.noted(life, "is ready")

    def _begins(self, life: Life, out: CallOut) -> None:
        """Look at a call that begins, and let it end its process if its execution is one that does."""
        call = out.call
        self.noted(life, f"calls {call.node} (attempt {call.attempt}) of {out.execution.id}")
        self.oracle.begins(life, out)
        if self._mishaps.is_poison(out.execution.id):
            self.oracle.kills_instance(out.execution.id, out.call.node)
            self.crash(life, "poisoned")
            raise Killed

    def crash(self, life: Life, why: str) -> None:
        """End a process; another takes its place after a while."""
        if life.dead:
            return
        self.noted(life, f"dies: {why}")
        self.counts[why] += 1
        self.loop.bury(life)
        self._forget(life)
        for request in list(life.requests):
            if not request.done():
                request.set_exception(ConnectionError("the instance died"))
        number = int(life.name[1:].partition(".")[0])
        self.loop.call_later(self.chance.uniform(0.2, 20), self.spawn, number, context=self.outside.context)

    async def restart(self, life: Life) -> None:
        """Stop an instance in order, and start it again."""
        engine = life.closing()
        if engine is None or life.dead:
            return
        self.counts["restarts"] += 1
        self.noted(life, "stops in order")
        life.disturb(self.loop.time() + _LONGEST_REQUEST)
        await engine.stop()
        self.crash(life, "ended")

    def _forget(self, life: Life) -> None:
        """Let go of what a server notices at once when a process is no more."""
        self.database.instances.discard(life.name)

    def reached(self, point: CommitPoint) -> None:
        """Decide whether a process dies, or stands still, right here."""
        life = LIFE.get()
        if life is None or life is self.server or life is self.outside:
            return
        if life.dead:
            raise Killed
        if self.loop.time() >= self.heals_at:
            return
        if self.chance.random() < self.mixture.crashes_at_points:
            self.crash(life, f"at {point}")
            raise Killed
        if self.mixture.stops_at_points and self.chance.random() < self.mixture.stops_at_points:
            self._mishaps.stop(life, self.chance.uniform(0.1, 2.5) * self.mixture.settings.lease_ttl / 1000)

    def ready(self) -> list[Life]:
        """Return the processes whose engines are open."""
        return [life for life in self.lives if not life.dead and life.engine is not None]

    def has_room(self) -> bool:
        """Return whether somebody can take up work, and nobody is disturbed."""
        now, found = self.loop.time(), False
        for life in self.ready():
            instance = life.instance
            if instance is None or life.faulty_until > now:
                return False
            found = found or instance.driver.room > 0
        return found

    def pass_on(self, sender: Life, hint: Hint) -> None:
        """Tell the other instances something that is worth a look, if it arrives."""
        for life, wire in self._wires.items():
            if life is sender or life.dead or wire.hear is None:
                continue
            if self.chance.random() >= self.mixture.lost_hints:
                self.loop.call_later(self.chance.expovariate(500), wire.hear, hint, context=life.context)

    # People

    def patience(self) -> float | None:
        """Return after how many seconds somebody hangs up, if they do."""
        if self.loop.time() > self.heals_at or self.chance.random() >= self.mixture.hang_ups:
            return None
        return self.chance.expovariate(50 if self.chance.random() < 0.7 else 1)

    def is_rash(self) -> bool:
        """Return whether somebody does what is of no use, or too much."""
        return self.loop.time() < self.heals_at and self.chance.random() < self.mixture.rash

    async def ask(
        self,
        make: Callable[[Runtime], Awaitable[T]],
        tell: Callable[[T], None] | None = None,
        patience: float | None = None,
    ) -> T | None:
        """Have an instance that lives do something, as a request to it would; who loses patience hangs up."""
        ready = self.ready()
        if not ready:
            return None
        life = self.chance.choice(ready)
        engine = life.engine
        reply: asyncio.Future[T] = self.loop.create_future()
        life.requests[reply] = None

        async def handle() -> T:
            if engine is None:
                raise AssertionError("it was ready")
            found = await make(engine)
            if not life.dead and tell is not None:
                tell(found)
            return found

        def handled(task: asyncio.Task[T]) -> None:
            life.requests.pop(reply, None)
            error = ConnectionError("hung up") if task.cancelled() else task.exception()
            if reply.done():
                return
            if error is not None:
                reply.set_exception(error)
            else:
                reply.set_result(task.result())

        task = life.begin(handle())
        task.add_done_callback(handled, context=self.outside.context)
        if patience is not None:
            self.loop.call_later(patience, task.cancel, context=life.context)
        try:
            async with asyncio.timeout(_LONGEST_REQUEST):
                return await reply
        except (LayoverError, ConnectionError, TimeoutError):
            return None
        except Exception as error:  # noqa: BLE001 - it is what a client would be told
            self.oracle.breaks("NO_INTERNAL_ERROR", f"a request ended with {error!r}"[:300])
            return None

    # From the beginning to the end

    def run(self) -> Ran:
        """Play it through."""
        watch, logger = _LogWatch(self), logging.getLogger("layover")
        logger.addHandler(watch)
        commit_points.watch(self.reached)
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
            for life in self.lives:
                self.loop.bury(life)
            for secrets in self._secrets:
                secrets.close()
            self.loop.close()
            for thread in list(self.threads):
                thread.kill()

    async def _play(self) -> None:
        for number in range(self.mixture.instances):
            self.spawn(number)
        await asyncio.sleep(1)
        for plan in self.scenario.plans:
            await self._register(plan)
        for crowd in (self._people, self.outsiders, self._operators):
            crowd.begin()
        self._mishaps.begin()
        self.loop.call_at(self.heals_at, self._complete, context=self.outside.context)
        while self.loop.time() < self.heals_at + _HALF_AN_HOUR:
            await self.loop.look_until(lambda: _LOOKS_EVERY, self._look)
            await self._operators.let_go()
            if self._people.have_started and self.is_over():
                break
        await self.oracle.final()

    def _look(self) -> bool | None:
        """Look at everything; return whether all has had time to recover."""
        self.oracle.look()
        self._put_off.look()
        return self.loop.time() > self.heals_at + _TO_RECOVER or None

    def _complete(self) -> None:
        """Have every instance started anew that has not all functions."""
        for life in list(self.lives):
            if life.lacks and not life.dead:
                self.crash(life, "replaced")

    async def _register(self, plan: Plan) -> None:
        for _ in range(_MOST_TRIES):
            if await self.ask(lambda engine: engine.workflows.register(plan)) is not None:
                return
            await asyncio.sleep(1)
        raise AssertionError(f"{plan.definition.name} could not be registered")

    def is_over(self) -> bool:
        """Return whether every execution has come to its end."""
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


class _LogWatch(logging.Handler):
    """Holds every error that is logged against what was done from outside."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        life = LIFE.get()
        if life is not None and life.dead:
            return
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Killed) or self._is_caused_outside(record):
            return
        self._world.oracle.breaks("NO_INTERNAL_ERROR", f"{record.getMessage()} {error!r}"[:300])

    def _is_caused_outside(self, record: logging.LogRecord) -> bool:
        """Return whether what an error says of an execution was done to that execution, and not to another one."""
        name, args = str(record.msg).partition(" ")[0], record.args
        execution_id = str(args[0]) if isinstance(args, tuple) and args else ""
        if name in _OF_FUNCTIONS:
            return True
        if name in _OF_REFUSALS:
            return execution_id in self._world.refused
        if name == "child_refused" and isinstance(args, tuple):  # it names the parent: the child has never begun
            return str(args[-1]) == REFUSAL and any(
                id_ not in self._world.database.heads for id_ in self._world.refused
            )
        if name == "suspect_put_off" and isinstance(args, tuple):
            return int(str(args[1])) <= self._world.oracle.losses[execution_id]
        return False
