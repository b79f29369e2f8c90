"""Acts on executions that no instance drives, and by users who may not read them."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.api.settings import ApiSettings
from tests.api.acting import acts, resting
from tests.api.harness import served
from tests.runtime.harness import (
    call,
    delay,
    end,
    flow,
    form,
    until,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")


UNDRIVEN = ApiSettings(rate_limit=None, act_wait=0)


@pytest.mark.parametrize(("act", "status"), [("pause", "paused"), ("cancel", "cancelled")])
async def test_what_nothing_drives_is_answered_as_it_is_and_takes_the_act_later(
    tmp_path: Path, act: str, status: str
) -> None:
    async with served(tmp_path) as api:
        resting_id = (await resting(api, flow(delay(), end(1))))["id"]
    async with served(tmp_path, settings=UNDRIVEN, executions=0) as api:
        answered = await api.post(f"/executions/{resting_id}/{act}", as_="mia:operator")
        assert (answered.status, answered.json["status"]) == (200, "waiting")
        assert await acts(api, resting_id) == [("mia", f"execution.{act}", resting_id)]
    async with served(tmp_path) as api:
        await until_status(api.engine, resting_id, status)


async def test_what_waits_for_a_function_takes_an_act_at_once(tmp_path: Path) -> None:
    patient = ApiSettings(rate_limit=None, act_wait=3_600)
    async with served(tmp_path, settings=patient) as api:
        await api.engine.workflows.register(flow(call("a", "nowhere")))
        started = await api.engine.executions.start("flow")
        await until(api.engine, started.id, lambda head: bool(head.missing))
        paused = await api.post(f"/executions/{started.id}/pause")
        cancelled = await api.post(f"/executions/{started.id}/cancel")

        assert (paused.status, paused.json["status"]) == (200, "paused")
        assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")


async def test_a_point_of_what_nothing_drives_is_open_until_something_does(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        found = await resting(api, flow(form(), end(1)))
    path = f"/api/resume/flow/{found['id']}/ask"
    async with served(tmp_path, settings=UNDRIVEN, executions=0) as api:
        answered = await api.delete(path, as_="operator")
        assert (answered.status, answered.json["status"]) == (200, "open")
    async with served(tmp_path) as api:
        await until_status(api.engine, found["id"], "failed")
        assert (await api.delete(path)).code == "point_closed"


async def test_a_waiting_act_without_a_worker_is_answered_when_the_server_stops(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        resting_id = (await resting(api, flow(delay(), end(1))))["id"]
    patient = ApiSettings(rate_limit=None, act_wait=3_600)
    async with served(tmp_path, settings=patient, executions=0) as api:
        await api.key_of("operator")
        asking = asyncio.get_running_loop().create_task(api.post(f"/executions/{resting_id}/pause", as_="operator"))
        await until(api.engine, resting_id, lambda head: head.commands_seq == 1)
        api.services.stopping.set()
        answered = await asking
        assert (answered.status, answered.json["status"]) == (200, "waiting")


async def test_an_act_without_permission_to_read_returns_no_data_of_the_execution(tmp_path: Path) -> None:
    only_acts = "ben:operator/execution:cancel"
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form(), end("done")))
        secret = {"secret": 1}
        started = await api.post(
            "/executions", {"workflow": "flow", "input": secret, "wait": "60s"}, as_="mia:operator"
        )
        path = f"/executions/{started.json['id']}"
        paused = await api.post(f"{path}/pause", as_=only_acts)
        resumed = await api.post(f"{path}/resume", {"resume_data": {"secret": 2}}, as_="mia:operator/execution:cancel")
        read = await api.post(f"{path}/pause", as_="ben:operator")

    assert (paused.status, paused.json["status"], paused.json["input"]) == (200, "paused", None)
    assert b"secret" not in paused.body
    assert (resumed.json["input"], resumed.json["variables"]) == (secret, {"secret": 2})
    assert read.json["input"] == secret


async def test_a_cancel_without_permission_to_read_returns_no_data_of_the_point(tmp_path: Path) -> None:
    only_acts = "ben:operator/execution:cancel"
    async with served(tmp_path) as api:
        asks = form(response={"secret": "${input.secret}"})
        await api.engine.workflows.register(flow(asks, end("done")))
        first, second, third = [(await resting(api, given={"secret": 1}))["points"]["ask"] for _ in range(3)]
        cancelled = await api.post(f"/pause-points/{first}/cancel", as_=only_acts)
        answered = await api.post(f"/pause-points/{second}/answer", {"data": {"secret": 2}}, as_="mia:operator")
        late = await api.post(f"/pause-points/{second}/cancel", as_=only_acts)
        read = await api.post(f"/pause-points/{third}/cancel", as_="ben:operator")

    assert (cancelled.status, cancelled.json["status"], cancelled.json["response"]) == (200, "cancelled", None)
    assert answered.status == 201
    assert (late.code, late.json["winner"]["by"], late.json["winner"]["answer"]) == ("already_answered", "mia", None)
    assert read.json["response"] == {"secret": 1}


async def test_a_pause_is_given_an_end_and_loses_it(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form("ask"), end("done"), settings={"max_pause": "30d"}))
        started = await api.engine.executions.start("flow", wait="rest")
        path = f"/executions/{started.id}"
        early = await api.post(f"{path}/resume", {"cron": "@daily"}, as_="mia:operator")
        assert (early.status, early.json["code"]) == (409, "wrong_state")
        paused = await api.post(f"{path}/pause", {"until_cron": "0 8 * * MON", "zone": "Europe/Berlin"})
        assert paused.json["resume_at"] is not None
        moved = await api.post(f"{path}/resume", {"cron": "@daily"}, as_="mia:operator")
        assert moved.json["resume_at"].endswith("T00:00:00.000Z")
        why = await api.get(f"{path}/why")
        assert "goes on by itself" in why.json["summary"]
        waits = await api.post(f"{path}/resume", {"on": {"signal": "paid", "key": "k"}}, as_="mia:operator")
        assert waits.json["resume_on"] == {"signal": "paid", "key": "k", "filter": ""}
        assert waits.json["resume_at"] is None
        cleared = await api.delete(f"{path}/resume", as_="mia:operator")
        assert (cleared.status, cleared.json["resume_at"], cleared.json["status"]) == (200, None, "paused")
        assert [act for _, act, _ in await acts(api, started.id)] == [
            "execution.pause",
            "execution.schedule_resume",
            "execution.schedule_resume",
            "execution.schedule_resume",
        ]


async def test_a_pause_ends_with_a_signal(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form("ask"), end("done")))
        started = await api.engine.executions.start("flow", wait="rest")
        paused = await api.post(f"/executions/{started.id}/pause", {"resume_on": {"signal": "paid"}})
        assert paused.json["resume_on"] == {"signal": "paid", "key": "", "filter": ""}
        told = await api.post("/signals", {"name": "paid"})
        assert told.json["matched"] == [started.id]
        resumed = await api.engine.instance.listeners.until(started.id, lambda head: head.commands_done == 2)
        assert resumed is not None
        found = await api.get(f"/executions/{started.id}")
        assert (found.json["resume_on"], found.json["resume_count"]) == (None, 1)


@pytest.mark.parametrize(
    ("act", "body", "code"),
    [
        ("pause", {"until": "2999-01-01T00:00:00Z"}, "beyond_max_pause"),
        ("pause", {"until": "tomorrow"}, "invalid_body"),
        ("pause", {"until": "2026-01-01T00:00:00"}, "invalid_body"),
        ("pause", {"until": "2026-01-01T00:00:00Z", "until_cron": "@daily"}, "invalid_body"),
        ("pause", {"until_cron": "0 0 30 2 *"}, "invalid_body"),
        ("pause", {"until_cron": "@daily", "zone": "Europe/Bielefeld"}, "invalid_body"),
        ("pause", {"zone": "Europe/Berlin"}, "invalid_body"),
        ("resume", {"at": "2999-01-01T00:00:00Z"}, "beyond_max_pause"),
        ("resume", {"cron": "@daily", "approved": True}, "invalid_body"),
        ("pause", {"resume_on": {"signal": ""}}, "invalid_body"),
        ("pause", {"resume_on": {"key": "k"}}, "invalid_body"),
        ("pause", {"resume_on": {"signal": "paid", "keys": "k"}}, "invalid_body"),
        ("pause", {"resume_on": {"signal": "paid"}, "until_cron": "@daily"}, "invalid_body"),
        ("pause", {"resume_on": {"signal": "paid"}, "zone": "Europe/Berlin"}, "invalid_body"),
        ("resume", {"on": {"signal": "paid", "filter": "signal.dota"}}, "invalid_body"),
        ("resume", {"on": {"signal": "paid", "filter": "x" * 1_001}}, "invalid_body"),
        ("resume", {"on": {"signal": "paid"}, "resume_data": {"n": 1}}, "invalid_body"),
    ],
)
async def test_an_end_of_a_pause_that_cannot_be_is_refused(
    tmp_path: Path, act: str, body: dict[str, object], code: str
) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form("ask"), end("done"), settings={"max_pause": "30d"}))
        started = await api.engine.executions.start("flow", wait="rest")
        if act == "resume":
            await api.post(f"/executions/{started.id}/pause")
        refused = await api.post(f"/executions/{started.id}/{act}", body)
        assert (refused.status, refused.json["code"]) == (422, code)
