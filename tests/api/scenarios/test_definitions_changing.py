"""A definition is edited, switched off or deleted while executions of it are paused: they go on with theirs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from tests.api.harness import served
from tests.api.scenarios.scene import BEN, MIA, answer, execution, get, output, paused, resume, save, settled, start
from tests.runtime.harness import Scripted, approval, call, end, flow, form

pytestmark = pytest.mark.usefixtures("each_database")

OLD: dict[str, Any] = flow(form(schema={}), call("after"), approval(), end({"by": "old", "said": "${nodes.ask}"}))
EDITS: dict[str, dict[str, Any]] = {
    "another end": flow(form(schema={}), call("after"), approval(), end("new")),
    "the pause is gone": flow(call("after"), end("new")),
    "the node after it is gone": flow(form(schema={}), end("new")),
    "another schema": flow(
        form(schema={"type": "object", "required": ["size"]}), call("after"), approval(), end("new")
    ),
    "other people": flow(
        form(schema={}, approvers={"users": ["eve"]}), approval(approvers={"users": ["eve"]}), end("x")
    ),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("deleted", [False, True], ids=["edited", "deleted"])
async def test_an_execution_keeps_the_version_it_was_started_with(tmp_path: Path, edit: str, deleted: bool) -> None:
    async with served(tmp_path, Scripted("worked")) as api:
        await save(api, OLD)
        id_ = (await start(api))["id"]
        assert await save(api, EDITS[edit]) == 2
        if deleted:
            assert (await api.delete("/workflows/flow")).status == 204
            assert (await api.get("/workflows/flow")).status == 404
            refused = await api.post("/executions", {"workflow": "flow"}, as_=MIA)
            assert (refused.status, refused.code) == (404, "unknown_workflow")

        (listed,) = await paused(api)
        assert (listed["executionId"], len(listed["pausePoints"])) == (id_, 1)
        assert (await execution(api, id_))["version"] == 1
        assert {node["node"] for node in (await get(api, f"/executions/{id_}/graph"))["nodes"]} == {
            "ask",
            "after",
            "review",
            "finish",
        }
        assert (await resume(api, id_, "review")).code == "snapshot_pending"
        assert (await resume(api, id_, "ask", {"size": "L"})).status == 202
        await settled(api, id_)
        approved = await api.post(f"/api/resume/flow/{id_}/review", {"approved": True}, as_=BEN)
        assert approved.status == 202
        assert await output(api, id_) == {"by": "old", "said": {"size": "L"}}
        assert await paused(api) == []


async def test_both_versions_run_side_by_side(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        started = []
        for version in (1, 2, 3):
            assert await save(api, flow(form(schema={}), end(f"version {version}"))) == version
            started.append(await start(api))
        for version, one in reversed(list(enumerate(started, start=1))):
            assert one["version"] == version
            assert (await answer(api, one["pause_points"][0]["id"])).status == 201
            assert await output(api, one["id"]) == f"version {version}"


async def test_what_failed_is_retried_with_the_version_it_was_started_with(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(ValueError("no"), "worked")) as api:
        await save(api, flow(form(schema={}), call("after"), end("old")))
        started = await start(api)
        await save(api, flow(end("new")))
        assert (await api.delete("/workflows/flow")).status == 204
        await answer(api, started["pause_points"][0]["id"])
        failed = await settled(api, started["id"])
        assert (failed["status"], failed["error"]["type"]) == ("failed", "ValueError")
        assert (await api.post(f"/executions/{started['id']}/retry", as_=MIA)).status == 200
        assert await output(api, started["id"]) == "old"


@pytest.mark.parametrize("act", ["deactivate", "pause"])
async def test_what_was_begun_goes_on_while_the_workflow_may_not_be_started(tmp_path: Path, act: str) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), end("done")))
        started = await start(api)
        assert (await api.post(f"/workflows/flow/{act}", as_="admin")).status == 200
        assert (await answer(api, started["pause_points"][0]["id"])).status == 201
        assert await output(api, started["id"]) == "done"


async def test_one_deleted_may_come_back_under_its_name(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), end("old")))
        old = await start(api)
        assert (await api.delete("/workflows/flow")).status == 204
        assert await save(api, flow(form(schema={}), end("new"))) == 2
        new = await start(api)
        assert {one["executionId"] for one in await paused(api)} == {old["id"], new["id"]}
        for one, expected in ((new, "new"), (old, "old")):
            assert (await resume(api, one["id"], "ask")).status == 202
            assert await output(api, one["id"]) == expected
