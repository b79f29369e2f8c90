"""The way of one instance to the database: requests and replies travel apart, are slow, late or lost.

A request that is on its way is done even if its sender has died, or has given up waiting.
"""

from __future__ import annotations

from functools import partial
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.records import Claims
from layover.ports.store import FAMILIES
from layover.runtime.dispatch.lease_renewer import ATTEMPTS
from layover.stores.leases import lease_end
from layover.stores.memory import MemoryStore
from layover.testing.simulation.idle import POLLS, TRAVELS, TRAVELS_WHILE_DRIVING, finds_nothing
from layover.testing.simulation.lives import Killed
from layover.testing.store_proxy import FamilyProxy

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Sequence

    from layover.ports.hints import Hint
    from layover.ports.records import Claim, LeaseRow
    from layover.testing.simulation.lives import Life
    from layover.testing.simulation.world import World

    Renew = Callable[[str, Sequence[LeaseRow], int], Coroutine[Any, Any, list[str]]]

T = TypeVar("T")

_PER_SECOND = 500.0  # a message takes 2 ms, more or less
_SLOW_PER_SECOND = 2.0
_LEASING = ("claims.claim", "answers.reserve", "claims.release")
_OF_LEASES = ("claims.renew", "claims.release")
_RENEWING = ("now", "claims.renew")
_LIMITING = ("limits.admit", "limits.release_slot", "appends.commit")
_LANES = 3
ASKS = "asks the database: "  # how a trace tells of a request
REFUSAL = "It is refused."  # what the database says of what cannot be written
_LONG = 1.0  # seconds: who waits longer for a reply has been disturbed


class Fate(NamedTuple):
    """What becomes of a request: when it is done, if it is, and when its sender is told, and whether that it failed."""

    lands: float | None
    told: float
    error: StoreError | None = None


