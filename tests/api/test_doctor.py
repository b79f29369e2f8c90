"""The doctor of a running server: what it finds, for admins, bounded in time and given again for a while."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from layover.ports.errors import StoreUnavailable
from layover.runtime.examination import examiner, executions
from tests.api.harness import served
from tests.runtime.harness import approval, flow

if TYPE_CHECKING:
    from pathlib import Path

    from layover.model.diagnosis import Finding
    from tests.api.harness import Answered

pytestmark = pytest.mark.usefixtures("each_database")


def found(answered: Answered, what: str) -> dict[str, Any]:
    (one,) = [one for one in answered.json["findings"] if one["what"] == what]
    return dict(one)


async def test_a_server_tells_how_it_and_its_database_are(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(approval(), name="asking"))
        await api.post("/executions", {"workflow": "asking", "input": {}, "wait": "10s"})
        answered = await api.get("/doctor")
        refused = await api.get("/doctor", as_="operator")
        name = api.engine.instance.id

    assert (answered.status, refused.status) == (200, 403)
    whats = {one["what"] for one in answered.json["findings"]}
    assert whats >= {"python", "clock", "durability", "database", "instances", "queue", "retention", "outbox"}
    assert found(answered, "database")["text"] == "opens; executions: 1 paused"
    assert found(answered, "instances") == {
        "what": "instances",
        "health": "ok",
        "text": f"1 instance alive: {name}",
        "hint": "",
    }
    assert answered.json["ok"] is True
    assert all(one["hint"] for one in answered.json["findings"] if one["health"] != "ok")


async def test_what_is_wrong_comes_with_what_to_do(tmp_path: Path) -> None:
    async with served(tmp_path, allow_secrets={"*": ("*",)}) as api:
        await api.engine.workflows.register(flow(approval(), name="secret", secrets=["NOWHERE"]))
        answered = await api.get("/doctor")

    assert found(answered, "secret NOWHERE")["health"] == "warning"
    assert "LAYOVER_SECRET_NOWHERE" in found(answered, "secret NOWHERE")["hint"]


async def test_many_who_ask_cost_one_examination_and_the_next_is_made_when_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(lease: int) -> list[Finding]:
        made.append(lease)
        return []

    monkeypatch.setattr(examiner, "judge_lease", counted)
    async with served(tmp_path) as api:
        api.engine.operations.examiner.fresh = 1_000_000
        answers = await asyncio.gather(*(api.get("/doctor") for _ in range(5)))
        assert len(made) == 1
        api.engine.operations.examiner.fresh = 0
        await api.get("/doctor")

    assert len(made) == 2
    assert all(one.json == answers[0].json for one in answers)


async def test_what_takes_too_long_is_told_and_not_waited_for(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        api.engine.operations.examiner.longest = 0.0
        answered = await api.get("/doctor")

    late = [one for one in answered.json["findings"] if "not examined within" in one["text"]]
    assert [one["what"] for one in late] == ["database", "executions", "secrets", "outbox"]
    assert answered.json["ok"] is True


async def test_a_database_that_cannot_be_read_is_a_problem_and_the_rest_is_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path) as api:

        async def away() -> None:
            raise StoreUnavailable("postgresql://me:s3cret@host/x is away.")

        monkeypatch.setattr(api.engine.instance.store.monitoring, "read_vitals", away)
        answered = await api.get("/doctor")

    broken = [one for one in answered.json["findings"] if one["health"] == "problem"]
    assert [one["what"] for one in broken] == ["database"]
    assert "is away" in broken[0]["text"]
    assert "s3cret" not in answered.body.decode()
    assert answered.json["ok"] is False
    assert found(answered, "outbox")["health"] == "ok"


async def test_of_very_many_open_executions_the_newest_are_looked_at_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executions, "_PAGE", 2)
    monkeypatch.setattr(examiner, "_MOST", 4)
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(approval(), name="asking"))
        for _ in range(5):
            await api.post("/executions", {"workflow": "asking", "input": {}, "wait": "10s"})
        answered = await api.get("/doctor")

    told = found(answered, "executions")
    assert (told["health"], told["text"]) == ("warning", "only the newest 4 open ones were looked at")
