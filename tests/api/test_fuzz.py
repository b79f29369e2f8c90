"""Schemathesis finds nothing that is not as the document says; and what it found once is told one by one.

`LAYOVER_TORTURE=20 pytest tests/api/test_fuzz.py --hypothesis-seed=7` asks for longer, and other things.
"""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.api.routes import ROUTES
from tests.api.contract import DOCUMENT, documented
from tests.api.fuzz import Fuzzed, findings_of, fuzzed
from tests.api.harness import served
from tests.conftest import FACTOR

if TYPE_CHECKING:
    from layover.api.routing import Route

EXAMPLES = 2
# What is refused by its shape never comes to a database, and `tests/api/codes` sees every answer on both of them: so
# one is enough here. `make torture` has time for both.
DATABASES = ["sqlite", "postgres"] if FACTOR > 1 else ["sqlite"]

# What is not answered well here: it has no end, or the program reads it before it begins.
NOT_ASKED = {"GET /api/v1/executions/{id}/stream", "GET /api/v1/changes", "GET /openapi.json"}


@pytest.mark.parametrize("each_database", DATABASES, indirect=True)
@pytest.mark.usefixtures("each_database")
def test_whatever_is_sent_is_answered_as_the_document_says(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seed = int(request.config.getoption("--hypothesis-seed") or 1)
    done = asyncio.run(fuzzed(tmp_path, examples=EXAMPLES * FACTOR, seed=seed))

    assert not done.findings, "\n".join(map(str, done.findings))
    assert done.codes == (0, 0), done.output[-5_000:]
    assert not_done_once(done) == NOT_ASKED, "what is never done is not looked at"


def not_done_once(done: Fuzzed) -> set[str]:
    """Return the operations that were never answered with what was asked for."""
    answers = {operation: set(statuses) for operation, statuses in done.answers.items()}
    names = {f"{route.method} {documented(route)}": route for route in ROUTES}
    return {name for name, route in names.items() if not answers.get(name, set()) & route.answers.keys()}


def test_a_report_is_read_for_what_failed() -> None:
    failed = (
        '{"ScenarioFinished": {"recorder": {"label": "GET /a", "checks": {"x": [{"name": "c", "status": "failure",'
        ' "failure_info": {"failure": {"title": "Server error", "message": "It\\n  broke"}}}]}}}}'
    )
    assert [str(one) for one in findings_of(f"{failed}\n{failed}")] == ["GET /a: Server error\n    It broke"]


# What it found


async def test_where_a_workflow_could_have_the_name_of_a_path_all_methods_are_named(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        found = {name: await api.ask("PATCH", f"/workflows/{name}") for name in ("check", "import", "export", "order")}

    assert {name: one.headers["allow"] for name, one in found.items()} == {
        "check": "DELETE, GET, HEAD, POST, PUT",
        "import": "DELETE, GET, HEAD, POST, PUT",
        "export": "DELETE, GET, HEAD, PUT",
        "order": "DELETE, GET, HEAD, PUT",
    }


async def test_a_workflow_may_have_the_name_of_a_path(tmp_path: Path) -> None:
    definition = {"name": "check", "nodes": [{"id": "a", "type": "set", "values": {"b": 1}}]}
    async with served(tmp_path) as api:
        put = await api.put("/workflows/check", definition)
        shown = await api.get("/workflows/check")
        checked = await api.post("/workflows/check", definition)
        gone = await api.delete("/workflows/check")

    assert [one.status for one in (put, shown, checked, gone)] == [201, 200, 200, 204]
    assert (shown.json["name"], checked.json["problems"]) == ("check", [])


async def test_as_many_conditions_as_are_taken_fit_into_a_request(tmp_path: Path) -> None:
    condition = f"input.name={'x' * 989}"
    async with served(tmp_path) as api:
        found = await api.get("/executions?" + "&".join([f"where={condition}"] * 20))
        longer = await api.get(f"/executions?where={condition}x")

    assert (found.status, found.json["items"]) == (200, [])
    assert (longer.status, longer.code) == (400, "invalid_parameter")


async def test_a_body_may_be_left_out_just_where_the_document_says_so(tmp_path: Path) -> None:
    with_body = [route for route in ROUTES if route.body is not None]
    async with served(tmp_path) as api:
        found = {route.name: await api.ask(route.method, exemplified(route)) for route in with_body}

    refused = {"malformed", "invalid_body", "invalid_definition"}
    needed = {name for name, one in found.items() if one.status >= 400 and one.code in refused}
    assert needed == {route.name for route in with_body if route.body_required}


def exemplified(route: Route) -> str:
    """Return a path as the document has it for an example."""
    parameters = DOCUMENT["paths"][documented(route)][route.method.lower()]["parameters"]
    return documented(route).format(**{one["name"]: one["example"] for one in parameters if one.get("in") == "path"})
