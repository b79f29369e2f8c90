"""A signal comes while a wait for it is being opened, on two stores of one database: every order, and every death.

Each side is what an engine does, on a store of its own, and stands still before each of its calls until it is let on.
`race` lets them on in a given order and then leaves both where they are, as if their processes had died; what is left
to do is done by somebody who knows only what the database says. Nothing here knows which store it is.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec.structs import replace

from layover.ports.records import Message, OpenedPoint, Rest, Signal
from layover.ports.store import FAMILIES
from layover.runtime.dispatch.signal_router import SignalRouter
from layover.runtime.execution.outbox_messages import SCAN, Scanning
from layover.testing.store_proxy import FamilyProxy
from tests.stores.conformance import create, head, point, step, uid

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from layover.ports.records import Enqueue, Enqueued, Refusal
    from layover.ports.store import Store

NOW = 1_000
LATER = 10_000
# The calls of each side, at most: add, list_waits, enqueue, mark_dispatched;
# and commit, list_since, find_point, enqueue, delete_delivered.
OF_SIGNAL, OF_WAIT = 4, 5


class Sending:
    """Puts commands into queues, and tells nobody."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def send(self, commands: Sequence[Enqueue]) -> list[Enqueued | Refusal]:
        return await self._store.commands.enqueue(commands, NOW) if commands else []


class Side:
    """Somebody at work, who stands still before each call of the store; in place of the store."""

    def __init__(self, store: Store, work: Callable[[Store], Coroutine[Any, Any, None]]) -> None:
        self._store = store
        self._stands = asyncio.Event()
        self._let_on = asyncio.Semaphore(0)
        self._work = asyncio.get_running_loop().create_task(work(cast("Store", self)))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return FamilyProxy(name, found, self._held) if name in FAMILIES else self._held(name, found)

    def _held(self, _name: str, method: Callable[..., Coroutine[Any, Any, Any]]) -> Any:
        async def call(*args: Any) -> Any:
            self._stands.set()
            await self._let_on.acquire()
            return await method(*args)

        return call

    async def step(self) -> None:
        """Let it make one call, if there is one left to make."""
        await self._stand_still()
        if not self._work.done():
            self._stands.clear()
            self._let_on.release()
            await self._stand_still()

    async def die(self) -> None:
        """Leave it where it stands; what went wrong before is told."""
        self._work.cancel()
        await asyncio.wait([self._work])
        if not self._work.cancelled():
            self._work.result()

    async def _stand_still(self) -> None:
        stands = asyncio.get_running_loop().create_task(self._stands.wait())
        await asyncio.wait([stands, self._work], return_when=asyncio.FIRST_COMPLETED)
        stands.cancel()


# What the two do


def signal_of(n: int) -> Signal:
    return Signal(id=f"s{n}", name="paid", key=f"k{n}", at=400, data=b"1")


async def bring(store: Store, n: int) -> None:
    """Bring a signal."""
    if await store.signals.add(signal_of(n)):
        await SignalRouter(store, Sending(store)).dispatch(signal_of(n))


async def open_wait(store: Store, n: int) -> None:
    """Open a wait for the signal, in an execution that is there."""
    scanning = Scanning(point=f"p{n}", signals=(("paid", f"k{n}"),), since=300)
    message = Message(sender=uid(n), n=2, destination=uid(n), kind=SCAN, body=msgspec.json.encode(scanning), due_at=NOW)
    opened = OpenedPoint(point=point(f"p{n}", kind="signal"), waits=scanning.signals)
    (outcome,) = await store.appends.commit([replace(step(n), points=(opened,), messages=(message,), rest=Rest())])
    assert outcome.verdict == "passed"
    await deliver_scan(store, message)


async def deliver_scan(store: Store, message: Message) -> None:
    scanning = msgspec.json.decode(message.body, type=Scanning)
    await SignalRouter(store, Sending(store)).scan(message.sender, scanning)
    await store.outbox.delete_delivered([message])


async def clear_up(store: Store) -> None:
    """Do what others have left: look for signals that are undispatched, and deliver what is in the outbox."""
    await SignalRouter(store, Sending(store)).look(LATER)
    for message in (await store.outbox.read_due(LATER, 100)).due:
        await deliver_scan(store, message)


# The race


def orders() -> Iterator[str]:
    """Return every order in which the two can make their calls, with each of them dead after any number of calls."""
    for signals in range(OF_SIGNAL + 1):
        for waits in range(OF_WAIT + 1):
            yield from _orders(signals, waits)


def _orders(signals: int, waits: int) -> Iterator[str]:
    if not signals and not waits:
        yield ""
    if signals:
        yield from ("s" + rest for rest in _orders(signals - 1, waits))
    if waits:
        yield from ("w" + rest for rest in _orders(signals, waits - 1))


async def race(one: Store, other: Store, n: int, order: str) -> int:
    """Let a signal and a wait on in an order, leave them, and have the rest done; return how often they met."""
    sides = {"s": Side(one, lambda store: bring(store, n)), "w": Side(other, lambda store: open_wait(store, n))}
    for which in order:
        await sides[which].step()
    for side in sides.values():
        await side.die()
    await clear_up(one)
    return await meetings(other, n)


async def race_at_once(one: Store, other: Store, n: int) -> int:
    """Let both go at the same time, as fast as they can."""
    await asyncio.gather(bring(one, n), open_wait(other, n))
    return await meetings(other, n)


async def meetings(store: Store, n: int) -> int:
    """Return how often an execution was told of its signal; nobody may have anything left to look for."""
    assert await store.signals.list_undispatched(LATER, 10) == []
    assert await store.outbox.list_undelivered(uid(n)) == []
    told = await store.commands.list_after(uid(n), 0)
    assert (await head(store, n)).commands_seq == len(told)
    return len(told)


async def begin(store: Store, n: int) -> None:
    """Have an execution that can wait."""
    await create(store, n)
