"""What is special about the store on a file: threads, cancelled callers, and several openings at once."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

import pytest

from layover.stores.sqlite import SqliteStore
from tests.stores.conformance import ME, claim, create, creation, head, step, truth, uid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    found = SqliteStore(tmp_path / "layover.db", busy_ms=5_000, between_looks=0)
    await found.open(ME)
    yield found
    await found.close()


async def test_a_commit_whose_caller_gave_up_is_all_or_nothing(store: SqliteStore) -> None:
    for n in range(1, 41):
        await create(store, n)
    for n in range(1, 41, 2):
        task = asyncio.ensure_future(store.appends.commit([step(n), step(n + 1), creation(100 + n)]))
        for _ in range(n % 4):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await store.queries.count_by_status()
    await store.locks.release("the last to be written", ME)
    for n in range(1, 41, 2):
        written = {(await head(store, n)).last_seq == 2, (await head(store, n + 1)).last_seq == 2}
        written.add(await store.queries.find_execution(uid(100 + n)) is not None)
        assert len(written) == 1


async def test_many_calls_at_once_are_written_in_few_transactions(store: SqliteStore) -> None:
    await create(store, 0)
    before = store.transactions
    outcomes = await asyncio.gather(*(store.appends.commit([creation(n)]) for n in range(1, 201)))
    assert {outcome.verdict for (outcome,) in outcomes} == {"passed"}
    assert store.transactions - before < 50
    assert (await store.queries.count_by_status()) == {"running": 201}


async def test_closing_waits_for_reads_and_writes_under_way(store: SqliteStore) -> None:
    await create(store)
    reads = [asyncio.ensure_future(store.queries.read_history(uid(1), 0, 10)) for _ in range(20)]
    writes = [asyncio.ensure_future(store.appends.commit([creation(n)])) for n in range(2, 22)]
    await asyncio.sleep(0)
    await store.close()
    assert all(len(entries) == 1 for entries in await asyncio.gather(*reads))
    assert all(outcome.verdict == "passed" for (outcome,) in await asyncio.gather(*writes))


async def test_a_store_leaves_nothing_behind_but_its_file(tmp_path: Path, store: SqliteStore) -> None:
    await create(store)
    await truth(store)
    await store.close()
    gc.collect()
    assert [file.name for file in tmp_path.iterdir()] == ["layover.db"]  # noqa: ASYNC240 - nothing else waits


@pytest.mark.parametrize("turn", range(5))
async def test_many_may_open_a_new_file_at_once(tmp_path: Path, turn: int) -> None:
    stores = [SqliteStore(tmp_path / "new.db") for _ in range(6)]
    await asyncio.gather(*(one.open(f"{turn} {n}") for n, one in enumerate(stores)))
    await create(stores[0])
    assert [await truth(one) for one in stores] == [await truth(stores[0])] * len(stores)
    await asyncio.gather(*(one.close() for one in stores))


async def test_instances_come_and_go_while_others_look_for_the_dead(tmp_path: Path, store: SqliteStore) -> None:
    """Each has a lock file that comes and goes, and each looks at those of the others all the time."""

    async def visit(name: str) -> None:
        for _ in range(10):
            visitor = SqliteStore(tmp_path / "layover.db", between_looks=0)
            await visitor.open(name)
            await claim(visitor, 10, instance=name)
            await visitor.close()

    created = await create(store)
    await asyncio.gather(*(visit(f"visitor {n}") for n in range(4)))
    assert created.owner == ME
    assert await head(store) == created
