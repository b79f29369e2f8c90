"""Where the executions of a test are kept: in memory, or in a file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from layover.ports.commit_points import CommitPoint, reached
from layover.stores.memory import MemoryDatabase, MemoryStore
from layover.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from layover.ports.store import Store
    from layover.testing.virtual_time import VirtualTime


class Database(Protocol):
    """What outlives the engines of a test."""

    def store(self) -> Store:
        """Return another way to it."""


class _Announced:
    """A store in memory that announces its transactions; one that ends there has written nothing, as a file has it."""

    lanes = MemoryStore.lanes

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._store, name)
        if name not in _WRITING:
            return cast("Callable[..., Awaitable[Any]]", method)

        async def write(*args: Any, **named: Any) -> Any:
            reached(CommitPoint.ROWS_WRITTEN)
            return await method(*args, **named)

        return write


_WRITING = frozenset(
    {
        "add_key",
        "admit",
        "answer",
        "begin_reply",
        "claim",
        "commit",
        "commit_informed",
        "dispatched",
        "drop_reply",
        "end_key",
        "end_reply",
        "enqueue",
        "free",
        "keep_signal",
        "postpone",
        "release",
        "renew",
        "replace_key",
        "save_version",
        "sent",
        "set_standing",
    }
)


class InMemory:
    """A database that ends with the test."""

    def __init__(self, time: VirtualTime) -> None:
        self._database = MemoryDatabase(clock=time)

    def store(self) -> Store:
        """Return another way to it."""
        return cast("Store", _Announced(MemoryStore(self._database)))


class InFile:
    """A database in a file."""

    def __init__(self, time: VirtualTime, path: Path) -> None:
        self.path = path
        self._time = time

    def store(self) -> Store:
        """Return another way to it."""
        return SqliteStore(self.path, clock=self._time, between_looks=0)
