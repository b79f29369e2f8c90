"""How far calls are: live, throttled, and seen by all instances.

A call that reports leaves its last report behind, which costs it no more than that; twice a second the board writes
what is new into the store, and tells those who watch. What other instances drive is read from there, in one query for
all that is watched. None of it is part of any log, and nothing waits for it.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from layover.ports.view_records import NodeProgress
from layover.runtime.results.progress import encode_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from layover.ports.store import Store
    from layover.runtime.calls.call_out import CallOut
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.service import Service

_BETWEEN: Final = 0.5  # seconds
_MOST_READ: Final = 500  # executions of other instances that are watched at once


class ProgressWatch:
    """What one caller has not seen yet of the progress of an execution: the last of each node."""

    def __init__(self) -> None:
        self._seen: dict[str, NodeProgress] = {}
        self._new: dict[str, NodeProgress] = {}
        self._changed = asyncio.Event()

    def take(self) -> list[NodeProgress]:
        """Return what is new, and forget it."""
        new, self._new = self._new, {}
        self._changed.clear()
        return list(new.values())

    async def changed(self) -> None:
        """Wait until there is something new."""
        await self._changed.wait()

    def show(self, rows: Iterable[NodeProgress]) -> None:
        """Compare with what was seen."""
        for row in rows:
            if self._seen.get(row.node) != row:
                self._seen[row.node] = self._new[row.node] = row
                self._changed.set()


class ProgressBoard:
    """The progress of all calls of this instance, and of executions elsewhere that are watched here."""

    def __init__(self, store: Store, clock: Clock, calls_of: Callable[[str], Iterable[CallOut] | None]) -> None:
        self._store = store
        self._clock = clock
        self._calls_of = calls_of  # the running calls of an execution; None if it is not driven here
        self._loop = asyncio.get_running_loop()
        self._reported: dict[CallOut, None] = {}  # since the last round
        self._ended: dict[tuple[str, str], NodeProgress] = {}
        self._watches: dict[str, list[ProgressWatch]] = {}
        self._wanted = asyncio.Event()
        self._is_woken = False
        self._first = 0

    # What comes in

    def report(self, out: CallOut, done: float, total: float | None, text: str) -> None:
        """Take the last report of a call; on any thread."""
        out.progress = done, total, text
        self._reported[out] = None
        if not self._is_woken:
            self._is_woken = True
            try:
                self._loop.call_soon_threadsafe(self._wanted.set)
            except RuntimeError:  # the loop is closed, and there are no readers any more
                return

    def end(self, out: CallOut) -> None:
        """Forget the reports of a call that has ended."""
        self._reported.pop(out, None)
        if out.is_stored:
            call = out.call
            row = NodeProgress(execution_id=out.execution.id, node=call.node, attempt=call.attempt, at=0, body=b"")
            self._ended[row.execution_id, row.node] = row
            self._wanted.set()

    # Who looks

    @contextmanager
    def watch(self, execution_id: str) -> Iterator[ProgressWatch]:
        """Watch an execution for a while."""
        watch = ProgressWatch()
        self._watches.setdefault(execution_id, []).append(watch)
        self._wanted.set()
        try:
            yield watch
        finally:
            watches = self._watches[execution_id]
            watches.remove(watch)
            if not watches:
                del self._watches[execution_id]

    async def of(self, execution_id: str) -> list[NodeProgress]:
        """Return the last reports of an execution, wherever it is driven."""
        calls = self._calls_of(execution_id)
        if calls is not None:
            return [row for out in list(calls) if (row := self._row(out)) is not None]
        return await self._store.node_reports.read_progress([execution_id])

    # Rounds

    async def run(self, service: Service) -> None:
        """Write and read what is new, twice a second while there is anything to write or to watch."""
        while True:
            await self._wanted.wait()
            await asyncio.sleep(_BETWEEN)
            if not self._watches:
                self._wanted.clear()
            self._is_woken = False
            await self._write()
            await self._show()
            service.succeeded()

    async def _write(self) -> None:
        reported, self._reported = self._reported, {}
        ended, self._ended = self._ended, {}
        outs = list(reported)  # a thread may be about to add one
        rows = [row for out in outs if (row := self._row(out)) is not None]
        for out in outs:
            out.is_stored = True
        if rows or ended:
            await self._store.node_reports.save_progress(rows, list(ended.values()))

    async def _show(self) -> None:
        elsewhere: list[str] = []
        for execution_id, watches in self._watches.items():
            calls = self._calls_of(execution_id)
            if calls is None:
                elsewhere.append(execution_id)
                continue
            rows = [row for out in list(calls) if (row := self._row(out)) is not None]
            for watch in watches:
                watch.show(rows)
        if elsewhere:
            first = self._first % len(elsewhere)  # of more than are read at once, others have their turn
            self._first = first + _MOST_READ if len(elsewhere) > _MOST_READ else 0
            wanted = [*elsewhere[first:], *elsewhere[:first]][:_MOST_READ]
            for row in await self._store.node_reports.read_progress(wanted):
                for watch in self._watches.get(row.execution_id, ()):
                    watch.show([row])

    def _row(self, out: CallOut) -> NodeProgress | None:
        """Return the last report of a call as it is stored; its moment is that of the first look at it."""
        if out.progress is None or out.worker is None:  # an abandoned function may report after its end
            return None
        row = out.shown
        body = encode_progress(*out.progress)
        if row is None or row.body != body:
            call = out.call
            row = out.shown = NodeProgress(
                execution_id=out.execution.id,
                node=call.node,
                attempt=call.attempt,
                at=self._clock.now(),
                body=body,
            )
        return row
