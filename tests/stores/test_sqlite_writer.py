"""The one writer: groups, failures in them, and what happens when nothing can be written."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw
import pytest

from layover.ports.errors import StoreUnavailable
from layover.stores.sqlite.connection import connect, write_ahead
from layover.stores.sqlite.writer import Writer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "layover.db"


@pytest.fixture
def statements() -> list[str]:
    return []


@pytest.fixture
async def writer(path: Path, statements: list[str]) -> AsyncIterator[Writer]:
    db = connect(path, busy_ms=10)
    write_ahead(db, path)
    db.execute("CREATE TABLE kept (n INTEGER, body BLOB)")

    def note(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        statements.append(sql)
        return True

    db.exec_trace = note
    found = Writer(db, path)
    yield found
    await found.stop()


def keep(n: int, size: int = 0) -> Callable[[apsw.Connection], int]:
    def work(db: apsw.Connection) -> int:
        db.execute("INSERT INTO kept (n, body) VALUES (?, zeroblob(?))", (n, size))
        return n

    return work


def fail_after_writing(db: apsw.Connection) -> None:
    keep(99)(db)
    raise ValueError("not this one")


def fail_in_the_database(db: apsw.Connection) -> None:
    keep(99)(db)
    db.execute("SELECT * FROM nowhere")


async def kept(writer: Writer) -> list[int]:
    def work(db: apsw.Connection) -> list[int]:
        return [n for (n,) in db.execute("SELECT n FROM kept ORDER BY n")]

    return await writer.write(work)


@contextmanager
def held_up(writer: Writer) -> Iterator[None]:
    """Let everything that is handed in meanwhile wait for one group."""
    begun, go_on = threading.Event(), threading.Event()

    def work(_db: apsw.Connection) -> None:
        begun.set()
        go_on.wait()

    writer.write(work)
    begun.wait()
    yield
    go_on.set()


async def test_what_waits_is_written_in_one_transaction(writer: Writer) -> None:
    with held_up(writer):
        jobs = [writer.write(keep(n)) for n in range(50)]
    assert await asyncio.gather(*jobs) == list(range(50))
    assert writer.transactions == 2
    assert await kept(writer) == list(range(50))


@pytest.mark.parametrize("failing", [fail_after_writing, fail_in_the_database])
async def test_one_that_fails_does_not_spoil_the_others(
    writer: Writer, failing: Callable[[apsw.Connection], None]
) -> None:
    with held_up(writer):
        jobs = writer.write(keep(1)), writer.write(failing), writer.write(keep(2))
    first, error, second = await asyncio.gather(*jobs, return_exceptions=True)
    assert (first, second) == (1, 2)
    assert isinstance(error, Exception)
    assert await kept(writer) == [1, 2]


async def test_a_locked_file_is_waited_for_then_reported_and_later_written(writer: Writer, path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked") as refused:
        await writer.write(keep(1))
    assert refused.value.code == "locked"
    assert isinstance(refused.value.__cause__, apsw.BusyError)
    other.execute("ROLLBACK")
    other.close()
    assert await writer.write(keep(2)) == 2
    assert await kept(writer) == [2]


async def test_all_jobs_that_wait_for_a_locked_file_fail_together(
    writer: Writer, path: Path, statements: list[str]
) -> None:
    waiting, give_up = threading.Event(), threading.Event()

    def wait_for_others(_times: int) -> bool:
        waiting.set()
        give_up.wait()
        return False

    await writer.write(lambda db: db.set_busy_handler(wait_for_others))
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    statements.clear()
    jobs = [writer.write(keep(0))]
    waiting.wait()
    jobs += [writer.write(keep(n)) for n in range(1, 20)]
    give_up.set()
    answers = await asyncio.gather(*jobs, return_exceptions=True)
    other.close()
    assert [answer.code for answer in answers if isinstance(answer, StoreUnavailable)] == ["locked"] * 20
    assert statements == ["BEGIN IMMEDIATE"] * 2


async def test_a_full_disk_raises_and_leaves_nothing_half_written(writer: Writer) -> None:
    await writer.write(keep(1))
    await writer.write(lambda db: db.pragma("max_page_count", db.pragma("page_count") + 10))
    with held_up(writer):
        jobs = [writer.write(keep(2)), writer.write(keep(3, size=1_000_000)), writer.write(keep(4))]
    small, large, last = await asyncio.gather(*jobs, return_exceptions=True)
    assert isinstance(large, StoreUnavailable)
    assert large.code == "full"
    assert (small, last) == (2, 4)
    assert await kept(writer) == [1, 2, 4]
    await writer.write(lambda db: db.pragma("max_page_count", 2**31))
    assert await writer.write(keep(5, size=1_000_000)) == 5
    assert await kept(writer) == [1, 2, 4, 5]


async def test_stopping_finishes_what_waits(writer: Writer) -> None:
    with held_up(writer):
        jobs = [writer.write(keep(n)) for n in range(5)]
        stopping = asyncio.create_task(writer.stop())
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable, match="closed"):
            writer.write(keep(9))
    await stopping
    assert [job.result() for job in jobs] == list(range(5))


async def test_a_submitted_write_happens_though_its_caller_is_gone(writer: Writer) -> None:
    with held_up(writer):
        job = writer.write(keep(1))
        job.cancel()
    assert await kept(writer) == [1]


async def test_a_failure_whose_caller_is_gone_is_silent(writer: Writer) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
    with held_up(writer):
        job = writer.write(fail_after_writing)
        job.cancel()
    assert await kept(writer) == []
    del job
    assert complaints == []
