"""The store itself: what the port asks for, handed to the writer or to a reader."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, time
from typing import TYPE_CHECKING, TypeVar

import apsw

from layover.ports.errors import StoreUnavailable
from layover.stores.sqlite import definitions, locks, reading, run_plane
from layover.stores.sqlite.connection import connect, told, translated
from layover.stores.sqlite.instance_locks import InstanceLocks
from layover.stores.sqlite.migrations import migrate
from layover.stores.sqlite.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from layover.core.engine.commands import Answer
    from layover.ports.records import (
        Append,
        Claim,
        Claims,
        Command,
        Enqueue,
        Enqueued,
        Entry,
        ExecutionFilter,
        ExecutionRow,
        Lease,
        Loaded,
        Outcome,
        PointFilter,
        PointRow,
        Refusal,
        Reserved,
        Version,
    )

T = TypeVar("T")

_READERS = 2
_BETWEEN_LOOKS = 0.5


class SqliteStore:
    """One database file."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._connections = threading.local()
        self._opened: list[apsw.Connection] = []
        self._writer: Writer | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._locks: InstanceLocks | None = None
        self._looked_at = 0.0

    async def open(self, instance: str) -> None:
        """Open the file, bring its tables up to date, and say that this instance lives."""
        db = await asyncio.to_thread(self._prepare)
        self._writer = Writer(db, self.path)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="layover-reader")
        self._locks = InstanceLocks(self.path, instance)
        self._locks.hold()

    def _prepare(self) -> apsw.Connection:
        db = connect(self.path)
        try:
            with translated(self.path):
                migrate(db, self.path, _now())
        except BaseException:
            db.close()
            raise
        return db

    async def close(self) -> None:
        """Finish what waits to be written and let go of the file."""
        if self._readers is not None:
            await asyncio.to_thread(self._readers.shutdown)
            self._readers = None
        for db in self._opened:
            db.close()
        self._opened.clear()
        if self._writer is not None:
            await self._writer.stop()
            self._writer = None
        if self._locks is not None:
            self._locks.let_go()
            self._locks = None

    async def now(self) -> int:
        """Return the time of the machine, which all instances on one file share."""
        return _now()

    @property
    def transactions(self) -> int:
        """How many transactions have been written: many writes share one."""
        return self._writer.transactions if self._writer is not None else 0

    # The run plane

    async def commit(self, appends: Sequence[Append]) -> list[Outcome]:
        """Write appends."""
        return await self._write(lambda db: run_plane.commit(db, appends))

    async def claim(self, claim: Claim) -> Claims:
        """Take what is due; what a dead instance drove is due at once."""
        dead = self._dead_instances()
        if dead:
            await self._write(lambda db: run_plane.orphan(db, dead, claim.now))
            for instance in dead:
                self._lock_files.bury(instance)
        return await self._write(lambda db: run_plane.claim(db, claim))

    async def renew(self, instance: str, leases: Sequence[Lease], until: int) -> list[str]:
        """Keep what is driven."""
        return await self._write(lambda db: run_plane.renew(db, instance, leases, until))

    async def release(self, instance: str, leases: Sequence[Lease], wake_at: int) -> None:
        """Give back what is driven."""
        await self._write(lambda db: run_plane.release(db, instance, leases, wake_at))

    async def load(self, execution_ids: Sequence[str]) -> list[Loaded | None]:
        """Read what states are made from."""
        return await self._read(lambda db: reading.load(db, execution_ids))

    async def commands(self, execution_id: str, after: int) -> list[Command]:
        """Read commands."""
        return await self._read(lambda db: reading.commands(db, execution_id, after))

    async def enqueue(self, commands: Sequence[Enqueue], now: int) -> list[Enqueued | Refusal]:
        """Take commands."""
        return await self._write(lambda db: run_plane.enqueue(db, commands, now))

    async def answer(self, answer: Answer, source: str, now: int) -> Reserved | Refusal:
        """Take an answer."""
        return await self._write(lambda db: run_plane.answer(db, answer, source, now))

    # Definitions

    async def save_version(self, workflow: str, hash_: str, document: bytes, now: int) -> Version:
        """Keep a definition."""
        return await self._write(lambda db: definitions.save(db, workflow, hash_, document, now))

    async def version(self, hash_: str) -> Version | None:
        """Find a version by its hash."""
        return await self._read(lambda db: reading.version(db, hash_))

    async def latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""
        return await self._read(lambda db: reading.latest(db, workflow))

    async def versions(self, workflow: str | None = None) -> list[Version]:
        """List versions."""
        return await self._read(lambda db: reading.versions(db, workflow))

    # Views

    async def get(self, execution_id: str) -> ExecutionRow | None:
        """Find an execution."""
        return await self._read(lambda db: reading.get(db, execution_id))

    async def page(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        """List executions."""
        return await self._read(lambda db: reading.page(db, wanted))

    async def history(self, execution_id: str, since: int, limit: int) -> list[Entry]:
        """Read a log."""
        return await self._read(lambda db: reading.history(db, execution_id, since, limit))

    async def points(self, wanted: PointFilter) -> list[PointRow]:
        """List pause points."""
        return await self._read(lambda db: reading.points(db, wanted))

    async def point(self, point_id: str) -> PointRow | None:
        """Find a pause point."""
        return await self._read(lambda db: reading.point(db, point_id))

    async def counts(self) -> dict[str, int]:
        """Count executions by status."""
        return await self._read(reading.counts)

    # Locks

    async def lock(self, name: str, holder: str, now: int, until: int) -> bool:
        """Take or keep a named lock."""
        return await self._write(lambda db: locks.take(db, name, holder, now, until))

    async def unlock(self, name: str, holder: str) -> None:
        """Give a named lock back."""
        await self._write(lambda db: locks.drop(db, name, holder))

    # Threads

    def _write(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        if self._writer is None:
            raise StoreUnavailable("The store is not open.", code="closed")
        return self._writer.write(work)

    def _read(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        if self._readers is None:
            raise StoreUnavailable("The store is not open.", code="closed")
        return asyncio.get_running_loop().run_in_executor(self._readers, self._reading, work)

    def _reading(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            db: apsw.Connection | None = getattr(self._connections, "db", None)
            if db is None:
                db = self._connections.db = connect(self.path, readonly=True)
                self._opened.append(db)
            db.execute("BEGIN")  # so that everything is read at one moment
            try:
                return work(db)
            finally:
                db.execute("ROLLBACK")
        except apsw.Error as error:
            raise told(error, self.path) from error

    # Other instances

    @property
    def _lock_files(self) -> InstanceLocks:
        if self._locks is None:
            raise StoreUnavailable("The store is not open.", code="closed")
        return self._locks

    def _dead_instances(self) -> list[str]:
        now = monotonic()
        if now - self._looked_at < _BETWEEN_LOOKS and self._looked_at:
            return []
        self._looked_at = now
        others = self._lock_files.others()
        dead = [instance for instance in others if self._lock_files.is_dead(instance)]
        if self._writer is not None:
            self._writer.shared = len(others) > len(dead)
        return dead


def _now() -> int:
    return int(time() * 1000)
