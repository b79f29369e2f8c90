"""What events do to the rows of pause points that others read: opened, moved on, or closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from layover.core.engine import events as ev
from layover.core.engine.answers import schema_of
from layover.core.engine.signals import awaited_signals
from layover.ports.records import ChangedPoint, ClosedPoint, OpenedPoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import Execution
    from layover.ports.records import PointChange

_ENDS: dict[type[ev.Event], str] = {
    ev.PausePointApplied: "applied",
    ev.PausePointExpired: "expired",
    ev.PausePointCancelled: "cancelled",
}
# What is told to all children that are waited for changes their points without naming them.
_OF_CHILDREN = frozenset({ev.ExecutionPausing, ev.ExecutionResumed})
_OF_POINTS = frozenset(kind for kind in get_args(ev.AnyEvent) if "point" in kind.__struct_fields__)


def point_changes(state: Execution, events: Sequence[ev.AnyEvent]) -> tuple[PointChange, ...]:
    """Return the changes that bring the rows to what the state says; a point that came and went leaves no row."""
    opened: set[str] = set()
    touched: dict[str, str] = {}
    for event in events:
        if type(event) in _OF_POINTS:
            point: str = event.point  # type: ignore[union-attr]  # by the line above
            touched[point] = _ENDS.get(type(event), "")
            if isinstance(event, ev.PausePointOpened):
                opened.add(point)
        elif type(event) in _OF_CHILDREN:
            touched.update((id_, "") for id_, one in state.points.rows.items() if one.kind == "child")
    if not touched:
        return ()
    return tuple(
        change for point, end in touched.items() if (change := _change(state, point, end, new=point in opened))
    )


def _change(state: Execution, point: str, end: str, *, new: bool) -> PointChange | None:
    found = state.points.get(point)
    if found is None:
        return None if new else ClosedPoint(id=point, how=end)
    if not new:
        return ChangedPoint(point=found)
    waits = awaited_signals(found) if found.kind == "signal" else ()
    return OpenedPoint(point=found, schema=schema_of(state, found), waits=waits)
