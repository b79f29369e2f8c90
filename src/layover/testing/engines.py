"""The engines of one test, one after the other on the same database; and when nothing is left for one to do.

Everything that a test does ends when the engine has settled: no call is out but those that wait for time to pass,
nothing is on its way to the store or from it, no message is due, and no moment has come that something waits for.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from layover.interface.durations import seconds_of
from layover.ports.trigger_records import TriggerMove
from layover.runtime.machine import Machine
from layover.runtime.settings import RuntimeSettings
from layover.service.batch_acts import UserBatchActs
from layover.testing.crashing import CrashPlan
from layover.testing.errors import NeverSettles
from layover.testing.life import EngineLife, MarkedTasks, MortalEngine, MortalStore
from layover.testing.sent import ReceivedWire
from layover.testing.virtual_time import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from layover.interface.durations import Duration
    from layover.nodes.notifier import NotifierFunction
    from layover.nodes.registry import Registry
    from layover.ports.records import Head
    from layover.ports.secrets import Secrets
    from layover.ports.store import Store
    from layover.ports.trigger_records import TriggerRow
    from layover.testing.databases import Database
    from layover.testing.sent import Receivers
    from layover.testing.virtual_time import VirtualTime

T = TypeVar("T")

_NEVER = 36_500 * 86_400_000
# No other process works on the database, so nothing has to be looked for; a lease ends with its engine.
SETTINGS = RuntimeSettings(
    lease_ttl=_NEVER,
    poll=_NEVER,
    command_poll=_NEVER,
    outbox_poll=0,
    jitter=False,
    purge_every=_NEVER,
    audit_poll=_NEVER,
    search_index=False,  # it looks once a minute, and tests skip years; searches compare the few executions one by one
    grace=0,
    blocked_after=10_000,
    allow_secrets={"*": ("*",)},
)

_QUIET_ROUNDS = 10  # of the event loop: more than what follows on anything without the store
_MOST_ROUNDS = 100_000
_LOOK_AGAIN = 0.01  # seconds: a call that was stopped does not say when it has ended
_LEFT_BEHIND = 60_000  # messages of a dead engine come due in a while; a test does not wait for that
_MANY = 100_000


class Died(Exception):  # noqa: N818 - it says what happened
    """The engine died while it did something, whether or not that was done."""


class Engines:
    """The engine that is alive, if any, and the way from one to the next."""

    def __init__(
        self,
        database: Database,
        time: VirtualTime,
        furnish: Callable[[Registry], None],
        secrets: Secrets,
        receivers: Receivers,
    ) -> None:
        self.time = time
        self.plan = CrashPlan()
        self.patience: Duration = "10s"  # that calls may really take
        self._database = database
        self._furnish = furnish
        self.notifiers: dict[str, NotifierFunction[..., Any]] = {}  # which an engine has before it opens
        self._secrets = secrets
        self._receivers = receivers
        self._life: EngineLife | None = None
        self._engine: MortalEngine | None = None
        self._store: Store | None = None
        self._tasks: MarkedTasks | None = None

    # Opening and closing

    async def alive(self) -> MortalEngine:
        """Return the engine that is alive; open one if there is none."""
        if self._engine is not None and self._life is not None and not self._life.dead:
            return self._engine
        if self._engine is not None:
            await self._take_over()
        if self._tasks is None:
            self._tasks = MarkedTasks()
            self.plan.begin()
        return await self._open()

    @property
    def registry(self) -> Registry | None:
        """The functions of the engine that is alive."""
        return self._engine.instance.registry if self._engine is not None else None

    def look(self) -> None:
        """Have the engine look for what it can go on with."""
        if self._engine is not None:
            self._engine.instance.driver.hint(0)

    async def _open(self) -> MortalEngine:
        life, store = EngineLife(), self._database.store()
        mortal = cast("Store", MortalStore(store, life))
        machine, clock = Machine(), VirtualClock(self.time)
        machine.wire = wire = ReceivedWire(self._receivers)
        engine = MortalEngine(
            mortal,
            settings=SETTINGS,
            secrets=[self._secrets],
            clock=clock,
            machine=machine,
            batch_acts=UserBatchActs,
        )
        for notifier in self.notifiers.values():
            engine.add_notifier(notifier)
        self._life, self._store, self._engine = life, store, engine
        await engine.open(life)
        self._furnish(engine.instance.registry)
        wire.functions = engine.instance.wires
        self.plan.life = life
        return engine

    async def close(self) -> None:
        """Stop the engine, as a process that is told to stop does."""
        try:
            if self._life is not None and self._life.dead:
                await self._bury()
            self.plan.life = None
            if self._engine is not None:
                await self._engine.stop(0)
        finally:
            if self._life is not None:
                await self._life.bury()
            if self._tasks is not None:
                self._tasks.end()
                self.plan.end()
            self._life = self._engine = self._tasks = self._store = None

    async def _bury(self) -> None:
        """Cut off all that a dead engine is made of."""
        life, engine, store = self._life, self._engine, self._store
        if life is None or engine is None or store is None:
            return
        await life.bury()
        await engine.abandon()
        await store.close()  # what it had not written is refused by the plan, which knows that the life is over
        self.time.forget_all()
        self.plan.life = self._life = self._engine = self._store = None

    async def _take_over(self) -> None:
        """Bury the dead engine, and leave its work to the next one at once, as if its leases had run out."""
        name = self._engine.instance.id if self._engine is not None else ""
        await self._bury()
        store = self._database.store()
        await store.open(name)
        try:
            left = await store.outbox.read_due(self._soon(), _MANY)
            for message in left.due:
                if message.due_at > self.time.now:
                    await store.outbox.postpone(message, self.time.now)
            for row in await store.triggers.list_triggers(limit=_MANY):
                if row.owner is not None:
                    await store.triggers.move(_released(row, self.time.now))
        finally:
            await store.close()

    async def head(self, execution_id: str) -> Head | None:
        """Return how far an execution is in the database, without an engine."""
        if self._life is not None and self._life.dead:
            await self._take_over()
        if self._engine is not None:
            row = await self._engine.instance.store.queries.find_execution(execution_id)
            return row.head if row is not None else None
        store = self._database.store()
        await store.open("test")
        try:
            row = await store.queries.find_execution(execution_id)
        finally:
            await store.close()
        return row.head if row is not None else None

    # Doing

    async def do(self, act: Callable[[MortalEngine], Coroutine[Any, Any, T]]) -> T:
        """Do something with the engine; raise Died if it died meanwhile, whether or not that was done."""
        engine = await self.alive()
        life = self._life
        if life is None:
            raise AssertionError("an engine that is alive has a life")
        work = life.begin(act(engine))
        waited: list[asyncio.Future[Any]] = [work, life.died]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if life.dead:
            raise Died
        return work.result()

    async def settle(self) -> None:
        """Return when there is nothing left to do before time passes, or the test acts."""
        while True:
            engine = await self.alive()
            if not await self._is_quiet(engine):
                continue
            if (await engine.instance.store.outbox.read_due(self.time.now, 1)).due:
                engine.instance.outbox_relay.post(())  # it was just made due, and the outbox relay had looked before
            elif self.plan.crashes and await engine.instance.store.signals.list_undispatched(self._soon(), 1):
                with suppress(Died):
                    await self.do(lambda alive: alive.instance.signal_router.look(self._soon()))
            else:
                return

    def _soon(self) -> int:
        """Return a moment by which all that a dead engine has left behind would have come due."""
        return self.time.now + _LEFT_BEHIND

    async def _is_quiet(self, engine: MortalEngine) -> bool:
        """Wait until nothing is going on; false if the engine died over it."""
        life = self._life
        if life is None:
            return False
        quiet = 0
        for _ in range(_MOST_ROUNDS):
            if life.dead:
                return False
            due = self.time.next_due()
            if due is not None and due <= self.time.now:
                self.time.pass_to(self.time.now)
            if life.in_flight or self._is_calling(engine):
                quiet = 0
                await self._wait_for_something(engine, life)
                continue
            quiet += 1
            if quiet > _QUIET_ROUNDS:
                return True
            await asyncio.sleep(0)
        raise NeverSettles("The engine does not come to rest: something is decided again and again.")

    def _is_calling(self, engine: MortalEngine) -> bool:
        """Return whether a function is running that does not wait for time to pass."""
        instance = engine.instance
        calls = instance.poller.calls.out + instance.notifier_calls.out
        return instance.node_runner.out + calls > self.time.asleep

    async def _wait_for_something(self, engine: MortalEngine, life: EngineLife) -> None:
        """Wait until the store has answered, or a call has ended."""
        loop = asyncio.get_running_loop()
        until = loop.time() + (seconds_of("patience", self.patience) or 0)
        while not life.dead and (life.in_flight or self._is_calling(engine)):
            life.stirred.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_AGAIN):
                    await life.stirred.wait()
                return
            if loop.time() > until:
                raise NeverSettles(_hanging(engine, self.patience))

    async def skip(self, length: int) -> None:
        """Let time pass: whatever comes due acts at its own moment, in order."""
        until = self.time.now + length
        await self.settle()
        while (due := await self.next_due()) is not None and due <= until:
            await self.step_to(due)
        await self.step_to(until)

    async def step_to(self, at: int) -> None:
        """Let time pass to a moment, with nothing due in between."""
        self.time.pass_to(at)
        await self.settle()

    async def next_due(self) -> int | None:
        """Return the next moment at which something comes due."""
        engine = await self.alive()
        outbox = await engine.instance.store.outbox.read_due(self.time.now, 1)
        moments = (self.time.next_due(), outbox.next_due)
        return min((one for one in moments if one is not None and one < self.time.now + _NEVER // 2), default=None)


def _released(row: TriggerRow, now: int) -> TriggerMove:
    """Return the move that ends the lease of a poll."""
    return TriggerMove(
        trigger_id=row.id,
        expected_seq=row.seq,
        at=now,
        state=row.state,
        reason=row.reason,
        next_at=now,
        cursor=row.cursor,
        failures=row.failures,
    )


def _hanging(engine: MortalEngine, patience: Duration) -> str:
    out = sorted(
        f"`{name}` of {driven.id}" for driven in engine.instance.driver.active.values() for name in driven.calls
    )
    what = ", ".join(out) if out else "something"
    return (
        f"After {patience} these calls have not ended: {what}. A function that waits for the test "
        "hangs here; fake it with `takes=` to let it last, or raise `layover.patience`."
    )
