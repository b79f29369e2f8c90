"""The flags that say which executions are listed, and which a saved view shows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from layover.cli.exits import Stop
from layover.core.definitions.durations import parse_duration
from layover.model.shared import WaitsOn

Status = Literal["pending", "running", "pausing", "waiting", "paused", "completed", "failed", "cancelled"]
Workflow = Annotated[str | None, Parameter(help="Only executions of this workflow.")]
Statuses = Annotated[
    tuple[Status, ...],
    Parameter(
        name="--status",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Only executions with this status; repeatable.",
    ),
]
Tag = Annotated[str | None, Parameter(help="Only executions with this tag.")]
Where = Annotated[
    tuple[str, ...],
    Parameter(
        name="--where",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Only those whose input has this value at this path, such as customer.tier=gold, or that fulfil a "
        "condition such as output.total>=12; repeatable.",
    ),
]
CorrelationId = Annotated[str | None, Parameter(help="Only executions with this correlation id.")]
ErrorCode = Annotated[str | None, Parameter(help="Only executions that failed with this code.")]
Since = Annotated[
    str | None, Parameter(help="Only executions created at this moment or later: 2026-11-20T08:00:00Z, or 2d for ago.")
]
Until = Annotated[str | None, Parameter(help="Only executions created before this moment, written as for --since.")]
MinDuration = Annotated[str | None, Parameter(help="Only ended executions that took at least so long, such as 90s.")]
MaxDuration = Annotated[str | None, Parameter(help="Only ended executions that took at most so long.")]
MinResumes = Annotated[int | None, Parameter(help="Only executions that were resumed at least so often.")]
Resumed = Annotated[
    bool | None,
    Parameter(
        name="--resumed", negative="--never-resumed", show_default=False, help="Only those that were resumed, or not."
    ),
]
StartedBy = Annotated[str | None, Parameter(name="--user", help="Only executions that this user has started.")]
On = Annotated[
    tuple[WaitsOn, ...],
    Parameter(
        name="--on",
        consume_multiple=False,
        negative="",
        show_default=False,
        help="Only executions that wait for this; repeatable.",
    ),
]
NodeType = Annotated[str | None, Parameter(name="--node-type", help="Only those whose graph has a node of this type.")]
Q = Annotated[
    str | None,
    Parameter(
        help="Only executions whose id (8 characters or more) or correlation id begins with this, or with this tag."
    ),
]


def given_filters(**filters: Any) -> dict[str, Any]:
    """Return the filters that were given."""
    return {name: value for name, value in filters.items() if value not in (None, (), {})}


def moment_or_ago(flag: str, text: str | None) -> datetime | None:
    """Return the moment that a flag names: itself, or how long ago it was."""
    if text is None:
        return None
    try:
        return datetime.now(UTC) - timedelta(milliseconds=parse_duration(text))
    except (ValueError, OverflowError):
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        what = "a moment with a time zone, such as 2026-11-20T08:00:00Z, or how long ago it was, such as 2d"
        raise Stop(f"{flag}: `{text}` is not {what}.")
    return found
