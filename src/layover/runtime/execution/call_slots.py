"""The call slots that one execution has taken for calls that are decided and not made yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from layover.runtime.calls.node_runner import NodeRunner


class _NoSlots:
    """No slot for any call: nodes that make one are queued."""

    def take(self, node_type: str) -> bool:  # noqa: ARG002 - whatever it is
        return False


NO_PLACES: Final = _NoSlots()


class CallSlots:
    """Gives call slots to decisions; a decision that is undone gives all of its slots back."""

    __slots__ = ("_node_runner", "_reserved", "_taken", "closed")

    def __init__(self, node_runner: NodeRunner, *, closed: bool) -> None:
        self._node_runner = node_runner
        self._taken: dict[str, int] = {}
        self._reserved: dict[str, int] | None = None
        self.closed = closed

    def take(self, node_type: str) -> bool:
        """Take a slot for a call; false if none is free."""
        if self._reserved is not None:
            self._reserved[node_type] = left = self._reserved.get(node_type, 0) - 1
            return left >= 0
        if self.closed or not self._node_runner.take_slot(node_type):
            return False
        self._taken[node_type] = self._taken.get(node_type, 0) + 1
        return True

    def reserve(self) -> None:
        """Allow only the slots taken so far: a decision on another thread must not take more."""
        self._reserved = dict(self._taken)

    def open(self) -> None:
        """Take slots from the instance again."""
        self._reserved = None

    def hand_over(self, node_type: str) -> None:
        """Pass a slot on to the call that it was taken for."""
        left = self._taken.pop(node_type, 1) - 1
        if left:
            self._taken[node_type] = left

    def give_back(self) -> None:
        """Give back all slots that no call was made for."""
        for node_type, taken in self._taken.items():
            self._node_runner.give_back(node_type, taken)
        self._taken.clear()
