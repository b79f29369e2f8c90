"""What a user may see of an execution or a pause point whose data are not theirs to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.model.executions import Execution

if TYPE_CHECKING:
    from layover.model.points import PausePoint


def without_data(found: Execution) -> Execution:
    """Return the id and the status of an execution, and how far it is."""
    return Execution(
        id=found.id,
        workflow=found.workflow,
        status=found.status,
        created_at=found.created_at,
        last_seq=found.last_seq,
    )


def point_without_data(point: PausePoint) -> PausePoint:
    """Return where a pause point stands, without what is asked and said there."""
    return replace(
        point,
        title="",
        schema=None,
        shown=None,
        response=None,
        failure=None,
        leads_to={},
        view=None,
        decisions=(),
        taken_back_by=(),
        answer=None,
        questions=(),
    )
