"""Every answer that the document has for a route is seen, over HTTP and on every database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.api.problems import STATUS
from layover.api.routes import ROUTES
from tests.api.codes.scenes import OF_ANY, OF_ONE, scene_of
from tests.api.codes.stage import SECRET

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.registry import Outcome
    from tests.api.codes.stage import Stage


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
async def test_what_is_documented_is_seen(stage: Stage, route: Route) -> None:
    for outcome in _documented(route):
        await _is_seen(stage, route, outcome)


async def _is_seen(stage: Stage, route: Route, outcome: Outcome) -> None:
    scene = scene_of(route, outcome)
    assert scene is not None, f"{route.name} says that it may answer {outcome}, but there is no scene for that"
    answered = await scene(stage, route)

    assert SECRET not in answered.body.decode()
    if isinstance(outcome, int):
        assert answered.status == outcome, answered
        assert answered.headers.get("content-type") == _media_type(route, outcome), answered
    else:
        assert answered.headers["content-type"] == "application/problem+json", answered
        assert (answered.status, answered.code) == (STATUS[outcome], outcome), answered
        assert answered.json["request_id"] == answered.headers["x-request-id"]
        assert answered.json["type"] == f"urn:layover:problem:{outcome}"


def test_every_scene_is_of_something_that_is_documented() -> None:
    documented = {(route.name, outcome) for route in ROUTES for outcome in _documented(route)}
    assert OF_ONE.keys() <= documented
    assert OF_ANY.keys() <= {outcome for _, outcome in documented}


def _documented(route: Route) -> list[Outcome]:
    return [*route.answers, *route.codes]


def _media_type(route: Route, status: int) -> str | None:
    if route.answers[status] is None:
        return None
    is_text = route.answer_media.startswith("text/") and route.answer_media != "text/event-stream"
    return f"{route.answer_media}; charset=utf-8" if is_text and ";" not in route.answer_media else route.answer_media
