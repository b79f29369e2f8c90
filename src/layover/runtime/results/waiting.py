"""What an execution in a list waits for, in a few words: from its row, and one of the points that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from layover.core.engine.signals import awaited_signals
from layover.core.engine.state import PEOPLE
from layover.core.moments import Moment
from layover.model.executions import WaitingSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.core.engine.state import ExecutionStatus, Point
    from layover.ports.view_records import Standing

_NAMES: Final = 3  # that are listed; a row of a list has no room for more


class ListRest(NamedTuple):
    """When the log of an execution was last written, and what it waits for."""

    updated_at: int
    waiting: WaitingSummary | None


def waiting_of(status: ExecutionStatus, wake_at: int | None, standing: Standing) -> WaitingSummary | None:
    """Return what an execution waits for, if it does."""
    point = standing.point.point if standing.point is not None else None
    if status == "paused" and (point is None or point.kind not in PEOPLE):
        return WaitingSummary(kind="operator", text="paused by an operator", count=standing.points)
    if status not in ("waiting", "paused"):
        return None
    if point is None:
        until = Moment.maybe(wake_at)
        return WaitingSummary(kind="retry", text="retry", until=until) if until is not None else None
    kind = "person" if point.kind in PEOPLE else point.kind
    return WaitingSummary(kind=kind, text=_text(point), until=Moment.maybe(point.deadline), count=standing.points)


def _text(point: Point) -> str:
    if point.kind in PEOPLE:
        return _people(point)
    if point.kind == "signal":
        return _few([name for name, _ in awaited_signals(point)])
    return point.kind


def _people(point: Point) -> str:
    rules = point.rules
    if rules is None:
        return "anybody"
    names = _few([*rules.users, *rules.roles]) or "anybody"
    approved = sum(one.approved for one in point.decisions)
    return f"{names}, {approved} of {rules.need}" if rules.need > 1 else names


def _few(names: Sequence[str]) -> str:
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")
