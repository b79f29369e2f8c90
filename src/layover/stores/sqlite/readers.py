"""The readers: threads with a connection each for queries that may take long, and one connection for a glance.

A row that is found by its key is read within microseconds, a small part of what a handover to another thread costs. So
it is read at once, on the thread of the event loop. If the file is locked at that moment, the query goes to a thread
instead: the loop never waits.
"""

from __future__ import annotations

import asyncio
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import apsw

from layover.ports.errors import StoreUnavailable
from layover.stores.sqlite.connection import connect, store_error

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

T = TypeVar("T")

_THREADS = 2


@types.coroutine
def _let_others_run() -> Generator[None]:
    """Give the event loop a turn, as `asyncio.sleep(0)` does by way of one more coroutine."""
    yield


class Readers:
    """Runs functions on read-only connections, each at one moment of the file."""

    def __init__(self, path: Path, busy_ms: int) -> None:
        self._path = path
        self._busy_ms = busy_ms
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="layover-reader")
        self._own = threading.local()
        self._opened: list[apsw.Connection] = []
        self._near: apsw.Connection | None = None
        self._closed = False

    def read(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        """Run a function of a connection, which may take long."""
        self._check_open()
        return asyncio.get_running_loop().run_in_executor(self._pool, self._on_thread, work)

    async def glance(self, work: Callable[[apsw.Connection], T], *, statements: int = 1) -> T:
        """Run a function of a connection that looks up a few rows by their keys.

        One statement reads one moment of the file by itself; several do so in a transaction.
        """
        await _let_others_run()  # a task that reads in a loop must
        self._check_open()
        if self._near is None:
            return await self.read(work)
        try:
            return work(self._near) if statements == 1 else _at_one_moment(self._near, work)
        except apsw.BusyError:
            return await self.read(work)
        except apsw.Error as error:
            raise store_error(error, self._path) from error

    async def close(self) -> None:
        """Finish the queries that are running and close the file."""
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown)
        for db in self._opened:
            db.close()

    def _on_thread(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            db: apsw.Connection | None = getattr(self._own, "db", None)
            if db is None:
                db = self._own.db = self._connect()
            if self._near is None:
                near = self._connect()
                near.set_busy_timeout(0)
                self._near = near
            return _at_one_moment(db, work)
        except apsw.Error as error:
            raise store_error(error, self._path) from error

    def _connect(self) -> apsw.Connection:
        db = connect(self._path, readonly=True, busy_ms=self._busy_ms)
        self._opened.append(db)
        return db

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed.", code="closed")


def _at_one_moment(db: apsw.Connection, work: Callable[[apsw.Connection], T]) -> T:
    db.execute("BEGIN")
    try:
        return work(db)
    finally:
        db.execute("ROLLBACK")
