"""Where the executions of a test are kept: in memory, or in a file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from layover.ports.commit_points import CommitPoint, reached
from layover.ports.store import FAMILIES
from layover.stores.memory import MemoryDatabase, MemoryStore
from layover.stores.sqlite import SqliteStore
from layover.testing.store_proxy import FamilyProxy

if TYPE_CHECKING:
    from pathlib import Path

    from layover.ports.store import Store
    from layover.testing.virtual_time import VirtualTime


class Database(Protocol):
    """What outlives the engines of a test."""

    def store(self) -> Store:
        """Return another way to it."""


class _Announced:
    """A store in memory that announces its transactions; one that ends there has written nothing, as a file has it."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return FamilyProxy(name, found, _announcing) if name in FAMILIES else _announcing(name, found)


def _announcing(name: str, found: Any) -> Any:
    if name not in _WRITING:
        return found

    async def write(*args: Any, **named: Any) -> Any:
        reached(CommitPoint.ROWS_WRITTEN)
        return await found(*args, **named)

    return write


_WRITING = frozenset(
    {
        "api_keys.add",
        "audit.write",
        "limits.admit",
        "answers.reserve",
        "idempotency.begin",
        "claims.claim",
        "appends.commit",
        "appends.commit_informed",
        "signals.mark_dispatched",
        "idempotency.abandon",
        "api_keys.end",
        "idempotency.finish",
        "commands.enqueue",
        "limits.release_slot",
        "signals.add",
        "outbox.postpone",
        "claims.release",
        "claims.renew",
        "api_keys.replace",
        "definitions.save",
        "outbox.delete_delivered",
        "workflow_status.set_status",
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
