"""One order in which rows are locked: whichever two things are done to the same executions, neither waits for ever.

Of two that wait for each other the server ends one after a second, and we do it again. So a wrong order would only be
slow, and nobody would notice: the server's count of deadlocks does.
"""

from __future__ import annotations

import asyncio
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules
from layover.ports.limit_records import AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.records import ChangedPoint, Claim, ClosedExecution, Enqueue, LeaseRow, Rest
from tests.conftest import FACTOR
from tests.stores.conformance import ME, OTHER, approval, creation, entry, following, message, opened, uid
from tests.stores.racing import holding, rivals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from typing import TypeAlias

    from layover.ports.records import Append, AuditRow, Head
    from layover.ports.store import Store
    from layover.stores.postgres import PostgresStore

    # The store, the instance that it is for, the how manieth turn it is, and executions in the order to take them.
    Work: TypeAlias = Callable[[Store, str, int, list[int]], Awaitable[None]]

TURNS = 2 * FACTOR
LANES = 2  # of each side: who waits makes others wait
DRIVEN = range(12)
OVER = range(12, 24)
LATE = 10**6


def _over() -> list[Append]:
    return [replace(creation(n, rest=Rest()), status="completed", closed=ClosedExecution()) for n in OVER]


async def _heads(store: Store) -> list[Head]:
    return [loaded.head for loaded in await store.queries.load([uid(n) for n in DRIVEN]) if loaded is not None]


def _entry(turn: int, n: int) -> AuditRow:
    """Return an entry that somebody else may write as well: an act of several parts has one for all of them."""
    return entry(100 * turn + n)


async def commit(store: Store, name: str, turn: int, ns: list[int]) -> None:
    """Move all of them in the name of whoever drives them; write to points and to the outbox with it."""
    if any(head.owner is None for head in await _heads(store)):
        await claim(store, name, 0, ns)
    heads = {head.execution_id: head for head in await _heads(store)}
    asked = {n: opened(f"p{n}", rules=ApprovalRules(need=10**6)).point for n in ns}
    await store.appends.commit(
        [
            following(
                heads[uid(n)],
                points=(ChangedPoint(point=replace(asked[n], reminded=turn)),),
                messages=(message(heads[uid(n)].last_seq + 1, sender=n, destination=uid(n), due_at=LATE),),
                rest=Rest(wake_at=turn) if turn % 3 == 0 else None,
                audit=_entry(turn, n),
            )
            for n in ns
        ]
    )


async def claim(store: Store, name: str, turn: int, _ns: list[int]) -> None:
    """Claim what is due: everything, for no lease lasts. Now and then one of them only."""
    one = uid(turn % len(DRIVEN)) if turn % 2 else None
    await store.claims.claim(Claim(instance=name, now=LATE, lease_until=LATE - 1, most=20, execution_id=one))


async def renew(store: Store, name: str, turn: int, ns: list[int]) -> None:
    await claim(store, name, 0, ns)
    await store.claims.renew(name, await _leases(store, name, ns), LATE - 2 - turn)


async def release(store: Store, name: str, turn: int, ns: list[int]) -> None:
    await claim(store, name, 0, ns)
    await store.claims.release(name, await _leases(store, name, ns), turn)


async def _leases(store: Store, name: str, ns: list[int]) -> list[LeaseRow]:
    owned = {head.execution_id: head.epoch for head in await _heads(store) if head.owner == name}
    return [LeaseRow(execution_id=uid(n), epoch=owned.get(uid(n), 1)) for n in ns]


async def enqueue(store: Store, _name: str, turn: int, ns: list[int]) -> None:
    """Send each of them a command that somebody else may send as well, and one that nobody else does."""
    all_ = [*ns, *OVER] if ns[0] else [*reversed(OVER), *ns]
    sources = [(n, source) for source in (f"both{turn % 9}", "") for n in all_]
    commands = [
        Enqueue(execution_id=uid(n), kind="K", body=b"{}", source=source, audit=_entry(turn, n))
        for n, source in sources
    ]
    await store.commands.enqueue(commands, turn)


