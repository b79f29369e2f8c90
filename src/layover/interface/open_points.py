"""An execution that was just started and has come to rest, with the pause points at which it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.moments import Moment
    from layover.model.executions import Execution
    from layover.model.points import PausePoint


def with_open_points(found: Execution, points: Iterable[PausePoint]) -> Execution:
    """Add its open points to an execution, and the first response that one of them has for the caller.

    They are as they were opened: what the caller may do there is told by the points themselves.
    """
    ordered = in_order(replace(one, may=None) for one in points)
    return replace(found, pause_points=ordered, response=first_response(ordered))


def in_order(points: Iterable[PausePoint]) -> tuple[PausePoint, ...]:
    """Return open points, the oldest first."""
    found = tuple(points)
    return tuple(sorted(found, key=_order)) if len(found) > 1 else found


def first_response(points: Iterable[PausePoint]) -> Any:
    """Return the first response that one of some points has for the caller, if one has any."""
    for point in points:
        if point.response is not None:
            return point.response
    return UNSET


def _order(point: PausePoint) -> tuple[Moment, int, str]:
    """Return where a point stands among others: of those opened at the same moment, as their branches do."""
    branch = point.parallel_scope
    return point.opened_at, branch.index if branch is not None else -1, point.context_id
