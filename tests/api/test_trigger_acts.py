"""Acts on triggers that come again, because their server died before it answered, are done once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from layover.core.ids import trigger_id
from tests.api.harness import UNLIMITED, served
from tests.runtime.harness import end, flow

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.harness import Answered, Api

pytestmark = pytest.mark.usefixtures("each_database")

FORGETFUL = replace(UNLIMITED, reply_kept=0.0)  # as if no answer had been kept
OFTEN: dict[str, Any] = {"name": "often", "type": "schedule", "every": "1h", "input": "${trigger.data.nothing}"}
ID = trigger_id("tick", "often")


async def twice(api: Api, path: str, body: object = None) -> tuple[Answered, Answered]:
    first = await api.ask("POST", f"/triggers/{ID}{path}", body or {}, key=f"key of {path}")
    second = await api.ask("POST", f"/triggers/{ID}{path}", body or {}, key=f"key of {path}")
    assert "idempotency-replayed" not in second.headers
    return first, second


async def test_an_act_whose_answer_was_lost_is_answered_when_it_comes_again(tmp_path: Path) -> None:
    async with served(tmp_path, settings=FORGETFUL) as api:
        await api.engine.workflows.register({**flow(end("done"), name="tick"), "triggers": [OFTEN]})
        await api.post(f"/triggers/{ID}/pause")
        for input_id in ("one", "two"):
            await api.post(f"/triggers/{ID}/fire", {"data": {}, "id": input_id})
        for path, field in (
            ("/resume", "state"),
            ("/pause", "state"),
            ("/inputs/one/replay", "input_id"),
            ("/inputs/two/discard", "state"),
        ):
            first, second = await twice(api, path)
            assert (first.status, second.status) == (200, 200), path
            assert first.json[field] == second.json[field]


async def test_firing_and_backfilling_once_more_start_once_for_each_key(tmp_path: Path) -> None:
    async with served(tmp_path, settings=FORGETFUL) as api:
        trigger = {**OFTEN, "input": {}, "overlap": "allow"}
        await api.engine.workflows.register({**flow(end("done"), name="tick"), "triggers": [trigger]})
        first, second = await twice(api, "/fire")
        assert first.json == second.json
        span = {"from": "2020-01-01T00:00", "to": "2020-01-01T02:00", "again": True}
        first, second = await twice(api, "/backfill", span)
        assert first.json == second.json
        inputs = (await api.get(f"/triggers/{ID}/inputs")).json["items"]
        assert len(inputs) == 3


async def test_a_trigger_that_was_made_is_answered_without_its_address(tmp_path: Path) -> None:
    async with served(tmp_path, settings=FORGETFUL) as api:
        await api.engine.workflows.register(flow(end("done"), name="tick"))
        body = {"workflow": "tick", "name": "often", "type": "webhook", "verify": {"scheme": "token"}}
        made = [await api.ask("POST", "/triggers", body, key="made") for _ in range(2)]
        assert [one.status for one in made] == [201, 201]
        assert [one.json["address"] is None for one in made] == [False, True]
        other = await api.ask("POST", "/triggers", body, key="another")
        assert (other.status, other.json["code"]) == (409, "trigger_path_conflict")
