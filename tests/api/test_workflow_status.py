"""Whether workflows may be started, over HTTP: active or not, paused as a whole, deleted; and who may say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.harness import served
from tests.api.test_workflows import acts, definition
from tests.runtime.harness import until_seq

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("each_database")


async def test_an_inactive_workflow_is_not_started_until_it_is_active_again(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.post("/workflows", definition())
        off = await api.post("/workflows/order/deactivate", {"reason": "End of season"})
        refused = await api.post("/executions", {"workflow": "order"})
        cannot_pause = await api.post("/workflows/order/pause")
        shown = await api.get("/workflows/order")
        on = await api.post("/workflows/order/activate")
        started = await api.post("/executions", {"workflow": "order"})
        again = await api.post("/workflows/order/activate")
        entries = await acts(api)

    assert off.json == {
        "name": "order",
        "state": "inactive",
        "reason": "End of season",
        "executions": 0,
        "more": False,
        "resume_at": None,
        "resume_on": None,
        "breakpoints": {},
    }
    assert (refused.status, refused.code) == (409, "workflow_inactive")
    assert (cannot_pause.status, cannot_pause.code) == (409, "workflow_inactive")
    assert (shown.json["state"], shown.json["state_reason"]) == ("inactive", "End of season")
    assert (on.status, on.json["state"], again.json["state"]) == (200, "active", "active")
    assert started.status == 202
    assert [act for act, _ in entries] == [
        "workflow.save",
        "workflow.deactivate",
        "workflow.activate",
        "execution.start",
    ]


async def test_a_deleted_workflow_is_unknown_and_its_executions_go_on(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.post("/workflows", definition())
        started = await api.post("/executions", {"workflow": "order", "wait": "10s"})
        deleted = await api.delete("/workflows/order")
        again = await api.delete("/workflows/order")
        paths = ["", "/versions", "/diff", "/graph"]
        gone = [(await api.get(f"/workflows/order{path}")).code for path in paths]
        refused = await api.post("/executions", {"workflow": "order"})
        acting = [
            (await api.post(f"/workflows/order/{act}")).code for act in ("activate", "pause", "resume", "dry-run")
        ]
        listed = (await api.get("/workflows")).json["items"]
        point = started.json["pause_points"][0]["id"]
        answered = await api.post(f"/pause-points/{point}/answer", {"data": {}})
        revived = await api.post("/workflows", definition())
        shown = await api.get("/workflows/order")

    assert (deleted.status, deleted.body) == (204, b"")
    assert (again.status, again.code) == (404, "unknown_workflow")
    assert set(gone) == set(acting) == {"unknown_workflow"}
    assert (refused.status, refused.code) == (404, "unknown_workflow")
    assert listed == []
    assert answered.status == 201
    assert (revived.status, revived.json["version"]) == (201, 1)
    assert shown.json["state"] == "active"


async def test_a_paused_workflow_holds_what_starts_until_it_is_resumed(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.post("/workflows", definition())
        running = (await api.post("/executions", {"workflow": "order", "wait": "10s"})).json
        paused = await api.post("/workflows/order/pause", {"reason": "The shop is closed"})
        held = (await api.post("/executions", {"workflow": "order"})).json
        too = await api.post("/workflows/order/pause", {"running": True})
        await until_seq(api.engine, running["id"], running["last_seq"] + 1)
        listed = (await api.get("/workflows")).json["items"][0]
        resumed = await api.post("/workflows/order/resume")
        entries = await acts(api)

    assert running["status"] == "paused", "for a person, that is"
    assert (paused.status, paused.json["state"], paused.json["reason"]) == (200, "paused", "The shop is closed")
    assert held["status"] == "paused"
    assert held["paused_reason"] == "The workflow order is paused: The shop is closed"
    assert too.json["executions"] == 1
    assert (listed["state"], listed["state_reason"]) == ("paused", "The shop is closed")
    assert (resumed.status, resumed.json["state"], resumed.json["executions"]) == (200, "active", 2)
    assert [act for act, _ in entries if act.startswith("workflow")] == [
        "workflow.save",
        "workflow.pause",
        "workflow.pause",
        "workflow.resume",
    ]


@pytest.mark.parametrize("role", ["viewer", "approver", "operator"])
async def test_permission_to_read_workflows_does_not_allow_writing(tmp_path: Path, role: str) -> None:
    async with served(tmp_path) as api:
        await api.post("/workflows", definition())
        read = [
            (await api.get(f"/workflows{path}", as_=role)).status
            for path in ("", "/order", "/order/versions", "/order/diff", "/order/graph", "/export")
        ]
        written = [
            (await api.ask(method, f"/workflows{path}", {}, as_=role)).status
            for method, path in (
                ("POST", ""),
                ("PUT", "/order"),
                ("DELETE", "/order"),
                ("POST", "/order/activate"),
                ("POST", "/order/deactivate"),
                ("POST", "/order/pause"),
                ("POST", "/order/resume"),
                ("POST", "/import"),
            )
        ]
        nobody = await api.get("/workflows", as_="")

    assert set(read) == {200}
    assert set(written) == {403}
    assert (nobody.status, nobody.code) == (401, "unauthenticated")
