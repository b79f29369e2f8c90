"""One decision being made: the state moves along with the events, so that each rule sees what the last one did."""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from layover.core.engine.evolve import evolve
from layover.core.engine.scope_lookup import ScopeLookup, moment
from layover.core.engine.sizes import bounded
from layover.core.expressions import ExpressionError, Meter
from layover.core.expressions.frame import EPOCH
from layover.core.expressions.template import text_of
from layover.core.ids import uuid8

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from layover.core.engine.events import AnyEvent
    from layover.core.engine.state import Execution
    from layover.core.plan import PlannedNode


_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_IDLE: Final = Meter()  # never charged: for what is the same whatever has happened


class SlotSupply(Protocol):
    """Places for calls: an instance makes only so many at once."""

    def take(self, node_type: str) -> bool:
        """Take a place for a call of a node of some type; false if there is none."""


class _Unlimited:
    def take(self, node_type: str) -> bool:  # noqa: ARG002 - there is always a place
        return True


UNLIMITED: Final[SlotSupply] = _Unlimited()
ENDLESS: Final = sys.maxsize


class DecisionContext:
    """The events decided so far, and what may have to be looked at because of them."""

    __slots__ = ("events", "most", "now", "settled", "slots", "state", "with_time_left")

    def __init__(
        self, state: Execution, now: int, slots: SlotSupply, most: int = ENDLESS, with_time_left: Container[str] = ()
    ) -> None:
        self.state = state
        self.now = now
        self.slots = slots
        self.most = most  # after so many events, what is ready is left for the next decision
        self.with_time_left = with_time_left  # calls that still have time, although by the calendar they have none
        self.events: list[AnyEvent] = []
        self.settled: list[str] = []

    def emit(self, event: AnyEvent) -> None:
        """Decide an event: it happens now."""
        evolve(self.state, event, self.now)
        self.events.append(event)

    def evaluate(
        self, name: str, planned: PlannedNode, field: str, extra: Mapping[str, object] | None = None
    ) -> object:
        """Return what an expression of a node gives."""
        return self.evaluate_in(name.partition(":")[2], name, planned, field, extra)

    def evaluate_in(
        self, path: str, name: str, planned: PlannedNode, field: str, extra: Mapping[str, object] | None = None
    ) -> object:
        """Return what an expression of a node gives in some scope."""
        names = ScopeLookup(self.state, path, extra)
        return planned.expressions[field].evaluate(names, moment(self.state, name, self.now))

    def holds(self, path: str, name: str, planned: PlannedNode, field: str, extra: Mapping[str, object] | None) -> bool:
        """Return whether a condition of a node holds in some scope; without one it does not."""
        if field not in planned.expressions:
            return False
        found = self.evaluate_in(path, name, planned, field, extra)
        if not isinstance(found, bool):
            raise ExpressionError(f"`{field}` needs true or false.", code="no_such_overload")
        return found

    def render(self, name: str, planned: PlannedNode, field: str, default: object = None) -> object:
        """Return a field of a node with its templates filled."""
        return self.render_in(name.partition(":")[2], name, planned, field, default)

    def render_in(self, path: str, name: str, planned: PlannedNode, field: str, default: object = None) -> object:
        """Return a field of a node with its templates filled by the names of some scope."""
        filling = planned.fillings.get(field)
        if filling is None:
            return default
        if filling.constant:
            return filling.render(_NOTHING, EPOCH, _IDLE)
        at = EPOCH if filling.timeless else moment(self.state, name, self.now)
        found = filling.render(ScopeLookup(self.state, path), at, Meter())
        return found if filling.single else bounded(found, f"`{field}`")

    def text(self, name: str, planned: PlannedNode, field: str) -> str:
        """Return a field of a node as text, whatever its template gives."""
        return text_of(self.render(name, planned, field), Meter())

    def new_id(self) -> str:
        """Return an id that is the same whenever this step is decided again."""
        return uuid8(f"{self.state.facts.id}/{self.state.counts['seq']}")

    def scope_of(self, name: str) -> str:
        """Return the path of the scope that a node is in."""
        return name.partition(":")[2]
