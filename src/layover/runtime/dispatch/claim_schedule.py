"""When the claimer looks for due executions next, and for which free call slots it looks at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layover.nodes.registry import Registry
    from layover.runtime.clock import Clock


class ClaimSchedule:
    """The moment of the next claim: hints make it earlier, and so do call slots that executions wait for."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._hinted = asyncio.Event()
        self._expected: frozenset[str] = frozenset()  # types that executions without an owner may wait for
        self._freed: frozenset[str] = frozenset()  # types that slots which became free since the last look can be for
        self.is_expecting = False  # whether executions without an owner may wait for slots
        self.next_at = 0

    def hint(self, at: int) -> None:
        """Look at a moment, if that is earlier than planned."""
        if at < self.next_at:
            self.next_at = at
            self._hinted.set()

    async def wait(self, clock: Clock) -> None:
        """Wait for the next moment, or for a hint at an earlier one."""
        self._hinted.clear()
        await clock.wait(self.next_at, self._hinted)

    # Call slots

    def slot_freed(self, *, threaded: bool) -> None:
        """Claim executions that wait for a call slot, now that one is free."""
        usable = self._expected if threaded else self._expected - self._registry.threaded
        if usable:
            self._freed |= usable
            self.hint(0)

    def take_freed(self) -> frozenset[str]:
        """Return the node types for which slots became free since the last look."""
        freed, self._freed = self._freed, frozenset()
        return freed

    def expect(self, types: frozenset[str], *, is_more: bool) -> None:
        """Note the node types to claim for as soon as a slot becomes free, after a claim for some of them."""
        self._expected = self._expected | types if is_more else self._expected - types
        self.expect_others(types)

    def expect_others(self, types: frozenset[str]) -> None:
        """Note that executions may wait for slots of all node types but some that are claimed for."""
        self._expected |= self._registry.names() - types
        self.is_expecting = bool(self._expected)
