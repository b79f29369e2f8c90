"""Writes what node functions log, each second in batches: beside the steps of executions, which never wait for it.

The last lines before a crash may be lost, and so may lines beyond what an instance holds at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from layover.logs.capture import HALF, AttemptLines, LineRoom
from layover.ports.errors import StoreError
from layover.ports.view_records import LogChunk, LogTrim
from layover.runtime.results.log_lines import pack_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.logs.capture import CapturedLine
    from layover.ports.store import Store
    from layover.runtime.calls.call_out import CallOut
    from layover.runtime.clock import Clock
    from layover.runtime.dispatch.service import Service
    from layover.runtime.ids import Ids

_log = logging.getLogger("layover.node_logs")

_BETWEEN: Final = 1.0  # seconds
_MOST_AT_ONCE: Final = 100  # attempts in one write
_MOST_FULL: Final = 10_000  # executions of which it is remembered that they are full


class _Part(NamedTuple):
    """Lines of a call that are about to be written; those of its `tail` are removed again by later ones."""

    out: CallOut
    lines: list[CapturedLine]
    dropped: int = 0
    tail: _Tail | None = None


class _Tail:
    """The chunks that hold the last half of what a call has logged so far."""

    def __init__(self) -> None:
        self._chunks: deque[tuple[str, int, int]] = deque()  # id, lines, lines that are missing before them
        self._lines = 0

    def add(self, chunk: LogChunk) -> LogTrim | None:
        """Note a chunk; return what is no longer among the last lines."""
        self._chunks.append((chunk.id, chunk.lines, chunk.dropped))
        self._lines += chunk.lines
        removed: list[str] = []
        while len(self._chunks) > 1 and self._lines - self._chunks[0][1] >= HALF:
            id_, lines, dropped = self._chunks.popleft()
            removed.append(id_)
            self._lines -= lines
            following, count, before = self._chunks[0]
            self._chunks[0] = following, count, before + lines + dropped
        if not removed:
            return None
        following, _, dropped = self._chunks[0]
        return LogTrim(execution_id=chunk.execution_id, removed=tuple(removed), following=following, dropped=dropped)


class NodeLogs:
    """The lines of all calls of this instance that are not written yet."""

    def __init__(self, store: Store, clock: Clock, ids: Ids, most_bytes: int) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._most_bytes = most_bytes  # of one execution
        self._loop = asyncio.get_running_loop()
        self._room = LineRoom()
        self._calls: dict[AttemptLines, CallOut] = {}
        self._tails: dict[AttemptLines, _Tail] = {}
        self._waiting: dict[AttemptLines, None] = {}
        self._wanted = asyncio.Event()
        self._is_failing = False
        self._full: set[str] = set()  # executions that have as many bytes as they may

    def capture(self, out: CallOut) -> None:
        """Keep what a call is going to log."""
        out.lines = lines = AttemptLines(self._room, self._has_lines)
        self._calls[lines] = out

    def end(self, out: CallOut) -> None:
        """Write the last lines of a call that has ended."""
        if out.lines is not None:
            if out.lines.has_any:
                self._waiting[out.lines] = None
                self._wanted.set()
            else:
                self._calls.pop(out.lines, None)

    def _has_lines(self, lines: AttemptLines) -> None:
        """Note that there is something to write; on any thread."""
        self._waiting[lines] = None
        try:
            self._loop.call_soon_threadsafe(self._wanted.set)
        except RuntimeError:  # the loop is closed, and nothing is written any more
            return

    async def run(self, service: Service) -> None:
        """Write what was logged, each second while there is anything."""
        while True:
            await self._wanted.wait()
            await asyncio.sleep(_BETWEEN)
            self._wanted.clear()
            await self.flush()
            service.succeeded()

    async def flush(self) -> None:
        """Write everything that was logged so far; what the store does not take is lost, and nothing else."""
        try:
            await self._flush()
        except StoreError as error:
            level = logging.DEBUG if self._is_failing else logging.WARNING
            _log.log(level, "node_logs_lost error=%s", error, exc_info=error)
            self._is_failing = True
        else:
            self._is_failing = False

    async def _flush(self) -> None:
        while self._waiting:
            some = list(self._waiting)[:_MOST_AT_ONCE]
            for lines in some:
                self._waiting.pop(lines, None)
            parts = [part for lines in some for part in self._take(lines)]
            try:
                await self._write([part for part in parts if part.out.execution.id not in self._full])
            finally:
                self._room.give_back(line for part in parts for line in part.lines)

    async def _write(self, parts: list[_Part]) -> None:
        if not parts:
            return
        bodies = await asyncio.to_thread(pack_all, [part.lines for part in parts])  # it may take a moment
        chunks = [self._chunk(part, body) for part, body in zip(parts, bodies, strict=True)]
        added = set(await self._store.node_reports.add_logs(chunks, self._most_bytes))
        self._note_full({chunk.execution_id for chunk in chunks if chunk.id not in added})
        written = [(part, chunk) for part, chunk in zip(parts, chunks, strict=True) if chunk.id in added]
        trims = [part.tail.add(chunk) for part, chunk in written if part.tail is not None]
        if wanted := [trim for trim in trims if trim is not None]:
            await self._store.node_reports.trim_logs(wanted)

    def _take(self, lines: AttemptLines) -> Iterator[_Part]:
        """Take what an attempt has logged; when it is over, it is forgotten."""
        out = self._calls.get(lines)
        if out is None:
            return
        is_over = out.worker is None and out.begun_at is not None
        if is_over:
            del self._calls[lines]
        taken = lines.take()
        if taken.first:
            yield _Part(out, taken.first)
        if taken.last or taken.dropped:
            tail = self._tails.get(lines) or _Tail()
            if not is_over:
                self._tails[lines] = tail
            yield _Part(out, taken.last, taken.dropped, tail)
        if is_over:
            self._tails.pop(lines, None)

    def _chunk(self, part: _Part, body: bytes) -> LogChunk:
        now, call = self._clock.now(), part.out.call
        return LogChunk(
            execution_id=part.out.execution.id,
            id=self._ids.new(now),
            node=call.node,
            attempt=call.attempt,
            at=now,
            lines=len(part.lines),
            dropped=part.dropped,
            body=body,
        )

    def _note_full(self, executions: set[str]) -> None:
        for execution_id in sorted(executions - self._full):
            _log.warning("node_logs_full execution=%s bytes=%d", execution_id, self._most_bytes)
        if len(self._full) > _MOST_FULL:
            self._full.clear()
        self._full |= executions
