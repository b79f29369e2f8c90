"""How long reads of a store take, for those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

OnRead: TypeAlias = Callable[[str, float], None]


@runtime_checkable
class ReadTimes(Protocol):
    """A store that says how long each read took."""

    def time_reads(self, on_read: OnRead) -> None:
        """Call a function with the name and the seconds of every query from now on, also of one that failed."""
