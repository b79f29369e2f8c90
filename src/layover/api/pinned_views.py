"""What a person had seen, over HTTP: the view of a pause point is its ETag, and an answer may name it by If-Match."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.api.request import Response
from layover.interface.bounds import check_seen

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.model.points import PausePoint


def tagged(point: PausePoint, status: int = 200) -> Response:
    """Return a pause point with the tag of its view."""
    return Response(point, status, {"etag": f'"{point.view}"'} if point.view is not None else {})


def seen_by(call: Request[Any, Any]) -> str | None:
    """Return the view that the person who answers had seen; None if they do not say, or take any."""
    given = call.headers.get("if-match")
    if given is None or given.strip() == "*":
        return None
    seen = given.strip().removeprefix('"').removesuffix('"')
    check_seen(seen, "If-Match")
    return seen
