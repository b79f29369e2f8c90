"""Events of a log by number, node and type, from either end: read part by part, until a page is full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.interface.requests import EventQuery
    from layover.runtime.queries.history import HistoryEntry

PART: Final = 1_000  # events that are read at once
MOST_READ: Final = 10_000  # events of a log that one page looks at


class ReadHistory(Protocol):
    """Reads events of an execution from a number on."""

    async def __call__(self, execution_id: str, since: int, limit: int, /) -> Sequence[HistoryEntry]:
        """Return events."""


class EventChoice(NamedTuple):
    """What is wanted of a log; `points` are those of the node, if one is named."""

    query: EventQuery
    points: frozenset[str]

    @property
    def is_all(self) -> bool:
        """Whether every event is wanted."""
        return self.query.context_id is None and not self.query.type

    def takes(self, entry: HistoryEntry) -> bool:
        """Return whether an event is wanted."""
        event, node = entry.event, self.query.context_id
        if self.query.type and type(event).__name__ not in self.query.type:
            return False
        return node is None or getattr(event, "node", None) == node or getattr(event, "point", "") in self.points


async def find_events(
    read: ReadHistory, execution_id: str, numbers: range, choice: EventChoice, limit: int
) -> tuple[Sequence[HistoryEntry], int | None]:
    """Return wanted events, as many as a page takes, and the number of the next event to look at, if one is left."""
    backwards = choice.query.order == "newest"
    found: list[HistoryEntry] = []
    part = min(limit, PART) if choice.is_all else PART
    left = numbers
    for _ in range(0, MOST_READ, part):
        if not left:
            return found, None
        now, left = (left[-part:], left[:-part]) if backwards else (left[:part], left[part:])
        entries = await read(execution_id, now.start, len(now))
        for entry in reversed(entries) if backwards else entries:
            if len(found) == limit:
                return found, entry.seq
            if choice.takes(entry):
                found.append(entry)
        if len(found) == limit:
            break
    return found, (left[-1] if backwards else left[0]) if left else None
