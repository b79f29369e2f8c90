"""The call slots that one execution has reserved for calls that are decided and not made yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import field

from layover.core.engine.free_slots import FreeSlots
from layover.core.light_structs import LightStruct

if TYPE_CHECKING:
    from collections.abc import Mapping


class SlotPool(Protocol):
    """The call slots of an instance."""

    def free(self) -> FreeSlots:
        """Return the slots that are free now, for one decision."""

    def take(self, used: Mapping[str, int]) -> None:
        """Take the slots that a decision has used."""

    def give_back(self, node_type: str, slots: int = 1) -> None:
        """Give slots back."""


class ReservedSlots(LightStruct):
    """Slots between a decision and its calls; a decision that is undone gives all of its slots back."""

    _pool: SlotPool
    reserved: dict[str, int] = field(default_factory=dict)

    def reserve(self, used: Mapping[str, int]) -> None:
        """Take the slots that a decision has used."""
        self._pool.take(used)
        for node_type, slots in used.items():
            self.reserved[node_type] = self.reserved.get(node_type, 0) + slots

    def for_another_decision(self) -> FreeSlots:
        """Return the reserved slots for a decision that is made again where no more can be taken."""
        return FreeSlots(by_type=dict(self.reserved), others=0)

    def hand_over(self, node_type: str) -> None:
        """Pass a slot on to the call that it was taken for."""
        left = self.reserved.pop(node_type, 1) - 1
        if left:
            self.reserved[node_type] = left

    def give_back(self) -> None:
        """Give back all slots that no call was made for."""
        for node_type, slots in self.reserved.items():
            self._pool.give_back(node_type, slots)
        self.reserved.clear()
