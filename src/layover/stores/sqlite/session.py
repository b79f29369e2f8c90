"""An open database file: the writer and the readers that all families of its store share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from layover.ports.errors import StoreUnavailable
from layover.stores.sqlite.readers import Readers
from layover.stores.sqlite.writer import Writer

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine
    from pathlib import Path
    from typing import Any

    import apsw

    from layover.ports.prompt_future import PromptFuture

T = TypeVar("T")


class SqliteSession:
    """The connections to one file, while it is open."""

    def __init__(self, path: Path, busy_ms: int) -> None:
        self.path = path
        self.busy_ms = busy_ms
        self._writer: Writer | None = None
        self._readers: Readers | None = None

    @property
    def is_open(self) -> bool:
        """Whether it can be read from."""
        return self._readers is not None

    def open(self, db: apsw.Connection) -> None:
        """Write through a connection, and read through others."""
        self._writer = Writer(db, self.path)
        self.open_to_read()

    def open_to_read(self) -> None:
        """Read from the file, and write nothing."""
        self._readers = Readers(self.path, self.busy_ms)

    async def close(self) -> None:
        """Finish the queries that are running and the writes that wait."""
        if self._readers is not None:
            await self._readers.close()
            self._readers = None
        if self._writer is not None:
            await self._writer.stop()
            self._writer = None

    @property
    def writer(self) -> Writer:
        """The thread that writes."""
        if self._writer is None:
            raise not_open()
        return self._writer

    @property
    def transactions(self) -> int:
        """How many transactions were committed: many writes share one."""
        return self._writer.transactions if self._writer is not None else 0

    def write(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        """Run a function inside a transaction of the writer; its result arrives once it is durable."""
        if self._writer is None:
            raise not_open()
        return self._writer.write(work)

    def write_promptly(self, work: Callable[[apsw.Connection], T]) -> PromptFuture[T]:
        """Do the same for a caller that is called back in the very turn of the loop in which the result arrives."""
        if self._writer is None:
            raise not_open()
        return self._writer.write_promptly(work)

    def read(self, work: Callable[[apsw.Connection], T]) -> asyncio.Future[T]:
        """Run a query that may take long, on a thread."""
        if self._readers is None:
            raise not_open()
        return self._readers.read(work)

    def glance(self, work: Callable[[apsw.Connection], T], *, statements: int = 1) -> Coroutine[Any, Any, T]:
        """Run a query that looks up a few rows by their keys, at once."""
        if self._readers is None:
            raise not_open()
        return self._readers.glance(work, statements=statements)


def not_open() -> StoreUnavailable:
    """Return the error for a store that is not open."""
    return StoreUnavailable("The store is not open.", code="closed")
