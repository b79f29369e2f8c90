"""The call slots of an instance: a bounded number, also per node type, and who waits for them.

A call takes a slot when it is decided and gives it back when it ends; for a function that is not async, the slot has a
thread. Nodes without a slot are queued; when a slot becomes free, the execution that has waited longest starts its
share of nodes.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, Protocol

from layover.core.engine.free_slots import FreeSlots
from layover.runtime.calls.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from layover.nodes.registry import Registry
    from layover.runtime.calls.call_out import CallOwner
    from layover.runtime.calls.threads import Threads
    from layover.runtime.settings import RuntimeSettings


class RoomWatch(Protocol):
    """Claims executions that wait for call slots: it hears when slots are left over here.

    It also hears of every second slot that the queue here could use.
    """

    @property
    def is_expecting(self) -> bool:
        """Whether executions that no instance drives may wait for slots."""

    def slot_freed(self, *, threaded: bool) -> None:
        """Note that there is a free slot, and whether a thread is among them."""


class CallSlots:
    """The slots for calls of node functions, and the queue of executions that wait for one."""

    def __init__(
        self,
        registry: Registry,
        settings: RuntimeSettings,
        threads: Callable[[int, int, Callable[[], None]], Threads],
        room: RoomWatch,
    ) -> None:
        self._registry = registry
        self._threaded = registry.threaded
        self.threads = threads(settings.threads, settings.abandoned_threads, self._thread_returned)
        self._settings = settings
        self._free = settings.calls
        self._free_by_type = dict(settings.calls_by_type)
        self.queue = Turns()
        self._room = room
        self._loop = asyncio.get_running_loop()
        self._freed: Literal["", "slot", "thread"] = ""
        self._shared = False
        self._offering = False
        self.is_closed = False

    @property
    def waiting(self) -> int:
        """How many executions wait for a slot here."""
        return len(self.queue)

    def can_run(self, node_type: str) -> bool:
        """Return whether there is a function for a node type."""
        return self._registry.has(node_type)

    def count(self, node_type: str) -> int:
        """Return how many more calls of a node type can be made now."""
        if self.is_closed or not self._registry.has(node_type):
            return 0
        left = min(self._free, self._free_by_type.get(node_type, self._free))
        return max(0, min(left, self.threads.free) if node_type in self._threaded else left)

    def has_slot(self, node_type: str) -> bool:
        """Return whether there is a free slot for a call, and a function for it."""
        return self.count(node_type) > 0

    def free(self) -> FreeSlots:
        """Return the slots that are free now, for one decision."""
        threads = self.threads.free if self._threaded else 0
        return FreeSlots(
            0 if self.is_closed else self._free, self._free_by_type, threads, self._threaded, self._registry.names()
        )

    def take(self, used: Mapping[str, int]) -> None:
        """Take the slots that a decision has used."""
        for node_type, slots in used.items():
            self._free -= slots
            if node_type in self._free_by_type:
                self._free_by_type[node_type] -= slots
            if node_type in self._threaded:
                self.threads.taken += slots

    def lacking(self, node_type: str) -> str:
        """Return what calls of a node type wait for here; empty if there is no function for them."""
        if not self._registry.has(node_type):
            return ""
        most = self._settings.calls_by_type.get(node_type)
        if node_type in self._threaded and self.threads.free <= 0:
            return f"a free thread: {self.threads.shortage()}"
        if self._free <= 0:
            return f"a free call slot: all {self._settings.calls} are taken"
        if most is not None and self._free_by_type[node_type] <= 0:
            return f"a free call slot: all {most} for `{node_type}` are taken"
        return "a free call slot"

    def close(self) -> None:
        """Hand out no more slots."""
        self.is_closed = True

    def give_back(self, node_type: str, slots: int = 1) -> None:
        """Give slots back, and offer them to waiting executions."""
        self._free += slots
        if node_type in self._free_by_type:
            self._free_by_type[node_type] += slots
        if node_type in self._threaded:
            self.threads.taken -= slots
            self._freed = "thread"
        elif not self._freed:
            self._freed = "slot"
        if self.queue or self._room.is_expecting:
            self._offer()

    def _thread_returned(self) -> None:
        """Offer the thread of an abandoned call, now that it has returned."""
        self._freed = "thread"
        self._offer()

    def wait_turn(self, active: CallOwner, node_types: Iterable[str], *, first: bool = False) -> None:
        """Queue an execution that has nodes of some types to start: at the end, or at the head."""
        for node_type in node_types:
            self.queue.add(active, node_type, first=first)
        self._offer()

    def leave_queue(self, active: CallOwner) -> None:
        """Forget an execution that is no longer active here."""
        if self.queue:
            self.queue.remove(active)

    def _offer(self) -> None:
        """Offer free slots to waiting executions, after the current callback."""
        if not self._offering:
            self._offering = True
            self._loop.call_soon(self._next_turns)

    def _next_turns(self) -> None:
        """Let waiting executions start nodes while there are slots, each its share."""
        self._offering = False
        while self._free > 0 and (turn := self.queue.next(self.has_slot)) is not None:
            share = self.count(turn.node_type) // (turn.others + 1)
            turn.execution.start_queued(turn.node_type, max(1, share))
        freed, self._freed = self._freed, ""
        if freed and self._room.is_expecting:
            self._shared = self._free > 0 or not self._shared
            if self._shared:
                self._room.slot_freed(threaded=freed == "thread")
