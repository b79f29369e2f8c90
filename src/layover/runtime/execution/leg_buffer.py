"""Events that have taken effect and are not in the log yet, in workflows with leg durability.

They wait in memory until the execution does something visible (opens a pause point, sends a message, takes a command,
rests, ends), or until some time has passed. If the instance dies first, the leg is repeated from the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.core.engine.codec import encode_events
from layover.ports.records import Entry

if TYPE_CHECKING:
    from layover.core.engine.events import AnyEvent


class _Stretch:
    """The events of one moment, as they are written, without the brackets around them."""

    __slots__ = ("at", "count", "parts")

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self.parts: list[bytes] = []


class LegBuffer:
    """The buffered events of one execution, grouped by the moment at which they happened."""

    __slots__ = ("_stretches", "count", "size")

    def __init__(self) -> None:
        self.count = 0
        self.size = 0  # in bytes
        self._stretches: list[_Stretch] = []

    def add(self, at: int, events: list[AnyEvent]) -> None:
        """Buffer events; those of one moment go together."""
        encoded = encode_events(events)
        self.count += len(events)
        self.size += len(encoded)
        if not self._stretches or self._stretches[-1].at != at:
            self._stretches.append(_Stretch(at))
        stretch = self._stretches[-1]
        stretch.count += len(events)
        stretch.parts.append(encoded[1:-1])

    def entries(self, seq: int) -> tuple[Entry, ...]:
        """Return the buffered events as log entries, numbered from `seq` on."""
        found: list[Entry] = []
        for one in self._stretches:
            found.append(Entry(seq=seq, at=one.at, count=one.count, events=b"[" + b",".join(one.parts) + b"]"))
            seq += one.count
        return tuple(found)

    def clear(self) -> None:
        """Empty the buffer: its events are in the log."""
        self.count = self.size = 0
        self._stretches.clear()

    @property
    def since(self) -> int:
        """When the first of them happened; there must be one."""
        return self._stretches[0].at


NOTHING_UNWRITTEN: Final = LegBuffer()  # for those that write every step: nothing is ever added to it
