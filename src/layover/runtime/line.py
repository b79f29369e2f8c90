"""The nodes of one execution that wait for a place, in the order in which they came, by their types."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from layover.core.engine.state import Execution


class Line:
    """Who is next. It is made from the state and made again from it, so it can be behind but never wrong."""

    __slots__ = ("_names", "_state")

    def __init__(self, state: Execution) -> None:
        self._state = state
        self._names: dict[str, deque[str]] = {}

    def add(self, names: Iterable[str]) -> None:
        """Put nodes at the end."""
        for name in names:
            self._names.setdefault(self._state.planned(name).calls, deque()).append(name)

    def next(self, has_place: Callable[[str], bool]) -> str | None:
        """Take the first node of a type for which there is a place."""
        nodes = self._state.nodes.rows
        if self._state.counts["queued"] and not self:  # one found no place after all, or they are just loaded
            self.add(name for name, node in nodes.items() if node.status == "queued")
        for node_type, names in self._names.items():
            if not has_place(node_type):
                continue
            while names:
                name = names.popleft()
                if (node := nodes.get(name)) is not None and node.status == "queued":
                    return name
        return None

    def __bool__(self) -> bool:
        return any(self._names.values())
