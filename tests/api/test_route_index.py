"""Paths: each leads to its own routes, and one that two could be meant by to the one with the words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import pytest
from starlette.routing import Match

from layover.api.request import Response
from layover.api.route_index import RouteIndex
from layover.api.routes import ROUTES
from layover.api.routing import Routes

if TYPE_CHECKING:
    from layover.api.endpoint import Endpoint
    from layover.api.services import Services

NOBODY_ASKED = cast("Services", None)


def paths(*patterns: str) -> RouteIndex:
    routes = Routes("Some", "Some.", prefix="")
    for pattern in patterns:
        method, path = pattern.split()

        @getattr(routes, method.lower())(path, open="anybody", answers={200: None})  # type: ignore[untyped-decorator]  # which one is said by the test
        async def handle(_call: object) -> Response:
            """Answer."""
            return Response(None)

    return RouteIndex(routes.routes, NOBODY_ASKED)


def found(among: RouteIndex, path: str, root: str = "") -> tuple[list[str], dict[str, str]] | None:
    """Return the routes of a path, and what stands in it for names."""
    scope: dict[str, Any] = {"type": "http", "path": path, "root_path": root}
    match, child = among.matches(scope)
    if match is Match.NONE:
        return None
    endpoint: Endpoint = child["endpoint"]
    return sorted(f"{route.method} {route.path}" for route in endpoint.routes.values()), child["path_params"]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_is_found_by_what_stands_for_its_names(route: Any) -> None:
    path = re.sub(r"\{(\w+)(:path)?\}", r"a-\1", route.path)
    at = found(RouteIndex(ROUTES, NOBODY_ASKED), path)
    assert at is not None
    assert f"{route.method} {route.path}" in at[0]
    if "{" in route.path:
        assert at[1] == {name: f"a-{name}" for name in re.findall(r"\{(\w+)", route.path)}


def test_a_word_goes_before_a_name() -> None:
    among = paths("GET /jobs/{id}", "GET /jobs/paused", "GET /jobs/{id}/log")
    assert found(among, "/jobs/paused") == (["GET /jobs/paused"], {})
    assert found(among, "/jobs/7") == (["GET /jobs/{id}"], {"id": "7"})


def test_a_path_of_words_has_the_other_methods_of_the_pattern_that_it_fits() -> None:
    among = paths("DELETE /jobs/{name}", "POST /jobs/{name}", "POST /jobs/check")
    assert found(among, "/jobs/check") == (["DELETE /jobs/{name}", "POST /jobs/check"], {"name": "check"})


def test_a_path_of_words_is_no_id() -> None:
    among = paths("DELETE /jobs/{id}", "POST /jobs/check")
    assert found(among, "/jobs/check") == (["POST /jobs/check"], {})


def test_a_word_that_leads_nowhere_may_stand_for_a_name() -> None:
    among = paths("GET /jobs/paused/all", "GET /jobs/{id}/log")
    assert found(among, "/jobs/paused/log") == (["GET /jobs/{id}/log"], {"id": "paused"})


def test_patterns_may_name_the_same_part_differently() -> None:
    among = paths("GET /jobs/{id}", "GET /jobs/{job}/log/{n}")
    assert found(among, "/jobs/7") == (["GET /jobs/{id}"], {"id": "7"})
    assert found(among, "/jobs/7/log/3") == (["GET /jobs/{job}/log/{n}"], {"job": "7", "n": "3"})


@pytest.mark.parametrize(
    "path", ["", "/", "/job", "/jobs/", "/jobs//log", "/jobs/7/", "/jobs/7/log/", "//jobs/7", "jobs/7"]
)
def test_nothing_is_found_by_part_of_a_path_or_more_than_it(path: str) -> None:
    assert found(paths("GET /jobs/{id}", "GET /jobs/{id}/log"), path) is None


def test_a_name_may_stand_for_all_the_rest() -> None:
    among = paths("GET /jobs/{id}/at/{place:path}", "GET /jobs/{id}/at/home")
    assert found(among, "/jobs/7/at/a/b/") == (["GET /jobs/{id}/at/{place:path}"], {"id": "7", "place": "a/b/"})
    assert found(among, "/jobs/7/at/") == (["GET /jobs/{id}/at/{place:path}"], {"id": "7", "place": ""})
    assert found(among, "/jobs/7/at/home") == (["GET /jobs/{id}/at/home"], {"id": "7"})
    assert found(among, "/jobs/7/at") is None


def test_what_it_is_mounted_under_does_not_count() -> None:
    among = paths("GET /jobs/{id}")
    assert found(among, "/flows/jobs/7", root="/flows") == (["GET /jobs/{id}"], {"id": "7"})
    assert found(among, "/flowsjobs/7", root="/flows") is None
