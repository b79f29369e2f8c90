"""Following all executions: each that changes is sent as a list shows it then, as a server-sent event.

One task reads for all followers of a server, and only while there are any: soon after this server heard of a change,
and else now and then, it reads the newest executions and those that it heard of. It hears of what other processes
change as well: on SQLite from the file, on PostgreSQL from the other instances, who tell it while somebody follows.
Where they cannot (behind a pooler), the newest executions are told of, and older ones if this server drives them.

A follower is sent an execution as it is when it takes it, however often it changed before. One that takes too few for
too long is told to read its lists again. There is no position to go on from: a follower that was cut off reads its
lists again, too.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from layover.errors import LayoverError
from layover.model.shared import encode
from layover.ports.errors import StoreError
from layover.ports.hints import FOLLOW_AGAIN
from layover.ports.view_records import ExecutionFilter
from layover.runtime.results.executions import summary_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from layover.api.event_stream import Follower, Streams
    from layover.model.executions import ExecutionSummary
    from layover.ports.view_records import ExecutionRow
    from layover.runtime.runtime import Runtime

    _Version = tuple[int, int, int | None]

_FIRST: Final = b"retry: 2000\n\n"
_ALIVE: Final = b": alive\n\n"
_LOST: Final = b"event: lost\ndata: {}\n\n"
_GATHER: Final = 0.2  # seconds in which changes are gathered
_BETWEEN: Final = 2.0  # seconds between two looks while nothing is heard of
_NEWEST: Final = 100  # executions that each look reads
_AT_ONCE: Final = 100  # older ones that are read in one look
_MOST: Final = 1_000  # that are heard of and not read yet, or read and not sent

_log = logging.getLogger("layover.api")


class Changed:
    """What one follower has not been sent yet: of each execution the newest."""

    def __init__(self) -> None:
        self.wake = asyncio.Event()
        self._waiting: dict[str, ExecutionSummary] = {}
        self._is_lost = False

    def add(self, one: ExecutionSummary) -> None:
        """Have an execution sent."""
        self._waiting[one.id] = one
        if len(self._waiting) > _MOST:
            self.lose()
        self.wake.set()

    def lose(self) -> None:
        """Have the follower read its lists again."""
        self._waiting.clear()
        self._is_lost = True
        self.wake.set()

    def take(self) -> bytes:
        """Return what is to be sent now."""
        lost, told = self._is_lost, list(self._waiting.values())
        self._is_lost = False
        self._waiting.clear()
        self.wake.clear()
        return (_LOST if lost else b"") + b"".join(b"event: execution\ndata: %s\n\n" % encode(one) for one in told)


class ChangeFeed:
    """Reads what changes, for as long as there is a follower."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._followers: list[Changed] = []
        self._heard: dict[str, None] = {}
        self._wake = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._known: dict[str, _Version] = {}
        self._told: dict[str, _Version] = {}  # older ones: the same change may be heard of twice

    async def check(self) -> None:
        """Read once: a database that is away is an answer, and no silent stream."""
        await self._runtime.instance.store.queries.list_executions(ExecutionFilter(limit=1))

    async def follow(self, streams: Streams, stopping: asyncio.Event, follower: Follower) -> AsyncGenerator[bytes]:
        """Give what changes from now on, until the server stops or the follower may not go on."""
        loop, heartbeat = asyncio.get_running_loop(), streams.heartbeat
        with streams.counted(follower), self._followed() as changed:
            yield _FIRST
            asked_at = loop.time()
            while not stopping.is_set() and not follower.ended.is_set():
                if loop.time() >= asked_at + heartbeat:
                    asked_at = loop.time()
                    if not await follower.may_follow():
                        return
                yield changed.take() or _ALIVE
                await _any((changed.wake, stopping, follower.ended), heartbeat)

    @contextmanager
    def _followed(self) -> Iterator[Changed]:
        changed = Changed()
        self._followers.append(changed)
        if self._reading is None:
            self._known.clear()
            self._told.clear()
            self._heard.clear()
            self._runtime.instance.follow_changes()
            self._runtime.instance.listeners.watchers.append(self._hear)
            self._reading = asyncio.get_running_loop().create_task(self._read_on(), name="changes")
        try:
            yield changed
        finally:
            self._followers.remove(changed)
            if not self._followers:
                self._runtime.instance.listeners.watchers.remove(self._hear)
                self._reading.cancel()
                self._reading = None

    def _hear(self, execution_id: str) -> None:
        if len(self._heard) >= _MOST and execution_id not in self._heard:
            self._heard.clear()
            for one in self._followers:
                one.lose()
        self._heard[execution_id] = None
        self._wake.set()

    async def _read_on(self) -> None:
        """Look again and again. What goes wrong is of the database: the next look finds what this one did not."""
        loop, is_first = asyncio.get_running_loop(), True
        followed_at = loop.time()
        while True:
            if loop.time() >= followed_at + FOLLOW_AGAIN:
                followed_at = loop.time()
                self._runtime.instance.follow_changes()
            try:
                for one in await self._changes(is_first=is_first):
                    for follower in self._followers:
                        follower.add(one)
                is_first = False
            except (LayoverError, StoreError) as error:
                _log.warning("changes_not_read error=%s", error)
            if not self._heard:
                await _any((self._wake,), _BETWEEN)
            await asyncio.sleep(_GATHER)
            self._wake.clear()

    async def _changes(self, *, is_first: bool) -> list[ExecutionSummary]:
        """Return the executions that were heard of, and those of the newest that changed since the last look."""
        heard = list(self._heard)[:_AT_ONCE]
        for id_ in heard:
            del self._heard[id_]
        queries = self._runtime.instance.store.queries
        rows = await queries.list_executions(ExecutionFilter(limit=_NEWEST))
        before, self._known = self._known, {row.head.execution_id: _version(row) for row in rows}
        changed = [
            row
            for row in rows
            if before.get(row.head.execution_id) != _version(row) and (not is_first or row.head.execution_id in heard)
        ]
        for id_ in heard:
            older = await queries.find_execution(id_) if id_ not in self._known else None
            if older is not None and self._told.get(id_) != _version(older):
                self._told[id_] = _version(older)
                changed.append(older)
        for id_ in list(self._told)[:-_MOST]:
            del self._told[id_]
        failures = await self._runtime.queries.failures(changed)
        rests = await self._runtime.queries.waiting.of_rows(changed)
        ids = [row.head.execution_id for row in changed]
        return [summary_of(row, failures.get(id_), rests.get(id_)) for id_, row in zip(ids, changed, strict=True)]


def _version(row: ExecutionRow) -> _Version:
    """Return what is another once an execution has changed."""
    head = row.head
    return head.last_seq, head.commands_seq, head.paused_at


async def _any(events: tuple[asyncio.Event, ...], timeout: float) -> None:  # noqa: ASYNC109 - it is not an error
    """Wait until one of some events is set, or the time is up."""
    tasks = [asyncio.ensure_future(one.wait()) for one in events]
    try:
        await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
