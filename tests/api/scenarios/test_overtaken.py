"""What somebody asks for is overtaken by what another one does, at the worst moment: nobody is told of what was not."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.harness import listening
from tests.api.scenarios.scene import (
    BEN,
    MIA,
    answer,
    audited,
    execution,
    history,
    output,
    save,
    settled,
    start,
)
from tests.runtime.harness import Between, Scripted, call, end, engine_at, engine_on, flow, form, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.records import Claim, Enqueue

pytestmark = pytest.mark.usefixtures("each_database")


class Overtaken(Between):
    """A store to which something happens just before a command comes, or before an execution is taken up by its id."""

    first: Callable[[], Awaitable[object]] | None = None

    async def _let_happen(self) -> None:
        first, self.first = self.first, None
        if first is not None:
            await first()

    async def commands_enqueue(self, commands: list[Enqueue], *more: Any) -> Any:
        await self._let_happen()
        return await self.store.commands.enqueue(commands, *more)

    async def claims_claim(self, claim: Claim) -> Any:
        if claim.execution_id is not None:
            await self._let_happen()
        return await self.store.claims.claim(claim)


async def test_a_resume_that_comes_second_is_refused_with_what_it_brought(tmp_path: Path) -> None:
    store = Overtaken(tmp_path)
    async with engine_on(store) as engine, listening(engine) as api:
        await save(api, flow(form(schema={}), end("${vars}")))
        started = await start(api)
        path = f"/executions/{started['id']}"
        await api.post(f"{path}/pause", as_=MIA)
        store.first = lambda: api.post(f"{path}/resume", {"resume_data": {"by": "ben"}}, as_=BEN)
        late = await api.post(f"{path}/resume", {"resume_data": {"by": "mia"}}, as_=MIA)
        assert (late.status, late.code, late.json["current_status"]) == (409, "wrong_state", "paused")
        told = await execution(api, started["id"])
        assert (told["resume_count"], told["variables"]) == (1, {"by": "ben"})
        await answer(api, started["pause_points"][0]["id"])
        assert await output(api, started["id"]) == {"by": "ben"}


async def test_a_retry_that_comes_second_is_refused(tmp_path: Path) -> None:
    store = Overtaken(tmp_path)
    async with engine_on(store, Scripted(ValueError("no"), "well")) as engine, listening(engine) as api:
        await save(api, flow(call("a"), end("${nodes.a}")))
        id_ = (await start(api))["id"]

        async def by_ben() -> None:
            assert (await api.post(f"/executions/{id_}/retry", as_=BEN)).status == 200
            assert (await settled(api, id_))["status"] == "completed"
            await until(engine, id_, lambda head: head.owner is None)

        store.first = by_ben
        late = await api.post(f"/executions/{id_}/retry", as_=MIA)
        assert (late.status, late.code, late.json["current_status"]) == (409, "wrong_state", "completed")
        assert await output(api, id_) == "well"
        assert (await history(api, id_)).count(("ExecutionReopened", None)) == 1
        assert await audited(api, id_) == [("mia", "execution.start"), ("ben", "execution.retry")]


async def test_a_rewind_reaches_what_ended_a_moment_before(tmp_path: Path) -> None:
    store = Overtaken(tmp_path)
    async with engine_on(store) as engine, listening(engine) as api:
        await save(api, flow(form(schema={}), end("${nodes.ask}")))
        started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]

        async def by_ben() -> None:
            assert (await answer(api, point["id"], "first", BEN)).status == 201
            assert await output(api, id_) == "first"
            await until(engine, id_, lambda head: head.owner is None)

        store.first = by_ben
        rewound = await api.post(f"/executions/{id_}/rewind", {"to": "ask"}, as_=MIA)
        assert rewound.status == 200, rewound.body
        assert (await settled(api, id_))["status"] == "paused"
        assert (await api.post(f"/api/resume/flow/{id_}/ask", {"input": "second"}, as_=MIA)).status == 202
        assert await output(api, id_) == "second"


@pytest.mark.parametrize("act", ["pause", "cancel"])
async def test_an_act_queued_behind_an_answer_gets_the_state_that_the_answer_led_to(tmp_path: Path, act: str) -> None:
    async with engine_at(tmp_path, executions=0) as asleep, listening(asleep) as api:
        async with engine_at(tmp_path):
            await save(api, flow(form(schema={}), end("${nodes.ask}")))
            started = await start(api)
        id_, (point,) = started["id"], started["pause_points"]
        assert (await answer(api, point["id"], "said")).json["queue_position"] == 1
        acting = asyncio.get_running_loop().create_task(api.post(f"/executions/{id_}/{act}", as_=BEN))
        await until(asleep, id_, lambda head: head.commands_seq == 2)
        async with engine_at(tmp_path):
            done = await acting
            told = await settled(api, id_)
            if done.status == 409:
                assert (done.code, done.json["current_status"]) == ("wrong_state", "completed")
                assert (told["status"], told["output"]) == ("completed", "said")
            else:
                wanted = {"pause": "paused", "cancel": "cancelled"}[act]
                assert (done.status, done.json["status"], told["status"]) == (200, wanted, wanted)
