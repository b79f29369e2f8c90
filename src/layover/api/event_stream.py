"""Following an execution: its events as they are written, as server-sent events.

A client is sent a few events at once and nothing more until it has taken those, and few are read ahead for it, fewer
if they are large: so it costs the same however much happens and however slow it is. What it has seen it says by the
number of the last event, and goes on behind that.

A stream ends when its caller may no longer follow: at once if this process ends the key, else with the next sign of
life. Nothing more is said then; a client that comes back is told why not.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from layover.api.problems import Refusal
from layover.api.shown import without_large_values
from layover.model.shared import encode
from layover.runtime.queries.changes import LineWatch, next_change
from layover.runtime.results.executions import event_of
from layover.runtime.results.progress import progress_of
from layover.service.actor import DEBUG

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator

    from layover.api.settings import ApiSettings
    from layover.model.access import Caller
    from layover.model.executions import LogLine
    from layover.ports.records import Head
    from layover.ports.view_records import NodeProgress
    from layover.runtime.queries.history import HistoryEntry
    from layover.runtime.runtime import Runtime


_FEWEST, _MOST = 1, 100  # events that are read ahead
_LARGE = 64_000  # bytes of them
_PIECE = 16_000  # bytes that are sent at once, and the rest of an event
_FIRST = b"retry: 2000\n\n"
_ALIVE = b": alive\n\n"


class Follower:
    """The reader of a stream: a user and a credential, whose permission is checked now and then."""

    def __init__(self, caller: Caller, may_follow: Callable[[], Awaitable[bool]]) -> None:
        self.user = caller.user
        self.credential = caller.credential
        self.may_follow = may_follow
        self.may_debug = caller.may(DEBUG)
        self.ended = asyncio.Event()


class Streams:
    """Those that are open: so many at once, and so many of one caller."""

    def __init__(self, settings: ApiSettings, stopping: asyncio.Event) -> None:
        self._settings = settings
        self._stopping = stopping  # all of them end then, and clients go on elsewhere
        self._open: Counter[str] = Counter()
        self._followers: set[Follower] = set()

    @property
    def count(self) -> int:
        """How many are open."""
        return self._open.total()

    @property
    def heartbeat(self) -> float:
        """Seconds of silence after which a stream shows that it lives."""
        return self._settings.heartbeat

    def check(self, user: str) -> None:
        """Refuse one more, if there are too many; the user with most of them makes room for users with fewer."""
        settings = self._settings
        is_full = self.count >= settings.streams and not self._make_room(user)
        if is_full or self._open[user] >= settings.streams_by_caller:
            message = "There are too many streams open; try again later."
            raise Refusal("too_many_streams", message, headers={"retry-after": "5"})

    def _make_room(self, user: str) -> bool:
        """End a stream of the user with most, if that leaves them with no fewer than the user who asks has then."""
        most = max(self._open, key=self._open.__getitem__, default=user)
        if self._open[most] <= self._open[user] + 1:
            return False
        theirs = next((one for one in self._followers if one.user == most and not one.ended.is_set()), None)
        if theirs is not None:
            theirs.ended.set()
        return theirs is not None

    def end(self, credential: str) -> None:
        """End the streams of a credential."""
        for follower in self._followers:
            if follower.credential == credential:
                follower.ended.set()

    async def follow(
        self, engine: Runtime, execution_id: str, since: int, follower: Follower, largest: int | None = None
    ) -> AsyncGenerator[bytes]:
        """Give the events of an execution from a number on, until it has ended, or the follower may not go on.

        Values of more than `largest` bytes are left out.
        """
        loop = asyncio.get_running_loop()
        lines = LineWatch(engine.instance, execution_id, may_read=follower.may_debug)
        with self.counted(follower), engine.instance.progress.watch(execution_id) as progress:
            yield _FIRST
            ahead, asked_at = 10, loop.time()
            while not self._stopping.is_set() and not follower.ended.is_set():
                if loop.time() >= asked_at + self._settings.heartbeat:
                    asked_at = loop.time()
                    if not await follower.may_follow():
                        return
                entries = await engine.queries.history(execution_id, since, ahead)
                size = 0
                for piece in _pieces(entries, largest):
                    size += len(piece)
                    yield piece
                if entries:
                    since = entries[-1].seq + 1
                if len(entries) == ahead:
                    ahead = max(_FEWEST, ahead // 4) if size > _LARGE else min(_MOST, ahead * 2)
                    continue
                ends, heartbeat = (self._stopping, follower.ended), self._settings.heartbeat
                wait = min(heartbeat, lines.between or heartbeat)
                change = await next_change(engine.instance, execution_id, since, progress, *ends, timeout=wait)
                reports = b"".join([*map(_reported, progress.take()), *map(_logged, await lines.take())])
                if reports or not change.in_log:
                    yield reports or _ALIVE
                if change.is_over(since):
                    yield _ended(change.head)
                    return

    @contextmanager
    def counted(self, follower: Follower) -> Iterator[None]:
        """Count a stream while it is open, so that it can be ended."""
        user = follower.user
        self._open[user] += 1
        self._followers.add(follower)
        try:
            yield
        finally:
            self._followers.remove(follower)
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]


def _pieces(entries: Iterable[HistoryEntry], largest: int | None) -> Iterator[bytes]:
    """Give events in few pieces: to send one costs more than to make it."""
    piece = bytearray()
    for entry in entries:
        piece += _encode_event(entry, largest)
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _encode_event(entry: HistoryEntry, largest: int | None) -> bytes:
    event = event_of(entry)
    data = encode(event)
    if largest is not None and len(data) > largest:
        data = encode(without_large_values(event, largest))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.type.encode(), data)


def _reported(row: NodeProgress) -> bytes:
    """Tell of progress: by another name than events have and without a number, since it is in no log."""
    return b"event: progress\ndata: %s\n\n" % encode(progress_of(row))


def _logged(line: LogLine) -> bytes:
    """Tell what a node has logged; likewise."""
    return b"event: log\ndata: %s\n\n" % encode(line)


def _ended(head: Head | None) -> bytes:
    """Say that nothing more will come; a client that comes back is told the same."""
    status = head.status if head is not None else "purged"
    return b"event: end\ndata: %s\n\n" % msgspec.json.encode({"status": status})
