"""The execution that `start` returns, taken from the state at the moment at which the store has confirmed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from layover.core.engine.answers import schema_of
from layover.core.payloads import copy_plain
from layover.interface.open_points import with_open_points
from layover.ports.records import PointRow
from layover.runtime.operations.until import AT_REST, is_over
from layover.runtime.queries.views import execution_view
from layover.runtime.results.points import point_of

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionState as State
    from layover.model.executions import Execution
    from layover.ports.records import NewExecution
    from layover.runtime.execution.waiters import Confirmed
    from layover.runtime.operations.until import Until


class ConfirmedView:
    """The view that `start` returns, made at the moment at which the store has confirmed the state that it shows.

    A moment later the state may be ahead of the log, and belong to the next leg.
    """

    __slots__ = ("_new", "_points", "_version", "_wait", "view")

    def __init__(self, new: NewExecution, version: int, wait: Until | None, points: bool) -> None:  # noqa: FBT001 - as it is given
        self._new = new
        self._version = version
        self._wait = wait
        self._points = points
        self.view: Execution | None = None

    def __call__(self, active: Confirmed) -> None:
        """Keep the view of the first confirmed state that the caller waits for."""
        if self.view is None and (self._wait is None or is_over(active.state, self._wait)):
            head, finished_at = active.head(), active.finished_at
            view = execution_view(self._new, active.state, finished_at, head=head, version=self._version)
            if self._points and view.status in AT_REST:
                view = with_open_points(view, map(point_of, _open_points(view, active.state)))
            self.view = view


def _open_points(found: Execution, state: State) -> list[PointRow]:
    """Return the open points of an execution as they were written with the state, and nothing that belongs to it."""
    return [
        PointRow(
            execution_id=found.id,
            workflow=found.workflow,
            point=replace(point, details=cast("dict[str, object]", copy_plain(point.details))),
            schema=copy_plain(schema_of(state, point)),
        )
        for point in state.points.rows.values()
        if point.status == "open"
    ]
