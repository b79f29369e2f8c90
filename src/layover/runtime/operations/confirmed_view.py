"""The execution that `start` returns, taken from the state at the moment at which the store has confirmed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from layover.core.engine.answers import schema_of
from layover.core.light_structs import LightStruct
from layover.core.payloads import copy_plain
from layover.ports.records import NewExecution, PointRow
from layover.runtime.operations.until import is_over
from layover.runtime.queries.views import execution_view
from layover.runtime.results.points import point_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.core.engine.state import ExecutionState as State
    from layover.core.engine.state import Point
    from layover.model.executions import Execution
    from layover.model.points import PausePoint
    from layover.runtime.execution.waiters import Confirmed
    from layover.runtime.operations.until import Until


class ConfirmedView(LightStruct):
    """The view that `start` returns, made at the moment at which the store has confirmed the state that it shows.

    A moment later the state may be ahead of the log, and belong to the next leg. With `points`, an execution at rest is
    shown with its open ones.
    """

    new: NewExecution
    version: int
    wait: Until | None
    points: bool
    view: Execution | None = None

    def __call__(self, active: Confirmed) -> None:
        """Keep the view of the first confirmed state that the caller waits for."""
        state = active.state
        if self.view is None and (self.wait is None or is_over(state, self.wait)):
            head, points = active.head(), open_points if self.points else None
            self.view = execution_view(
                self.new, state, active.finished_at, head=head, version=self.version, points=points
            )


def open_points(state: State) -> Iterator[PausePoint]:
    """Return the open points of an execution as they were written with the state, and nothing that belongs to it."""
    facts = state.facts
    for point in state.points.rows.values():
        if point.status == "open":
            schema = schema_of(state, point)
            own = copy_plain(schema) if schema is not None else None
            yield point_of(PointRow(execution_id=facts.id, workflow=facts.workflow, point=_own(point), schema=own))


def _own(point: Point) -> Point:
    """Return a point whose holder may change what it shows."""
    details = point.details
    if "shown" not in details and "response" not in details:  # all that is told of the others is text
        return point
    return replace(point, details=cast("dict[str, object]", copy_plain(details)))
