from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.harness import listening, served
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("each_database")


async def test_a_live_server_says_so_to_every_caller(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        answered = await api.get("/healthz", as_="")

    assert answered.status == 200
    assert answered.json["status"] == "ok"
    assert answered.headers["x-content-type-options"] == "nosniff"


async def test_what_is_not_there_is_a_problem(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        answered = await api.get("/nothing", as_="")
        other = await api.post("/healthz", as_="")

    assert (answered.status, answered.code) == (404, "not_found")
    assert (other.status, other.code, other.headers["allow"]) == (405, "method_not_allowed", "GET, HEAD")


async def test_readiness_tells_what_is_there(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        answered = await api.get("/readyz", as_="")

    assert answered.status == 200
    assert answered.json["status"] == "ready"
    assert {name: check["ok"] for name, check in answered.json["checks"].items()} == {
        "database": True,
        "migrations": True,
        "worker": True,
    }


async def test_a_server_whose_engine_has_stopped_is_not_ready(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, listening(engine) as api:
        await engine.stop()
        answered = await api.get("/readyz", as_="")
        alive = await api.get("/healthz", as_="")

    assert (answered.status, answered.json["status"], alive.status) == (503, "not_ready", 200)
    assert answered.json["checks"] == {"server": {"ok": False, "detail": "It is stopping."}}


async def test_metrics_are_open_on_this_machine_and_need_permission_to_read_from_elsewhere(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register("name: ask\nnodes: [{id: a, type: form, schema: {type: object}}]")
        for _ in range(3):
            await api.engine.executions.start("ask", wait="rest")
        here = await api.get("/metrics", as_="")
        passed_on = await api.get("/metrics", as_="", headers={"x-forwarded-for": "10.1.2.3"})
        reader = await api.get("/metrics", as_="viewer", headers={"x-forwarded-for": "10.1.2.3"})
        other = await api.get("/metrics", as_="someone:manager", headers={"x-forwarded-for": "10.1.2.3"})

    numbers = dict(line.rsplit(" ", 1) for line in here.body.decode().splitlines() if not line.startswith("#"))
    assert (here.status, reader.status) == (200, 200)
    assert (passed_on.status, other.status) == (401, 403)
    assert numbers['layover_executions{status="paused"}'] == "3.0"
    assert float(numbers["layover_oldest_pause_age_seconds"]) >= 0
    assert float(numbers["layover_commit_batch_size_count"]) > 0
    for name in (
        "workflow_executions_paused_total",
        "workflow_executions_resumed_total",
        "workflow_executions_resume_errors_total",
        "workflow_resumer_worker_cycle_duration_seconds_count",
        "workflow_executions_pause_duration_seconds_count",
    ):
        assert name in numbers


async def test_what_people_do_shows_in_the_numbers(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register("name: ask\nnodes: [{id: a, type: form, schema: {type: object}}]")
        execution = await api.engine.executions.start("ask", wait="rest")
        (point,) = await api.engine.points.list(execution.id)
        await api.post(f"/pause-points/{point.point.id}/answer", {"data": 1})
        await api.post(f"/pause-points/{point.point.id}/answer", {"data": {}})
        await api.engine.executions.wait(execution.id)
        await api.get("/healthz", as_="")
        answered = await api.get("/metrics")

    numbers = dict(line.rsplit(" ", 1) for line in answered.body.decode().splitlines() if not line.startswith("#"))
    assert numbers["workflow_executions_paused_total"] == "1.0"
    assert numbers["workflow_executions_resumed_total"] == "1.0"
    assert numbers["workflow_executions_resume_errors_total"] == "1.0"
    assert numbers["workflow_executions_pause_duration_seconds_count"] == "1.0"
    assert numbers["layover_resume_latency_seconds_count"] == "1.0"
    assert numbers['layover_executions_started_total{workflow="ask"}'] == "1.0"
    assert numbers['layover_executions_closed_total{workflow="ask",status="completed",outcome="executed"}'] == "1.0"
    route = 'method="POST",route="/api/v1/pause-points/{id}/answer"'
    assert numbers[f'layover_http_request_duration_seconds_count{{{route},status="2xx"}}'] == "1.0"
    assert numbers[f'layover_http_request_duration_seconds_count{{{route},status="4xx"}}'] == "1.0"
