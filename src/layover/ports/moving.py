"""Moving a whole database into another one: what crosses the seam for that, and what a store does for it.

An execution crosses as a whole, with everything that belongs to it, byte for byte. What is shared by executions crosses
beside them. Locks, instances and replies stay behind: they belong to those who use a database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from layover.ports.records import (
    AuditEntry,
    Command,
    Entry,
    ExecutionRow,
    Message,
    Place,
    PointRow,
    Record,
    Signal,
    Token,
    Version,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.access import Key, Standing


class Size(Record, frozen=True, kw_only=True):
    """About how many bytes there are of an execution."""

    execution_id: str
    size: int


class Snapshot(Record, frozen=True, kw_only=True):
    """A state that stands for all events up to `seq`."""

    seq: int
    body: bytes


class AwaitedSignal(Record, frozen=True, kw_only=True):
    """The name and key of a signal that a point waits for."""

    name: str
    key: str
    point: str


class Whole(Record, frozen=True, kw_only=True):
    """All there is of one execution, as it is kept; each part in the order in which it came to be."""

    row: ExecutionRow
    entries: tuple[Entry, ...]
    snapshot: Snapshot | None = None
    points: tuple[PointRow, ...] = ()
    commands: tuple[Command, ...] = ()
    messages: tuple[Message, ...] = ()
    tokens: tuple[Token, ...] = ()
    waits: tuple[AwaitedSignal, ...] = ()
    place: Place | None = None
    input: bytes | None = None  # what it is found by: the same document wherever it is kept, but written in some way

    @property
    def id(self) -> str:
        """The id of the execution."""
        return self.row.head.execution_id


class KeptSignal(Record, frozen=True, kw_only=True):
    """A signal, and whether all who waited for it have been told."""

    signal: Signal
    dispatched: bool


class UsedRate(Record, frozen=True, kw_only=True):
    """Until when a rate is used up, in microseconds."""

    name: str
    used_until: int


class Batch(Record, frozen=True, kw_only=True):
    """What is written together."""

    versions: tuple[Version, ...] = ()
    wholes: tuple[Whole, ...] = ()
    signals: tuple[KeptSignal, ...] = ()
    rates: tuple[UsedRate, ...] = ()
    keys: tuple[Key, ...] = ()
    standings: tuple[Standing, ...] = ()
    audit: tuple[AuditEntry, ...] = ()


class Moving(Protocol):
    """Reading everything from one database and writing it into another; nobody else uses either of them meanwhile."""

    async def sizes(self, after: str, most: int) -> list[Size]:
        """Read how large executions are, in the order of their ids, beginning after one; all come after ``""``."""

    async def wholes(self, execution_ids: Sequence[str]) -> list[Whole]:
        """Read all there is of executions, in the order of their ids; one that is not there is left out."""

    async def kept_signals(self, after: str, most: int) -> list[KeptSignal]:
        """Read signals in the order of their ids, beginning after one."""

    async def used_rates(self, after: str, most: int) -> list[UsedRate]:
        """Read what is used of rates, in the order of their names, beginning after one."""

    async def keep(self, batch: Batch) -> None:
        """Write what is not there yet, as it is; if one of it is there already, nothing is written.

        The versions that executions were started with have to be there, or among those that are written.
        """
