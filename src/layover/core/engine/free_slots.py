"""The call slots that are free when a decision is made: a value that the decision uses up.

An instance makes only so many calls at once. It says before a decision how many slots are free, and reads afterwards
which of them the decision has used: nothing outside is asked, and nothing outside changes, while a decision is made.
"""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import field

from layover.core.light_structs import LightStruct

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

_ENDLESS: Final = sys.maxsize
_NONE_OF_THEIR_OWN: Final[Mapping[str, int]] = MappingProxyType({})


class FreeSlots(LightStruct, gc=False):
    """How many calls can be made: in total, by node type, and on threads.

    It is a light struct because there is one for each decision.
    """

    total: int = _ENDLESS
    by_type: Mapping[str, int] = _NONE_OF_THEIR_OWN
    threads: int = _ENDLESS
    threaded: Container[str] = ()  # node types of which each call needs a thread
    known: Container[str] | None = None  # node types that can be called; all, unless it is said
    others: int = _ENDLESS  # of each node type that is not in `by_type`
    used: dict[str, int] = field(default_factory=dict)  # by node type

    def take(self, node_type: str) -> bool:
        """Use a slot for a call of a node type; false if none is free."""
        if self.total <= 0 or (self.known is not None and node_type not in self.known):
            return False
        used = self.used.get(node_type, 0)
        if used >= self.by_type.get(node_type, self.others):
            return False
        if node_type in self.threaded:
            if self.threads <= 0:
                return False
            self.threads -= 1
        self.total -= 1
        self.used[node_type] = used + 1
        return True
