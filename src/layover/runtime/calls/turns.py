"""The order in which executions get call slots: one queue per node type.

With a queue per type, executions that wait for something scarce, such as a thread, are not examined whenever another
slot becomes free. Of the queues for which there is a slot, the one whose first execution has waited longest is next.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.runtime.calls.call_out import CallOwner


class Turn(NamedTuple):
    """An execution that may start calls of a type, and how many others wait for the same."""

    execution: CallOwner
    node_type: str
    others: int


class Turns:
    """The queues. An execution is at most once in each."""

    def __init__(self) -> None:
        self._lines: dict[str, OrderedDict[CallOwner, int]] = {}
        self._numbers = count()
        self._first = count(-1, -1)

    def add(self, active: CallOwner, node_type: str, *, first: bool = False) -> None:
        """Add an execution at the end of a queue, or at its head if it has waited before, unless it is in there."""
        line = self._lines.setdefault(node_type, OrderedDict())
        if active in line:
            return
        line[active] = next(self._first if first else self._numbers)
        if first:
            line.move_to_end(active, last=False)

    def next(self, has_slot: Callable[[str], bool]) -> Turn | None:
        """Remove and return the execution that has waited longest for a type with a free slot."""
        longest = None
        for node_type, line in self._lines.items():
            if longest is not None and _number(line) > _number(self._lines[longest]):
                continue
            if has_slot(node_type):
                longest = node_type
        if longest is None:
            return None
        line = self._lines[longest]
        active, _ = line.popitem(last=False)
        if not line:
            del self._lines[longest]
        return Turn(active, longest, len(line))

    def remove(self, active: CallOwner) -> None:
        """Remove an execution from every queue, so that no queue keeps it in memory."""
        for node_type, line in [*self._lines.items()]:
            if line.pop(active, None) is not None and not line:
                del self._lines[node_type]

    def __len__(self) -> int:
        return len({active for line in self._lines.values() for active in line})

    @property
    def longest(self) -> int:
        """How many executions are in the longest queue."""
        return max(map(len, self._lines.values()), default=0)

    def __bool__(self) -> bool:
        return bool(self._lines)


def _number(line: OrderedDict[CallOwner, int]) -> int:
    return next(iter(line.values()))
