"""The metrics of the processes that serve one port: whichever of them answers a scrape gives those of all.

Each process has a slot: a file in a folder that only its owner can read. It writes its numbers there every second, and
before it answers a scrape; who answers adds what the other slots hold. A process that takes the slot of one that died
goes on from its counters, so they never go backwards and none vanish while the server lives. What stands at a moment
(a gauge) is left out once its process is gone.
"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING, Final

import msgspec

from layover.metrics.samples import Numbers, Series

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_log = logging.getLogger("layover.api")

_BETWEEN: Final = 1.0  # seconds
_PART: Final = ".part"  # behind the name of a file that is being written


class ProcessNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of one process: sums only grow, gauges stand for this moment."""

    sums: Numbers
    gauges: Numbers


class _Slot(msgspec.Struct, frozen=True, array_like=True):
    pid: int
    sums: list[tuple[Series, list[float]]]
    gauges: list[tuple[Series, list[float]]]


class SiblingMetrics:
    """The slot of this process, and those of the others beside it."""

    def __init__(self, slot: Path, read: Callable[[], ProcessNumbers]) -> None:
        self._slot = slot
        self._read = read
        before = _decoded(slot)
        self._before = dict(before.sums) if before is not None else {}  # of processes that had the slot
        self._written = b""
        self._is_shared = True

    async def keep_written(self) -> None:
        """Write the numbers again and again, and once more at the end."""
        try:
            while True:
                self.write()
                await asyncio.sleep(_BETWEEN)
        finally:
            self.write()

    def write(self) -> ProcessNumbers:
        """Write the numbers of this process, with the sums of those that had its slot, and return them."""
        found = self._read()
        sums = added(self._before, found.sums)
        encoded = msgspec.msgpack.encode(_Slot(os.getpid(), list(sums.items()), list(found.gauges.items())))
        if encoded != self._written:
            part = self._slot.with_name(f"{self._slot.name}{_PART}")
            try:
                part.write_bytes(encoded)
                part.replace(self._slot)  # a reader sees the one or the other, whole
                self._written, self._is_shared = encoded, True
            except OSError as error:  # what it serves matters more
                if self._is_shared:  # and the next second would say the same
                    _log.warning("metrics_not_shared slot=%s error=%s", self._slot, error)
                self._is_shared = False
        return ProcessNumbers(sums=sums, gauges=found.gauges)

    def of_all(self) -> Numbers:
        """Return the numbers of all processes, added."""
        own = self.write()
        total = added(own.sums, own.gauges)
        for path in self._others():
            if (other := _decoded(path)) is not None:
                total = added(total, dict(other.sums), dict(other.gauges) if _lives(other.pid) else {})
        return total

    def _others(self) -> list[Path]:
        """Return the slots of the other processes; none if a cleaner of temporary files has removed them."""
        try:
            found = list(self._slot.parent.iterdir())
        except OSError:
            return []
        return [path for path in found if path.name != self._slot.name and not path.name.endswith(_PART)]


def added(*several: Numbers) -> Numbers:
    """Return the sums of numbers of the same series."""
    total: Numbers = {}
    for numbers in several:
        for series, values in numbers.items():
            found = total.get(series)
            total[series] = values if found is None else [a + b for a, b in zip(found, values, strict=True)]
    return total


def _decoded(path: Path) -> _Slot | None:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=_Slot)
    except FileNotFoundError:
        return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):  # its number may be that of another user's process by now
        return False
    return True
