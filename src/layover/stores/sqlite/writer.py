"""The one writer: a thread that runs all waiting writes in one transaction.

A caller hands in a function of the connection and awaits its result, which arrives after the commit. While one
transaction waits for the disk, the next group gathers, so all writes of a group share the cost of the disk. If a
function of a group fails, the group is rolled back and each function runs alone: one failure does not spoil the others.
If no transaction can begin, the whole group fails at once.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import Future
from queue import SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeVar

import apsw

from layover.core.light_structs import LightStruct
from layover.ports.commit_points import CommitPoint, reached
from layover.ports.errors import StoreUnavailable
from layover.ports.prompt_future import PromptFuture
from layover.stores.sqlite.connection import store_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

# SQLite is not fair between processes: one that writes back to back can starve the others. A short break lets them in.
_LONGEST_STRETCH = 0.05
_BREAK = 0.002


_log = logging.getLogger("layover.sqlite")


class _Job(LightStruct, gc=False):
    work: Callable[[apsw.Connection], object]
    done: asyncio.Future[object] | Future[object]


class Writer:
    """Runs writes in order, as many as are waiting in one transaction."""

    def __init__(self, db: apsw.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._loop = asyncio.get_running_loop()
        self._waiting: SimpleQueue[_Job | None] = SimpleQueue()  # None is the end
        self._stopped = False
        self._ending = threading.Lock()  # what another thread hands in is there before the end, or refused
        self._threads_wait = 0  # jobs of threads other than that of the event loop
        self.shared = False
        self.transactions = 0
        self._thread = threading.Thread(target=self._run, name="layover-writer", daemon=True)
        self._thread.start()

    def write(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        """Run a function of the connection; its result arrives once it is durable."""
        done: asyncio.Future[T] = self._loop.create_future()
        self._add(_Job(work, done))  # type: ignore[arg-type]  # futures are invariant
        return done

    def write_promptly(self, work: Callable[[apsw.Connection], T]) -> PromptFuture[T]:
        """Do the same for a caller that is called back in the very turn of the loop in which the result arrives."""
        done: PromptFuture[T] = PromptFuture(loop=self._loop)
        self._add(_Job(work, done))  # type: ignore[arg-type]  # futures are invariant
        return done

    def _add(self, job: _Job) -> None:
        if self._stopped:
            raise StoreUnavailable("The store is closed.", code="closed")
        self._waiting.put(job)

    def write_from_thread(self, work: Callable[[apsw.Connection], T], timeout: float) -> T:
        """Do the same for a thread other than that of the event loop, which waits at most `timeout` seconds."""
        done: Future[T] = Future()
        with self._ending:
            if self._stopped:
                raise StoreUnavailable("The store is closed.", code="closed")
            self._threads_wait += 1
            self._waiting.put(_Job(work, done))  # type: ignore[arg-type]  # futures are invariant
        try:
            return done.result(timeout)
        except TimeoutError as error:
            raise StoreUnavailable(f"{self._path} took too long to answer.", code="too_slow") from error

    async def stop(self) -> None:
        """Finish the writes that wait, then close the connection."""
        with self._ending:
            if not self._stopped:
                self._stopped = True
                self._waiting.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        stretch_began, waiting = 0.0, self._waiting
        while True:
            was_idle = not waiting.qsize()
            job = waiting.get()
            if was_idle:
                stretch_began = monotonic()
            jobs: list[_Job] = []
            while job is not None:
                jobs.append(job)
                if not waiting.qsize():  # what comes from now on is for the next group
                    break
                job = waiting.get()
            if jobs:
                stretch_began = self._write(jobs, stretch_began)
            if job is None:
                self._db.close()
                return

    def _write(self, jobs: list[_Job], stretch_began: float) -> float:
        """Write a group; return when the stretch of groups began that follow one another without a break."""
        if self.shared and monotonic() - stretch_began > _LONGEST_STRETCH:
            sleep(_BREAK)
            stretch_began = monotonic()
        try:
            self._answer(self._together(jobs))
        except Exception as error:  # noqa: BLE001 - without this thread nothing would ever be written again
            _log.exception("writer_failed jobs=%d", len(jobs))
            self._answer([(job, error) for job in jobs])
        return stretch_began

    def _together(self, jobs: list[_Job]) -> list[tuple[_Job, object]]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
        except apsw.Error as error:
            return [(job, self._store_error(error)) for job in jobs]
        try:
            return self._transaction(jobs)
        except Exception as error:  # noqa: BLE001 - the caller awaits it
            if len(jobs) == 1:
                return [(jobs[0], self._store_error(error))]
            return [answer for job in jobs for answer in self._together([job])]

    def _transaction(self, jobs: list[_Job]) -> list[tuple[_Job, object]]:
        db = self._db
        try:
            answers = [(job, job.work(db)) for job in jobs]
            reached(CommitPoint.ROWS_WRITTEN)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        self.transactions += 1
        return answers

    def _store_error(self, error: Exception) -> Exception:
        if not isinstance(error, apsw.Error):
            return error
        ours = store_error(error, self._path)
        ours.__cause__ = error
        return ours

    def _answer(self, answers: list[tuple[_Job, object]]) -> None:
        if self._threads_wait:
            for_threads = [one for one in answers if isinstance(one[0].done, Future)]
            with self._ending:
                self._threads_wait -= len(for_threads)
            _deliver(for_threads)  # now: the event loop may be busy
            answers = [one for one in answers if not isinstance(one[0].done, Future)]
        try:
            self._loop.call_soon_threadsafe(_deliver, answers)
        except RuntimeError:  # the loop is closed, and with it all that waited
            return


def _deliver(answers: list[tuple[_Job, object]]) -> None:
    for job, answer in answers:
        if job.done.done():
            continue  # the caller has given up; the write is done all the same
        if type(job.done) is PromptFuture:
            _settle(job.done, answer)
        elif isinstance(answer, Exception):
            job.done.set_exception(answer)
        else:
            job.done.set_result(answer)


def _settle(done: PromptFuture[object], answer: object) -> None:
    try:
        done.settle(answer)
    except Exception:  # noqa: BLE001 - the others of the group get their answers all the same
        _log.exception("callback_failed")
