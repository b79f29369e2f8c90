"""Saved views: filters of the list of executions that users keep under a name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from layover.core.definitions.durations import parse_duration
from layover.core.engine.state import ExecutionStatus
from layover.core.moments import Moment
from layover.model.shared import Body, Length, Resource, Value, WaitsOn

_Short = Annotated[str, Meta(min_length=1, max_length=255)]
_Since = Annotated[
    str, Meta(min_length=1, max_length=50, description="A moment, or how long ago, such as `2d`.", examples=["2d"])
]


VIEW_NAME: Final = 100  # characters of a name


def is_view_name(name: str) -> bool:
    """Return whether a view may have this name: it is a part of a path."""
    return 0 < len(name) <= VIEW_NAME and name.isprintable() and "/" not in name and name not in (".", "..")


class ViewFilter(Resource, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which executions a view shows, as the parameters of their list say it; all that is given has to hold."""

    workflow: _Short | None = None
    status: Annotated[tuple[ExecutionStatus, ...], Meta(max_length=20)] = ()
    tag: _Short | None = None
    parent_id: Annotated[str, Meta(max_length=50)] | None = None
    where: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=1_000)], ...], Meta(max_length=20)] = ()
    contains: dict[str, Value] | None = None
    correlation_id: _Short | None = None
    error_code: _Short | None = None
    since: _Since | None = None
    until: _Since | None = None
    min_duration: Length | None = None
    max_duration: Length | None = None
    min_resumes: Annotated[int, Meta(ge=0)] | None = None
    resumed: bool | None = None
    user: _Short | None = None
    on: Annotated[tuple[WaitsOn, ...], Meta(max_length=20)] = ()
    node_type: _Short | None = None
    q: _Short | None = None
    order: Literal["created", "paused"] = "created"


class ViewBody(Body, frozen=True, kw_only=True):
    """A view to be saved."""

    filter: ViewFilter = msgspec.field(default_factory=ViewFilter)


class SavedView(Resource, frozen=True, kw_only=True):
    """A filter that a user keeps under a name."""

    name: str
    filter: ViewFilter
    changed_at: Moment

    def arguments(self) -> dict[str, Any]:
        """Return what `executions` takes to list what the view shows now."""
        given = {name: getattr(self.filter, name) for name in self.filter.__struct_fields__}
        return {**given, "since": _moment(self.filter.since), "until": _moment(self.filter.until)}


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.now(UTC) - timedelta(milliseconds=parse_duration(text))
    except ValueError:
        return datetime.fromtimestamp(Moment.read(text).milliseconds / 1000, UTC)
