"""One order in which rows are locked: whichever two things are done to the same executions, neither waits for ever.

Of two that wait for each other the server ends one after a second, and we do it again. So a wrong order would only be
slow, and nobody would notice: the server's count of deadlocks does.
"""

from __future__ import annotations

import asyncio
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.core.people import Rules
from layover.ports.records import ChangedPoint, Claim, Closed, Enqueue, Lease, Rate, Rest, Slots, Wish
from tests.conftest import FACTOR
from tests.stores.conformance import ME, OTHER, approval, creation, following, message, opened, uid
from tests.stores.racing import rivals

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.records import Head
    from layover.ports.store import Store

TURNS = 6 * FACTOR
DRIVEN = range(6)
OVER = range(6, 9)
LATE = 10**6


async def _heads(store: Store) -> list[Head]:
    return [loaded.head for loaded in await store.load([uid(n) for n in DRIVEN]) if loaded is not None]


async def commit(store: Store, _name: str, turn: int, ns: list[int]) -> None:
    """Move whatever can be moved, by whoever owns it; write to points and to the outbox with it."""
    heads = {head.execution_id: head for head in await _heads(store)}
    asked = {n: opened(f"p{n}", rules=Rules(need=10**6)).point for n in ns}
    await store.commit(
        [
            following(
                heads[uid(n)],
                points=(ChangedPoint(point=replace(asked[n], reminded=turn)),),
                messages=(message(heads[uid(n)].last_seq + 1, sender=n, destination=uid(n), due_at=turn),),
                rest=Rest(wake_at=turn) if turn % 3 == 0 else None,
            )
            for n in ns
        ]
    )


async def claim(store: Store, name: str, turn: int, _ns: list[int]) -> None:
    """Claim what is due: everything, for no lease lasts. Now and then one of them only."""
    one = uid(turn % len(DRIVEN)) if turn % 2 else None
    await store.claim(Claim(instance=name, now=LATE, lease_until=LATE - 1, most=4, execution_id=one))


async def renew(store: Store, name: str, turn: int, ns: list[int]) -> None:
    await store.renew(name, await _leases(store, name, ns), LATE - 2 - turn)


async def release(store: Store, name: str, turn: int, ns: list[int]) -> None:
    await store.release(name, await _leases(store, name, ns), turn)


async def _leases(store: Store, name: str, ns: list[int]) -> list[Lease]:
    owned = {head.execution_id: head.epoch for head in await _heads(store) if head.owner == name}
    return [Lease(execution_id=uid(n), epoch=owned.get(uid(n), 1)) for n in ns]


async def enqueue(store: Store, _name: str, turn: int, ns: list[int]) -> None:
    """Send each of them a command that the other sends as well, and one that it does not."""
    sources = [(n, source) for source in (f"both{turn}", "") for n in ns]
    commands = [Enqueue(execution_id=uid(n), kind="K", body=b"{}", source=source) for n, source in sources]
    await store.enqueue(commands, turn)


async def answer(store: Store, name: str, turn: int, ns: list[int]) -> None:
    wish = Claim(instance=name, now=turn, lease_until=turn)
    for n in ns:
        await store.answer(approval(f"p{n}", by=f"{name}{turn}"), f"{name}{turn}", turn, wish)


async def sent(store: Store, _name: str, _turn: int, ns: list[int]) -> None:
    due = (await store.outbox(LATE, 100)).due
    await store.sent(due if ns[0] else tuple(reversed(due)))


async def purge(store: Store, _name: str, _turn: int, ns: list[int]) -> None:
    """Purge what is over, and begin it again; what is open stays."""
    over = [replace(creation(n, rest=Rest()), status="completed", closed=Closed()) for n in OVER]
    await store.purge([*(uid(n) for n in ns), *(append.execution_id for append in over)])
    await store.commit(over if ns[0] else over[::-1])


async def admit(store: Store, _name: str, turn: int, ns: list[int]) -> None:
    for n in ns:
        slots = Slots(name=f"s{n % 2}", limit=1, on_conflict="cancel_running" if n == 3 else "queue")
        rate = Rate(name=f"r{n % 3}", limit=10**6, per_ms=1)
        await store.admit(Wish(execution_id=uid(n), slots=slots, rate=rate), turn)


async def free(store: Store, _name: str, turn: int, ns: list[int]) -> None:
    for n in ns:
        await store.free(uid(n), turn)
    await store.forget_rates(turn)


WORKS: dict[str, Callable[[Store, str, int, list[int]], Awaitable[None]]] = {
    work.__name__: work for work in (commit, claim, renew, release, enqueue, answer, sent, purge, admit, free)
}


async def test_no_two_things_wait_for_each_other() -> None:
    async with rivals() as (mine, others):
        begun = [
            replace(creation(n), owner=OTHER if n % 2 else ME, points=(opened(f"p{n}", rules=Rules(need=10**6)),))
            for n in DRIVEN
        ]
        await mine.commit(begun)
        turn = 0
        for one, other in combinations_with_replacement(WORKS.values(), 2):
            turns = range(turn, turn + TURNS)
            turn += TURNS
            await asyncio.gather(
                _again_and_again(one, mine, ME, turns, list(DRIVEN)),
                _again_and_again(other, others, OTHER, turns, list(reversed(DRIVEN))),
            )
        assert await mine.faults() == []


async def _again_and_again(
    work: Callable[[Store, str, int, list[int]], Awaitable[None]], store: Store, name: str, turns: range, ns: list[int]
) -> None:
    for turn in turns:
        await work(store, name, turn, ns)
