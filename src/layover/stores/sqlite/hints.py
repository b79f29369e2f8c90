"""Hints between the processes that have a file open: SQLite itself tells that the file has changed.

There is nothing to send: each commit changes the number that `PRAGMA data_version` tells every other connection. An
instance looks at it a few times in a second, which costs microseconds, and takes a change for a hint that something of
the triggers may be due. Its own commits change the number as well; what it looks for then it would not miss anyway.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from layover.ports.errors import StoreError
from layover.ports.hints import Hint

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from layover.stores.sqlite.session import SqliteSession

_BETWEEN_LOOKS = 0.2  # seconds


class WatchedHints:
    """Watches a file for as long as it is open."""

    def __init__(self, session: SqliteSession) -> None:
        self._session = session
        self._watching: asyncio.Task[None] | None = None

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
                known = found
            await asyncio.sleep(_BETWEEN_LOOKS)


def _version(db: apsw.Connection) -> tuple[int, object]:
    """Return the number of a connection; numbers of different connections have nothing to do with each other."""
    return id(db), db.execute("PRAGMA data_version").get
