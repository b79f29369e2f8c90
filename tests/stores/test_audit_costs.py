"""What people did is written with the act, not after it: in one statement on a server, in one transaction in a file.

Whatever goes together goes together with its entries.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.access import AuditFilter
from layover.ports.records import Enqueue
from layover.stores.memory import MemoryStore
from layover.stores.postgres import PostgresStore
from layover.stores.sqlite import SqliteStore
from tests.stores.conformance import approval, creation, entry, opened, signal, step, uid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.store import Store

GROUP = range(1, 6)


async def _begin(store: Store) -> None:
    await store.appends.commit([replace(creation(10 + n), audit=entry(n)) for n in GROUP])


async def _move(store: Store) -> None:
    await store.appends.commit([replace(step(n), audit=entry(n)) for n in GROUP])


async def _enqueue(store: Store) -> None:
    await store.commands.enqueue([Enqueue(execution_id=uid(n), kind="K", body=b"", audit=entry(n)) for n in GROUP], 1)


async def _answer(store: Store) -> None:
    await asyncio.gather(*(store.answers.reserve(approval(f"p{n}"), "a", 1, audit=entry(n)) for n in GROUP))


async def _signal(store: Store) -> None:
    await store.signals.add(signal(), entry())


async def _save(store: Store) -> None:
    await store.definitions.save("order", "h2", b"{}", 1, entry())


@pytest.mark.parametrize(
    ("act", "statements", "entries"),
    [
        (_begin, 1, len(GROUP)),
        (_move, 1, len(GROUP)),
        (_enqueue, 1, len(GROUP)),
        (_answer, 2, len(GROUP)),  # to read points, and to write what is said of them
        (_signal, 1, 1),
        (_save, 1, 1),
    ],
)
async def test_an_act_and_its_entry_are_one(
    store: Store, act: Callable[[Store], Awaitable[None]], statements: int, entries: int
) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    await store.appends.commit([replace(creation(n), points=(opened(f"p{n}"),)) for n in GROUP])
    match store:
        case PostgresStore():
            before = store.statements
            await act(store)
            assert store.statements - before == statements
        case SqliteStore():
            before = store.transactions
            await act(store)
            # Answers are written one by one, as many together as come in time.
            assert 1 <= store.transactions - before <= (len(GROUP) if act is _answer else 1)
        case MemoryStore():
            await act(store)
    assert len(await store.audit.list_entries(AuditFilter())) == entries