def _some(turn: int, ns: list[int]) -> list[int]:
    """Return a few of those that are gone through one by one."""
    return ns[turn % 4 :: 4]


async def answer(store: Store, name: str, turn: int, ns: list[int]) -> None:
    wish = Claim(instance=name, now=turn, lease_until=turn)
    for n in _some(turn, ns):
        await store.answers.reserve(approval(f"p{n}", by=f"{name}{turn}"), f"{name}{turn}", turn, wish, _entry(turn, n))


async def sent(store: Store, _name: str, _turn: int, ns: list[int]) -> None:
    due = (await store.outbox.read_due(LATE, 100)).due
    await store.outbox.delete_delivered(due if ns[0] else tuple(reversed(due)))


async def purge(store: Store, _name: str, _turn: int, ns: list[int]) -> None:
    """Purge what is over, and begin it again; what is open stays."""
    over = _over()
    await store.retention.purge([*(uid(n) for n in ns), *(append.execution_id for append in over)])
    await store.appends.commit(over if ns[0] else over[::-1])


async def admit(store: Store, _name: str, turn: int, ns: list[int]) -> None:
    for n in _some(turn, ns):
        slots = ConcurrencyLimit(name=f"s{n % 2}", limit=1, on_conflict="cancel_running" if n == 3 else "queue")
        rate = RateLimit(name=f"r{n % 3}", limit=10**6, per_ms=1)
        await store.limits.admit(AdmissionRequest(execution_id=uid(n), slots=slots, rate=rate), turn)


async def free(store: Store, _name: str, turn: int, ns: list[int]) -> None:
    for n in _some(turn, ns):
        await store.limits.release_slot(uid(n), turn)
    await store.limits.delete_unused_rates(turn)


WORKS: tuple[Work, ...] = (commit, claim, renew, release, enqueue, answer, sent, purge, admit, free)


PAIRS = list(combinations_with_replacement(WORKS, 2))


@pytest.fixture
async def two() -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Give two stores with executions that are driven by both, and some that are over."""
    async with rivals() as (mine, others):
        rules = ApprovalRules(need=10**6)
        driven = [
            replace(creation(n), owner=OTHER if n % 2 else ME, points=(opened(f"p{n}", rules=rules),)) for n in DRIVEN
        ]
        await mine.appends.commit([*driven, *_over()])
        yield mine, others
        assert await mine.inspection.list_faults() == []


async def test_no_two_things_that_wait_hold_what_the_other_needs(two: tuple[PostgresStore, PostgresStore]) -> None:
    """Both come to rows in the middle that a third holds. Who comes from the other end holds the rows beyond them."""
    mine, others = two
    held = [uid(n) for some in (DRIVEN, OVER) for n in (some[len(some) // 3], some[2 * len(some) // 3])]
    for turn, (one, other) in enumerate(PAIRS):
        async with holding(mine, held) as waiting:
            works = [
                asyncio.ensure_future(one(mine, ME, turn, list(DRIVEN))),
                asyncio.ensure_future(other(others, OTHER, turn, list(reversed(DRIVEN)))),
            ]
            while await waiting() < sum(not work.done() for work in works):
                pass
        await asyncio.gather(*works)


async def test_no_two_things_wait_for_each_other(two: tuple[PostgresStore, PostgresStore]) -> None:
    mine, others = two
    for first, (one, other) in enumerate(PAIRS):
        lanes = []
        for lane in range(LANES):
            turns = range((first * LANES + lane) * TURNS, (first * LANES + lane + 1) * TURNS)
            lanes.append(_again_and_again(one, mine, ME, turns, list(DRIVEN)))
            lanes.append(_again_and_again(other, others, OTHER, turns, list(reversed(DRIVEN))))
        await asyncio.gather(*lanes)


async def _again_and_again(work: Work, store: Store, name: str, turns: range, ns: list[int]) -> None:
    for turn in turns:
        await work(store, name, turn, ns)
