"""An execution that was just started and has come to rest, with the pause points at which it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.core.moments import Moment
    from layover.model.executions import Execution
    from layover.model.points import PausePoint


def with_open_points(found: Execution, points: Iterable[PausePoint]) -> Execution:
    """Add its open points to an execution, and the first response that one of them has for the caller."""
    ordered = list(points)
    if len(ordered) > 1:
        ordered.sort(key=_order)
    response: object = UNSET
    for point in ordered:
        if point.response is not None:
            response = point.response
            break
    return replace(found, pause_points=tuple(ordered), response=response)


def _order(point: PausePoint) -> tuple[Moment, int, str]:
    """Return where a point stands among others: of those opened at the same moment, as their branches do."""
    branch = point.parallel_scope
    return point.opened_at, branch.index if branch is not None else -1, point.context_id
