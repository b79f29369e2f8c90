"""One decision in progress: the state moves along with the events, so that each rule sees what the last one did."""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from layover.core.engine.evolve import evolve
from layover.core.engine.free_slots import FreeSlots
from layover.core.engine.scope_lookup import ScopeLookup, moment
from layover.core.engine.sizes import bounded
from layover.core.expressions import ExpressionError, Meter
from layover.core.expressions.frame import EPOCH
from layover.core.expressions.template import text_of
from layover.core.ids import uuid8

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from layover.core.engine.events import AnyEvent
    from layover.core.engine.state import ExecutionState
    from layover.core.plan import PlannedNode


_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_IDLE: Final = Meter()  # never charged: for templates that are constant


ENDLESS: Final = sys.maxsize


class DecisionContext:
    """The events decided so far, and the scopes and containers to check because of them."""

    __slots__ = ("events", "most", "now", "settled", "slots", "state", "with_time_left")

    def __init__(
        self,
        state: ExecutionState,
        now: int,
        slots: FreeSlots | None = None,
        most: int = ENDLESS,
        with_time_left: Container[str] = (),
    ) -> None:
        self.state = state
        self.now = now
        self.slots = FreeSlots() if slots is None else slots
        self.most = most  # after so many events, ready nodes are left for the next decision
        self.with_time_left = with_time_left  # calls with time left, although the wall clock says otherwise
        self.events: list[AnyEvent] = []
        self.settled: list[str] = []

    def emit(self, event: AnyEvent) -> None:
        """Decide an event and apply it to the state."""
        evolve(self.state, event, self.now)
        self.events.append(event)

    def evaluate(
        self, name: str, planned: PlannedNode, field: str, extra: Mapping[str, object] | None = None
    ) -> object:
        """Return the value of a node's expression."""
        return self.evaluate_in(name.partition(":")[2], name, planned, field, extra)

    def evaluate_in(
        self, path: str, name: str, planned: PlannedNode, field: str, extra: Mapping[str, object] | None = None
    ) -> object:
        """Return the value of a node's expression in a given scope."""
        names = ScopeLookup(self.state, path, extra)
        return planned.expressions[field].evaluate(names, moment(self.state, name, self.now))

    def holds(self, path: str, name: str, planned: PlannedNode, field: str, extra: Mapping[str, object] | None) -> bool:
        """Return whether a condition of a node holds in a scope; a missing condition does not hold."""
        if field not in planned.expressions:
            return False
        found = self.evaluate_in(path, name, planned, field, extra)
        if not isinstance(found, bool):
            raise ExpressionError(f"`{field}` needs true or false.", code="no_such_overload")
        return found

    def render(self, name: str, planned: PlannedNode, field: str, default: object = None) -> object:
        """Return a field of a node with its templates rendered."""
        return self.render_in(name.partition(":")[2], name, planned, field, default)

    def render_in(self, path: str, name: str, planned: PlannedNode, field: str, default: object = None) -> object:
        """Return a field of a node with its templates rendered in a given scope."""
        renderer = planned.renderers.get(field)
        if renderer is None:
            return default
        if renderer.constant:
            return renderer.render(_NOTHING, EPOCH, _IDLE)
        at = EPOCH if renderer.timeless else moment(self.state, name, self.now)
        found = renderer.render(ScopeLookup(self.state, path), at, Meter())
        return found if renderer.single else bounded(found, f"`{field}`")

    def text(self, name: str, planned: PlannedNode, field: str) -> str:
        """Return a field of a node as text, whatever type its template gives."""
        return text_of(self.render(name, planned, field), Meter())

    def new_id(self) -> str:
        """Return an id that is the same each time this step is decided."""
        return uuid8(f"{self.state.facts.id}/{self.state.counts['seq']}")

    def scope_of(self, name: str) -> str:
        """Return the path of the scope of a node."""
        return name.partition(":")[2]
