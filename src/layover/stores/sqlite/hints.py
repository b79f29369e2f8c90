"""Hints between the processes that have a file open: SQLite itself tells that the file has changed.

There is nothing to send: each commit changes the number that `PRAGMA data_version` tells every other connection. An
instance looks at it a few times in a second, which costs microseconds, and takes a change for a hint that something of
the triggers may be due. Its own commits change the number as well; what it looks for then it would not miss anyway.

While an instance follows all changes, it also looks which logs have grown: what was appended has higher numbers than
all that was there before. (If the newest rows of all were purged, numbers begin again below; the next look goes on from
there, and what was appended in between is not told of.)
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from layover.ports.errors import StoreError
from layover.ports.hints import FOLLOWED_FOR, Hint
from layover.stores.ids import text
from layover.stores.sqlite.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from layover.stores.sqlite.session import SqliteSession

_BETWEEN_LOOKS: Final = 0.2  # seconds
_MOST: Final = 2_000  # entries that one look reads


class WatchedHints:
    """Watches a file for as long as it is open."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session
        self._watching: asyncio.Task[None] | None = None
        self._follows_until = 0.0
        self._follows = asyncio.Event()
        self._appended: int | None = None  # the number of the last row of a log that is known, while one follows

    def follow(self) -> None:
        """Tell of each execution that changes as well, for a while."""
        self._follows_until = asyncio.get_running_loop().time() + FOLLOWED_FOR
        self._follows.set()

    def listen(self, hear: Callable[[Hint], None]) -> None:
        """Call a function whenever the file has changed."""
        if self._watching is None:
            self._watching = asyncio.get_running_loop().create_task(self._watch(hear), name="sqlite hints")

    async def close(self) -> None:
        """Watch no longer."""
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _watch(self, hear: Callable[[Hint], None]) -> None:
        known: tuple[int, object] | None = None
        while True:
            with suppress(StoreError):  # it is looked again; what is due is also found by polling
                found = await self._session.glance(_version)
                if found != known:  # also at first: something may have changed before
                    hear(Hint(kind="trigger"))
                await self._look_at_logs(hear)
                known = found
            if self._follows.is_set():
                await asyncio.sleep(_BETWEEN_LOOKS)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(_BETWEEN_LOOKS):
                    await self._follows.wait()

    async def _look_at_logs(self, hear: Callable[[Hint], None]) -> None:
        """Tell which logs have grown since the last look, if this instance follows."""
        if asyncio.get_running_loop().time() >= self._follows_until:
            self._appended = None
            self._follows.clear()
            return
        before = self._appended
        self._appended, ids = await self._session.read(lambda db: _read_appended(db, before))
        for execution_id in ids:
            hear(Hint(kind="change", execution_id=execution_id))


def _read_appended(db: apsw.Connection, before: int | None) -> tuple[int, list[str]]:
    """Return the number of the last row that is known now, and the executions of those that were appended after one."""
    last: Any = db.execute(SQL["last_entry"]).get
    if before is None or before >= last:
        return last, []
    rows: list[Any] = db.execute(SQL["entries_appended"], {"after": before, "most": _MOST}).fetchall()
    return (rows[-1][0] if rows else last), [text(id_) for id_ in dict.fromkeys(id_ for _, id_ in rows)]


def _version(db: apsw.Connection) -> tuple[int, object]:
    """Return the number of a connection; numbers of different connections have nothing to do with each other."""
    return id(db), db.execute("PRAGMA data_version").get
