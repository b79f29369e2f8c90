"""Events that have been acted upon and are not in the log yet, in workflows that are durable by the leg.

They wait in memory for the next thing that somebody outside can see: a pause point, a message, a command, a rest, the
end; or for time to pass. If the instance dies before, the leg is repeated from what is in the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine.codec import encode_events
from layover.ports.records import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.events import AnyEvent


class Unwritten:
    """The events of one execution that wait, by the moments at which they happened."""

    __slots__ = ("_stretches", "count")

    def __init__(self) -> None:
        self.count = 0
        self._stretches: list[tuple[int, list[AnyEvent]]] = []

    def add(self, at: int, events: Sequence[AnyEvent]) -> None:
        """Keep events for later; those of one moment go together."""
        self.count += len(events)
        if self._stretches and self._stretches[-1][0] == at:
            self._stretches[-1][1].extend(events)
        else:
            self._stretches.append((at, list(events)))

    def entries(self, seq: int) -> tuple[Entry, ...]:
        """Return them as entries of the log, the first event of which has a number."""
        found: list[Entry] = []
        for at, events in self._stretches:
            found.append(Entry(seq=seq, at=at, count=len(events), events=encode_events(events)))
            seq += len(events)
        return tuple(found)

    def clear(self) -> None:
        """Forget them: they are in the log."""
        self.count = 0
        self._stretches.clear()

    @property
    def since(self) -> int:
        """When the first of them happened; there must be one."""
        return self._stretches[0][0]


NOTHING_UNWRITTEN: Final = Unwritten()  # for those that write every step: nothing is ever added to it
