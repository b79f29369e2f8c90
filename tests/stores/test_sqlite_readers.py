"""Readers of a file: what is found by its key is read on the thread of the event loop, which never waits for others."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import apsw
import pytest

from layover.ports.errors import StoreUnavailable
from layover.stores.sqlite.readers import Readers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "layover.db"
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.execute("CREATE TABLE rows (n INTEGER); INSERT INTO rows VALUES (1)")
    db.close()
    return path


@pytest.fixture
async def readers(path: Path) -> AsyncIterator[Readers]:
    readers = Readers(path, busy_ms=60_000)
    yield readers
    await readers.close()


def _where(db: apsw.Connection) -> tuple[list[int], str]:
    return [n for (n,) in db.execute("SELECT n FROM rows")], threading.current_thread().name


async def test_a_glance_is_taken_on_the_thread_of_the_loop(readers: Readers) -> None:
    await readers.read(_where)  # so that there is a connection for it
    assert await readers.glance(_where) == ([1], threading.current_thread().name)


async def test_what_may_take_long_is_read_on_a_thread_of_its_own(readers: Readers) -> None:
    rows, thread = await readers.read(_where)
    assert (rows, thread.startswith("layover-reader")) == ([1], True)


async def test_repeated_short_reads_let_others_go_on(readers: Readers) -> None:
    going_on = asyncio.Event()
    asyncio.get_running_loop().call_soon(going_on.set)
    while not going_on.is_set():
        await readers.glance(_where)


async def test_all_that_one_glance_sees_is_of_one_moment(readers: Readers, path: Path) -> None:
    def twice(db: apsw.Connection) -> tuple[list[int], list[int]]:
        before = _where(db)[0]
        other = apsw.Connection(str(path))
        other.execute("INSERT INTO rows VALUES (2)")
        other.close()
        return before, _where(db)[0]

    await readers.read(_where)
    assert await readers.glance(twice, statements=2) == ([1], [1])
    assert (await readers.glance(_where))[0] == [1, 2]


async def test_the_loop_does_not_wait_for_a_locked_file(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.pragma("locking_mode", "exclusive")
    other.execute("BEGIN EXCLUSIVE")
    readers = Readers(path, busy_ms=60_000)
    glance = asyncio.create_task(readers.glance(_where))
    for _ in range(3):
        await asyncio.sleep(0)
    assert not glance.done()
    other.close()
    assert (await glance)[0] == [1]
    await readers.close()


async def test_what_would_have_to_wait_goes_to_a_thread(readers: Readers) -> None:
    await readers.read(_where)  # so that there is a connection for a glance
    ours = threading.current_thread().name

    def busy_here(db: apsw.Connection) -> tuple[list[int], str]:
        if threading.current_thread().name == ours:
            raise apsw.BusyError("locked")
        return _where(db)

    rows, thread = await readers.glance(busy_here)
    assert (rows, thread.startswith("layover-reader")) == ([1], True)


async def test_nothing_is_read_from_what_is_closed(path: Path) -> None:
    readers = Readers(path, busy_ms=0)
    await readers.glance(_where)
    await readers.close()
    with pytest.raises(StoreUnavailable):
        await readers.glance(_where)
    with pytest.raises(StoreUnavailable):
        await readers.read(_where)
