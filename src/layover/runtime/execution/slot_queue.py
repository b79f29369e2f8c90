"""The queued nodes of one execution that wait for a call slot, in order, by node type."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from msgspec import field

from layover.core.light_structs import LightStruct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.engine.state import ExecutionState


class SlotQueue(LightStruct):
    """The order of queued nodes. It is derived from the state, so it can be stale but never wrong."""

    _state: ExecutionState
    since: int = 0  # when the execution began to do nothing but wait for a place; 0 if it does not
    _names: dict[str, deque[str]] = field(default_factory=dict)

    def add(self, names: Iterable[str]) -> None:
        """Put nodes at the end."""
        for name in names:
            self._names.setdefault(self._state.planned(name).calls, deque()).append(name)

    def types(self) -> list[str]:
        """Return the node types that have queued nodes."""
        if self._state.counts["queued"] and not self:  # one found no place after all, or they are just loaded
            self.add(name for name, node in self._state.nodes.rows.items() if node.status == "queued")
        return [node_type for node_type, names in self._names.items() if names]

    def take(self, node_type: str, most: int) -> list[str]:
        """Take out the first nodes of a type."""
        nodes, names = self._state.nodes.rows, self._names.get(node_type)
        found: list[str] = []
        while names and len(found) < most:
            name = names.popleft()
            if (node := nodes.get(name)) is not None and node.status == "queued":
                found.append(name)
        return found

    def waits_until(self, longest: int) -> int | None:
        """Return when an execution with nothing in flight has waited long enough to be released; None if it stays."""
        state = self._state
        if not self.since or not state.counts["queued"] or state.counts["calls"] or state.facts.gate != "open":
            return None
        return self.since + longest

    def clear(self) -> None:
        """Forget the order: nodes that were taken out may not have started."""
        self._names.clear()

    def __bool__(self) -> bool:
        return any(self._names.values())