class Wire:
    """In place of a store: passes on to the one in memory, as a network does."""

    clock_error = 0  # the clock of the database is right, however late it is told

    def __init__(self, world: World, life: Life) -> None:
        self._world = world
        self._life = life
        self._store = MemoryStore(world.database)
        self._lease = world.mixture.settings.lease_ttl / 1000
        self._quick = min(_LONG, self._lease / ATTEMPTS / 2)  # an attempt to renew asks for the time, then renews
        self._renewed = 0.0  # when leases were last renewed quickly
        if world.mixture.hints:
            self.tell, self.listen = self._tell_others, self._listen
        self.hear: Callable[[Hint], None] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in ("tell", "listen"):
            raise AttributeError(name)
        found = getattr(self._store, name)
        sent = FamilyProxy(name, found, self._sent) if name in FAMILIES else self._sent(name, found)
        setattr(self, name, sent)  # the next time it is found at once
        return sent

    def _sent(self, name: str, method: Any) -> Any:
        if name == "appends.lanes":
            return _LANES
        return method if name == "claims.renewals" else partial(self._send, name, method)  # there is no thread

    # Hints

    def _listen(self, hear: Callable[[Hint], None]) -> None:
        self.hear = hear

    def _tell_others(self, hint: Hint) -> None:
        self._world.instances.pass_on(self._life, hint)

    # Requests

    async def _send(self, name: str, method: Callable[..., Coroutine[Any, Any, Any]], *args: Any, **named: Any) -> Any:
        life, loop = self._life, self._world.loop
        if life.dead:
            raise Killed
        if name == "claims.claim" and self._world.clock.has_leapt() and self._may_take_over(args[0]):
            return Claims()  # as the store on PostgreSQL does
        if name == "claims.renew" and life.instance is not None:
            method = partial(self._renew, method, life.instance.driver.clock.now())
        if self._is_idle(name, args):
            return done_at_once(method(*args, **named))
        fate = self._fate(name)
        if fate.error is not None and name == "appends.commit" and REFUSAL in str(fate.error):
            self._world.refused.update((one.execution_id, None) for one in args[0])
        if self._disturbs(name, fate):
            # Whoever does not hear of a claim owns what it does not know of, until that lease is over; and so does who
            # gives something back in vain, or begins something without hearing of it.
            leases = name in _LEASING or (name == "appends.commit" and any(one.new is not None for one in args[0]))
            life.disturb(max(fate.told, fate.lands or 0.0) + (self._lease if leases else 0.0))
        if name == "queries.load":
            life.reads_until.update(dict.fromkeys(args[0], fate.told))
        if name == "claims.release":
            life.releases_until = max(life.releases_until, fate.told)
        reply: asyncio.Future[Any] = loop.create_future()
        if fate.lands is None:
            loop.call_at(fate.told, _tell, reply, None, fate.error, context=life.context)
        elif name == "now" and not self._world.mixture.clock_steps:
            # Four requests in ten ask for the time. What it will be when they land is known, so they do not.
            told = self._world.clock.at(fate.lands)
            loop.call_at(fate.told, _tell, reply, told, fate.error, context=life.context)
        else:
            work = partial(method, *args, **named)
            loop.call_at(fate.lands, self._land, name, work, reply, fate, context=self._world.server.context)
        return await reply

    def _may_take_over(self, claim: Claim) -> bool:
        """Return whether a claim may be for what another instance drives."""
        head = self._world.database.heads.get(claim.execution_id) if claim.execution_id is not None else None
        return claim.execution_id is None or (head is not None and head.owner is not None)

    async def _renew(
        self, renew: Renew, since: int, instance: str, leases: Sequence[LeaseRow], until: int
    ) -> list[str]:
        """Renew leases for their whole length from now on, as the store on PostgreSQL does."""
        return await renew(instance, leases, lease_end(until, since, self._world.database.clock()))

    def _disturbs(self, name: str, fate: Fate) -> bool:
        """Return whether what becomes of a request explains what goes wrong with its sender.

        An attempt to renew that is too slow is given up, and explains nothing by itself: there are several in a lease.
        Only if none was quick for half a lease, the lease may be over before one is.
        """
        now = self._world.loop.time()
        if fate.error is not None or fate.told - now > _LONG:
            return True
        if name not in _RENEWING:
            return False
        if fate.told - now > self._quick:
            return now - self._renewed > self._lease / 2
        if name == "claims.renew":
            self._renewed = now
        return False

    def _is_idle(self, name: str, args: tuple[Any, ...]) -> bool:
        """Return whether a request is a poll that finds nothing, and need not travel to do so."""
        world, life = self._world, self._life
        if name not in POLLS or world.loop.time() < max(life.cut_until, life.deaf_until, world.down_until):
            return False
        travels = TRAVELS
        if name == "now" and (life.instance is None or life.instance.driver.active):
            travels = TRAVELS_WHILE_DRIVING  # it lives by what it is told of the time, and how late
        return world.chance.random() >= travels and finds_nothing(world.database, name, args)

    def _fate(self, name: str) -> Fate:
        """Draw what becomes of a request."""
        world, life = self._world, self._life
        chance, mixture, now = world.chance, world.mixture, world.loop.time()
        there, back = -log(1.0 - chance.random()) / _PER_SECOND, -log(1.0 - chance.random()) / _PER_SECOND
        if chance.random() < mixture.slow:
            there, back = there + chance.expovariate(_SLOW_PER_SECOND), back + chance.expovariate(_SLOW_PER_SECOND)
        lands, later = now + there, now + chance.uniform(0.01, 3)
        draw = chance.random()
        is_faulty = now < world.heals_at
        if now < max(life.cut_until, world.down_until):
            return world.counted("cut", Fate(None, later, StoreUnavailable("There is no line.")))
        if now < life.deaf_until:
            if chance.random() < mixture.held_replies:
                return world.counted("held_replies", Fate(lands, max(lands, life.deaf_until) + back))
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
        if name in _OF_LEASES and chance.random() < mixture.late_leases:
            error = StoreUnavailable("It takes too long.")
            return world.counted("late_leases", Fate(now + chance.uniform(0.1, 2.5) * self._lease, later, error))
        if (draw := draw - mixture.refused) < 0 and name == "appends.commit":
            refused = chance.choice((StoreUnavailable("The disk is full."), StoreError(REFUSAL)))
            return world.counted("refused", Fate(None, lands + back, refused))
        if draw - mixture.silences < 0:
            return world.counted("silences", Fate(lands, lands + chance.uniform(5, 60)))
        return Fate(lands, lands + back)

    def _land(
        self, name: str, work: Callable[[], Coroutine[Any, Any, Any]], reply: asyncio.Future[Any], fate: Fate
    ) -> None:
        """Do what is asked, in the database's process, and send the reply."""
        if name == "appends.commit_informed" and self._life.dead:
            return  # the instance that would have decided is dead
        oracle, found = self._world.oracle, None
        error: Exception | None = fate.error
        before = dict(self._world.database.heads) if name == "claims.claim" else {}
        try:
            found = done_at_once(work())
        except Exception as raised:  # noqa: BLE001 - it belongs to the sender
            error = error or raised
        self._world.noted(self._life, f"{ASKS}{name}")
        for one in found.claimed if before and found is not None else ():
            was = before[one.head.execution_id]
            oracle.losses[was.execution_id] += was.owner is not None
            if not self._life.dead:
                oracle.claimed(self._life, was)
        if name in _LIMITING:
            oracle.limits.look()
        loop = self._world.loop
        loop.call_at(max(fate.told, loop.time()), _tell, reply, found, error, context=self._life.context)


def done_at_once(work: Coroutine[Any, Any, T]) -> T:
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
