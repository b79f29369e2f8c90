"""Stopping: calls may come to their end, what is left is given back, and the next engine goes on with it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from layover.core.engine.events import LegStarted
from tests.runtime.harness import Held, Scripted, call, delay, end, engine_at, fan_out, flow, form


async def test_the_result_of_a_call_within_the_grace_period_counts(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), call("b"), end(["${nodes.a}", "${nodes.b}"])))
        started = await engine.executions.start("flow")
        running = await work.begun()
        stopping = asyncio.create_task(engine.stop(grace=10))
        await asyncio.sleep(0)
        running.returns("heard")
        await stopping
    again = Scripted("next")
    async with engine_at(tmp_path, again) as engine:
        assert await engine.executions.result(started.id) == ["heard", "next"]
        assert [(one.context_id, one.attempt) for one in again.calls] == [("b", 1)]


async def test_a_call_that_does_not_end_is_made_again_by_the_next_engine(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        stuck = await work.begun()
        await engine.stop(grace=0)
        assert stuck.cancelled.is_set()
    again = Scripted("well")
    async with engine_at(tmp_path, again) as engine:
        assert await engine.executions.result(started.id) == "well"
        (node,) = await engine.queries.nodes(started.id)
        assert [(one.attempt, one.cause) for one in node.attempts] == [(1, "reached"), (2, "recovered")]


async def test_a_call_that_answers_to_being_stopped_with_an_error_has_not_failed(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionError("the connection was closed") from None

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await begun.wait()
        await engine.stop(grace=0)
    async with engine_at(tmp_path, Scripted("well")) as engine:
        assert await engine.executions.result(started.id) == "well"


async def test_a_function_in_a_thread_that_does_not_end_does_not_hold_up_the_stop(tmp_path: Path) -> None:
    begun, let_go = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        let_go.wait(15)

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await asyncio.to_thread(begun.wait, 10)
        await engine.stop(grace=0)
    assert not let_go.is_set()
    async with engine_at(tmp_path, Scripted("well")) as engine:
        assert await engine.executions.result(started.id) == "well"
    let_go.set()


async def test_a_function_that_does_not_listen_does_not_hold_up_the_stop(tmp_path: Path) -> None:
    begun, let_go, over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> str:
        begun.set()
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        over.set()
        return "nobody hears it"

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await begun.wait()
        await engine.stop(grace=0)
    let_go.set()
    await over.wait()
    async with engine_at(tmp_path, Scripted("well")) as engine:
        assert await engine.executions.result(started.id) == "well"


async def test_nodes_that_wait_for_a_place_are_given_back_without_an_attempt(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, calls=1) as engine:
        await engine.workflows.register(flow(fan_out(call("a")), end("${nodes.each}")))
        started = await engine.executions.start("flow", [0, 1, 2])
        running = await work.begun()
        stopping = asyncio.create_task(engine.stop(grace=10))
        await asyncio.sleep(0)
        running.returns("first")
        await stopping
    again = Scripted("later")
    async with engine_at(tmp_path, again) as engine:
        assert await engine.executions.result(started.id) == ["first", "later", "later"]
        assert [one.attempt for one in again.calls] == [1, 1]
        nodes = [one for one in await engine.queries.nodes(started.id) if one.node == "a"]
        assert [[attempt.cause for attempt in one.attempts] for one in nodes] == [["reached"]] * 3


async def test_a_stopping_instance_claims_no_more(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, executions=1) as engine:
        await engine.workflows.register(flow(call("a"), call("b")))
        first = await engine.executions.start("flow")
        running = await work.begun()
        parked = [await engine.executions.start("flow") for _ in range(3)]
        stopping = asyncio.create_task(engine.stop(grace=10))
        await asyncio.sleep(0)
        running.returns()
        await stopping
        assert len(work.calls) == 1
    async with engine_at(tmp_path, executions=0) as engine:
        for one in (first, *parked):
            legs = [entry for entry in await engine.queries.history(one.id) if isinstance(entry.event, LegStarted)]
            assert len(legs) == 1
            row = await engine.instance.store.queries.find_execution(one.id)
            assert row is not None
            assert row.head.owner is None
    async with engine_at(tmp_path, Scripted("well")) as engine:
        for one in (first, *parked):
            assert await engine.executions.result(one.id) == "well"


async def test_what_rests_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), delay(duration="20ms"), end("${nodes.ask.n}")))
        started = await engine.executions.start("flow", wait="rest")
    async with engine_at(tmp_path) as engine:
        assert await engine.queries.get(started.id) == started
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {"n": 1}, by="ann")
    async with engine_at(tmp_path) as engine:
        assert await engine.executions.result(started.id) == 1


async def test_stopping_twice_or_unopened_does_nothing(tmp_path: Path) -> None:
    engine = engine_at(tmp_path)
    await engine.stop()
    async with engine:
        await engine.stop()
        await engine.stop()
