"""The rows of pause points that a step changes: opened, updated or closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from layover.core.engine import events as ev
from layover.core.engine.answers import schema_of
from layover.core.engine.signals import awaited_signals
from layover.core.engine.state import PEOPLE
from layover.ports.records import ChangedPoint, ClosedPoint, OpenedPoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import ExecutionState, Point
    from layover.ports.records import PointChange

_ENDS: dict[type[ev.DomainEvent], str] = {
    ev.PausePointApplied: "applied",
    ev.PausePointExpired: "expired",
    ev.PausePointCancelled: "cancelled",
}
# What is told to all children that are waited for changes their points without naming them.
_OF_CHILDREN = frozenset({ev.ExecutionPausing, ev.ExecutionResumed})
_OF_POINTS = frozenset(kind for kind in get_args(ev.AnyEvent) if "point" in kind.__struct_fields__)
_CHANGING = _OF_POINTS | _OF_CHILDREN | {ev.ExecutionMoved}


def point_changes(state: ExecutionState, events: Sequence[ev.AnyEvent]) -> tuple[PointChange, ...]:
    """Return the changes that bring the rows to the state; a point that opened and closed in one step has no row."""
    if not any(map(_CHANGING.__contains__, map(type, events))):  # by far the most frequent
        return ()
    opened: set[str] = set()
    answered: set[str] = set()
    touched: dict[str, str] = {}
    for event in events:
        if type(event) in _OF_POINTS:
            point: str = event.point  # type: ignore[union-attr]  # by the line above
            touched[point] = _ENDS.get(type(event), "")
            if isinstance(event, ev.PausePointOpened):
                opened.add(point)
            elif isinstance(event, ev.PausePointAnswered):
                answered.add(point)
        elif type(event) in _OF_CHILDREN:
            touched.update((id_, "") for id_, one in state.points.rows.items() if one.kind == "child")
        elif type(event) is ev.ExecutionMoved:  # their nodes may have other names
            touched.update((id_, "") for id_ in state.points.rows)
    if not touched:
        return ()
    told = _answered_at_once(state, answered - opened) if answered else {}
    changes: list[PointChange] = []
    for point, end in touched.items():
        if point in told:
            changes.append(ChangedPoint(point=told[point]))
        change = _change(state, point, end, new=point in opened)
        if change is not None:
            changes.append(change)
    return tuple(changes)


def _answered_at_once(state: ExecutionState, answered: set[str]) -> dict[str, Point]:
    """Return the points whose answers were applied where they were heard, as they stood in between.

    The answer of a person is in the row before the execution applies it; no other answer is.
    """
    gone = {point for point in answered if point not in state.points}
    if not gone:
        return {}
    stood = state.undo_log.overwritten(state.points.rows)
    return {point: stood[point] for point in sorted(gone) if stood[point].kind not in PEOPLE}


def _change(state: ExecutionState, point: str, end: str, *, new: bool) -> PointChange | None:
    found = state.points.get(point)
    if found is None:
        return None if new else ClosedPoint(id=point, how=end)
    if not new:
        return ChangedPoint(point=found)
    waits = awaited_signals(found) if found.kind == "signal" else ()
    return OpenedPoint(point=found, schema=schema_of(state, found), waits=waits)
