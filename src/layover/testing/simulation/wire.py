"""The way of one instance to the database: requests and replies travel apart, are slow, late or lost.

A request that is on its way is done even if whoever sent it has died, or has given up waiting.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Claims
from layover.stores.memory import MemoryStore
from layover.testing.simulation.idle import POLLS, TRAVELS, finds_nothing
from layover.testing.simulation.lives import Killed

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Coroutine

    from layover.ports.hints import Hint
    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.world import World

T = TypeVar("T")

_PER_SECOND = 500.0  # a message takes 2 ms, more or less
_SLOW_PER_SECOND = 2.0
_LEASING = ("claim", "answer", "release")
_LIMITING = ("admit", "free", "commit")
_LONG = 1.0  # seconds: who waits longer for a reply has been disturbed


class Fate(NamedTuple):
    """What becomes of a request: when it is done, if it is, and when its sender is told, and whether that it failed."""

    lands: float | None
    told: float
    error: StoreError | None = None


class Wire:
    """In place of a store: passes on to the one in memory, as a network does."""

    lanes = 3
    clock_error = 0  # the clock of the database is right, however late it is told

    def __init__(self, world: World, life: Life) -> None:
        self._world = world
        self._life = life
        self._store = MemoryStore(world.database)
        if world.mixture.hints:
            self.tell, self.listen = self._tell_others, self._listen
        self.hear: Callable[[Hint], None] | None = None

    def renewals(self) -> None:
        """Return nothing: there is no thread to renew on."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name in ("tell", "listen"):
            raise AttributeError(name)
        send = partial(self._send, name, getattr(self._store, name))
        setattr(self, name, send)  # the next time it is found at once
        return send

    # Hints

    def _listen(self, hear: Callable[[Hint], None]) -> None:
        self.hear = hear

    def _tell_others(self, hint: Hint) -> None:
        self._world.pass_on(self._life, hint)

    # Requests

    async def _send(self, name: str, method: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **named: Any) -> Any:
        life, loop = self._life, self._world.loop
        if life.dead:
            raise Killed
        if name == "claim" and args[0].execution_id is None and self._world.has_leapt():
            return Claims()  # as the store on PostgreSQL does
        if self._is_idle(name, args):
            return _done_at_once(method(*args, **named))
        fate = self._fate(name)
        if fate.error is not None or fate.told - loop.time() > _LONG:
            # Whoever does not hear of a claim owns what it does not know of, until that lease is over; and so does who
            # gives something back in vain, or begins something without hearing of it.
            leases = name in _LEASING or (name == "commit" and any(one.new is not None for one in args[0]))
            lease = self._world.mixture.settings.lease_ttl / 1000 if leases else 0.0
            life.disturb(max(fate.told, fate.lands or 0.0) + lease)
        reply: asyncio.Future[Any] = loop.create_future()
        if fate.lands is None:
            loop.call_at(fate.told, _tell, reply, None, fate.error, context=life.context)
        elif name == "now" and not self._world.mixture.clock_steps:
            # Four requests in ten ask for the time. What it will be when they land is known, so they do not.
            told = self._world.database_time(fate.lands)
            loop.call_at(fate.told, _tell, reply, told, fate.error, context=life.context)
        else:
            work = partial(method, *args, **named)
            loop.call_at(fate.lands, self._land, name, work, reply, fate, context=self._world.server.context)
        return await reply

    def _is_idle(self, name: str, args: tuple[Any, ...]) -> bool:
        """Return whether a request is a poll that finds nothing, and need not travel to do so."""
        world, life = self._world, self._life
        if name not in POLLS or world.loop.time() < max(life.cut_until, life.deaf_until, world.down_until):
            return False
        if name == "now" and (life.instance is None or life.instance.driver.active):
            return False  # it lives by what it is told of the time, and how late
        return world.chance.random() >= TRAVELS and finds_nothing(world.database, name, args)

    def _fate(self, name: str) -> Fate:
        """Draw what becomes of a request."""
        world, life = self._world, self._life
        chance, mixture, now = world.chance, world.mixture, world.loop.time()
        there, back = chance.expovariate(_PER_SECOND), chance.expovariate(_PER_SECOND)
        if chance.random() < mixture.slow:
            there, back = there + chance.expovariate(_SLOW_PER_SECOND), back + chance.expovariate(_SLOW_PER_SECOND)
        lands, later = now + there, now + chance.uniform(0.01, 3)
        draw = chance.random()
        is_faulty = now < world.heals_at
        if now < max(life.cut_until, world.down_until):
            return world.counted("cut", Fate(None, later, StoreUnavailable("There is no line.")))
        if now < life.deaf_until:
            return world.counted("deaf", Fate(lands, lands + later - now, StoreUnavailable("No reply comes.")))
        if not is_faulty:
            return Fate(lands, lands + back)
        if (draw := draw - mixture.lost_requests) < 0:
            return world.counted("lost_requests", Fate(None, later, StoreUnavailable("The request is lost.")))
        if (draw := draw - mixture.lost_replies) < 0:
            error = StoreUnavailable("The reply is lost.")
            return world.counted("lost_replies", Fate(lands, lands + later - now, error))
        if (draw := draw - mixture.late) < 0:
            error = StoreUnavailable("It takes too long.")
            return world.counted("late", Fate(now + chance.uniform(0.1, 8), later, error))
        if (draw := draw - mixture.refused) < 0 and name == "commit":
            refused = chance.choice((StoreUnavailable("The disk is full."), StoreError("It is refused.")))
            return world.counted("refused", Fate(None, lands + back, refused))
        if draw - mixture.silences < 0:
            return world.counted("silences", Fate(lands, lands + chance.uniform(5, 60)))
        return Fate(lands, lands + back)

    def _land(
        self, name: str, work: Callable[[], Coroutine[Any, Any, Any]], reply: asyncio.Future[Any], fate: Fate
    ) -> None:
        """Do what is asked, in the database's process, and send the reply."""
        if name == "commit_informed" and self._life.dead:
            return  # whoever would have decided is dead
        oracle, found = self._world.oracle, None
        error: Exception | None = fate.error
        before = dict(self._world.database.heads) if name == "claim" else {}
        try:
            found = _done_at_once(work())
        except Exception as raised:  # noqa: BLE001 - it belongs to whoever asked
            error = error or raised
        self._world.noted(self._life, name)
        if found is not None and not self._life.dead:
            for one in found.claimed if before else ():
                oracle.claimed(self._life, before[one.head.execution_id])
        if name in _LIMITING:
            oracle.limits.look()
        loop = self._world.loop
        loop.call_at(max(fate.told, loop.time()), _tell, reply, found, error, context=self._life.context)


def _done_at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return what a request to the store in memory gives, which waits for nothing but its turn."""
    try:
        while True:
            if work.send(None) is not None:
                raise AssertionError("the store in memory waits for somebody")
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # what a coroutine returns


def _tell(reply: asyncio.Future[Any], found: object, error: BaseException | None) -> None:
    if reply.done():
        return
    if error is not None:
        reply.set_exception(error)
    else:
        reply.set_result(found)
