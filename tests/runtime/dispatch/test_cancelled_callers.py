"""A caller that is cancelled gives up waiting and nothing else: no execution is left owned and driven by nobody."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtime.harness import Between, Refused, Scripted, call, end, engine_on, flow, form, until

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from layover.ports.records import Claim, Claims, Reserved

pytestmark = pytest.mark.usefixtures("each_database")

OWN = "0190a1b2-0000-7000-8000-000000000001"
YEAR = 365 * 24 * 3_600_000


class Stalling(Between):
    """A store whose reply to one call comes when the test lets it, long after the database has done its work."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.stalls = ""
        self.done = asyncio.Event()
        self.go = asyncio.Event()

    async def _replied(self, name: str, work: Coroutine[Any, Any, Any]) -> Any:
        reply = await work
        await self._stall(name)
        return reply

    async def _stall(self, name: str) -> None:
        if name == self.stalls:
            self.stalls = ""
            self.done.set()
            await self.go.wait()

    async def answers_reserve(self, *given: Any) -> Reserved | Refused:
        return await self._replied("answer", self.store.answers.reserve(*given))  # type: ignore[no-any-return]

    async def claims_claim(self, claim: Claim) -> Claims:
        named = "claim" if claim.execution_id is not None else "look"
        return await self._replied(named, self.store.claims.claim(claim))  # type: ignore[no-any-return]

    async def queries_load(self, ids: Any) -> Any:
        return await self._replied("load", self.store.queries.load(ids))

    async def appends_commit(self, appends: Any) -> Any:
        await self._stall("commit")  # nothing is written yet
        return await self.store.appends.commit(appends)

    async def cancels(self, work: Coroutine[Any, Any, Any], at: str) -> None:
        """Cancel who waits for something while a call stalls."""
        self.stalls = at
        waiting = asyncio.ensure_future(work)
        await self.done.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


@pytest.mark.parametrize("at", ["answer", "load"])
async def test_an_answer_whose_caller_was_cancelled_is_acted_upon(tmp_path: Path, at: str) -> None:
    store = Stalling(tmp_path)
    async with engine_on(store, lease_ttl=YEAR, cache_bytes=0) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await store.cancels(engine.answers.answer(row.point.id, {"n": 1}, by="ann"), at)
        store.go.set()
        assert await engine.executions.result(started.id) == 1


async def test_a_retry_whose_caller_was_cancelled_is_acted_upon(tmp_path: Path) -> None:
    store, work = Stalling(tmp_path), Scripted(Refused("no"), "well")
    async with engine_on(store, work, lease_ttl=YEAR) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="end")
        assert started.status == "failed"
        await store.cancels(engine.control.retry(started.id), "claim")
        store.go.set()
        await until(engine, started.id, lambda head: head.status == "completed")


async def test_an_engine_that_stops_gives_back_what_a_cancelled_caller_had_claimed(tmp_path: Path) -> None:
    store = Stalling(tmp_path)
    async with engine_on(store, lease_ttl=YEAR) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await store.cancels(engine.answers.answer(row.point.id, {"n": 1}, by="ann"), "answer")
        store.go.set()
    async with engine_on(Between(tmp_path), lease_ttl=YEAR) as engine:
        assert await engine.executions.result(started.id) == 1


async def test_a_start_whose_caller_was_cancelled_is_waited_for_by_others_under_its_key(tmp_path: Path) -> None:
    store, work = Stalling(tmp_path), Scripted("well")
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.workflows.plan_of("flow")
        store.stalls = "commit"
        first = asyncio.ensure_future(engine.executions.start("flow", key="k"))
        await store.done.wait()
        second = asyncio.ensure_future(engine.executions.start("flow", key="k", on_conflict="return", wait="end"))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        (driven,) = engine.instance.driver.active.values()
        assert not driven.created.done()
        store.go.set()
        assert (await second).output == "well"


async def test_a_held_start_whose_caller_was_cancelled_goes_on_with_its_workflow(tmp_path: Path) -> None:
    store, work = Stalling(tmp_path), Scripted("well")
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.workflow_status.pause("flow")
        await engine.workflows.plan_of("flow")
        await store.cancels(engine.executions.start("flow", id=OWN), "commit")
        await engine.workflow_status.resume("flow")  # which finds nothing to resume: the execution does not exist yet
        store.go.set()
        while await store.queries.find_execution(OWN) is None:
            pass  # its creation is on its way
        assert await engine.executions.result(OWN) == "well"
