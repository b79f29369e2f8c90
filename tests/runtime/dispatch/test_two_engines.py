"""Two engines on one file: each execution is driven by one of them, and either can be asked about it."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.nodes.context import NodeContext  # noqa: TC001 - a registry reads the annotations of functions
from tests.runtime.harness import Held, Scripted, call, delay, end, engine_at, flow, form, until, until_status

pytestmark = pytest.mark.usefixtures("each_database")


async def test_each_call_is_made_once_by_whichever_instance(tmp_path: Path) -> None:
    made: Counter[str] = Counter()

    async def work(context: NodeContext) -> None:
        made[context.idempotency_key] += 1

    definition = flow(call("a"), delay(duration="1ms"), call("b"))
    async with engine_at(tmp_path, work) as one, engine_at(tmp_path, work) as two:
        await one.workflows.register(definition)
        started = [await (one if n % 2 else two).executions.start("flow") for n in range(40)]
        for n, execution in enumerate(started):
            assert (await (two if n % 2 else one).executions.wait(execution.id)).status == "completed"
    assert len(made) == 80
    assert set(made.values()) == {1}


async def test_what_one_has_no_room_for_the_other_drives(tmp_path: Path) -> None:
    full, free = Held(), Held()
    async with engine_at(tmp_path, full, executions=1) as one, engine_at(tmp_path, free) as two:
        await one.workflows.register(flow(call("a")))
        await one.executions.start("flow")
        held = await full.begun()
        parked = await one.executions.start("flow")
        (await free.begun()).returns("there")
        assert await one.executions.result(parked.id) == "there"
        assert await two.executions.result(parked.id) == "there"
        held.returns()


async def test_calls_that_one_has_no_place_for_are_made_by_the_other(tmp_path: Path) -> None:
    """One instance drives more executions than it has places for calls; it does not keep the rest from an idle one."""
    full, free = Held(), Scripted("there")
    async with (
        engine_at(tmp_path, full, calls=1, give_back_after=10) as one,
        engine_at(tmp_path, free, calls=60) as two,
    ):
        await one.workflows.register(flow(call("a")))
        first = await one.executions.start("flow")
        held = await full.begun()
        queued = [await one.executions.start("flow") for _ in range(60)]
        assert [await one.executions.result(execution.id) for execution in queued] == ["there"] * 60
        assert len(full.calls) == 1
        held.returns("here")
        assert await two.executions.result(first.id) == "here"
        for execution in queued:
            (node,) = await one.queries.nodes(execution.id)
            assert [attempt.cause for attempt in node.attempts] == ["reached"], "waiting for a place is no attempt"


async def test_what_both_have_no_place_for_is_called_once_as_soon_as_one_has(tmp_path: Path) -> None:
    works = Held(), Held()
    settings = {"calls": 1, "give_back_after": 1}
    async with engine_at(tmp_path, works[0], **settings) as one, engine_at(tmp_path, works[1], **settings) as two:
        await one.workflows.register(flow(call("a")))
        started = [await engine.executions.start("flow") for engine in (one, two) for _ in range(5)]
        begun = [asyncio.create_task(_answer(work)) for work in works]
        for execution in started:
            assert await one.executions.result(execution.id) == "made"
        for task in begun:
            task.cancel()
        assert len(works[0].calls) + len(works[1].calls) == 10


async def _answer(work: Held) -> None:
    while True:
        (await work.begun()).returns("made")


async def test_commands_reach_the_engine_that_drives(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as driving, engine_at(tmp_path, Held()) as asking:
        await driving.workflows.register(flow(call("a"), call("b"), end("${nodes.b}")))
        started = await driving.executions.start("flow")
        running = await work.begun()
        assert (await asking.control.pause(started.id, "from afar")).status == "pausing"
        running.returns()
        await until_status(asking, started.id, "paused")
        await driving.instance.store.queries.find_execution(started.id)
        cancelled = await driving.executions.start("flow")
        stopped = await work.begun()
        assert (await asking.control.cancel(cancelled.id)).status == "cancelled"
        await stopped.cancelled.wait()


async def test_an_answer_given_to_one_is_applied_by_either(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as one, engine_at(tmp_path) as two:
        await one.workflows.register(flow(form(), end("${nodes.ask.n}")))
        started = [await one.executions.start("flow", wait="rest") for _ in range(10)]
        for n, execution in enumerate(started):
            (row,) = await two.points.list(execution.id)
            await two.answers.answer(row.point.id, {"n": n}, by="ann")
        assert [await one.executions.result(execution.id) for execution in started] == list(range(10))


async def test_the_same_answer_to_both_is_taken_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as one, engine_at(tmp_path) as two:
        await one.workflows.register(flow(form(), end("${nodes.ask.n}")))
        started = await one.executions.start("flow", wait="rest")
        (row,) = await one.points.list(started.id)
        answers = [engine.answers.answer(row.point.id, {"n": 1}, by="ann", key="k") for engine in (one, two, one, two)]
        taken = await asyncio.gather(*answers)
        assert sorted(answer.repeated for answer in taken) == [False, True, True, True]
        assert await two.executions.result(started.id) == 1


async def test_a_key_begins_one_execution_on_both(tmp_path: Path) -> None:
    work = Scripted("well")
    async with engine_at(tmp_path, work) as one, engine_at(tmp_path, work) as two:
        await one.workflows.register(flow(call("a")))
        starts = [
            engine.executions.start("flow", key="k", on_conflict="return", wait="end") for engine in (one, two) * 5
        ]
        found = await asyncio.gather(*starts)
        assert len({execution.id for execution in found}) == 1
        assert len(work.calls) == 1


async def test_a_stopping_instance_leaves_its_work_to_the_other(tmp_path: Path) -> None:
    leaving, staying = Held(), Held()
    async with engine_at(tmp_path, staying) as two:
        async with engine_at(tmp_path, leaving) as one:
            await one.workflows.register(flow(call("a")))
            started = await one.executions.start("flow")
            await leaving.begun()
            await one.stop(grace=0)
        again = await staying.begun()
        assert again.context.attempt == 2
        again.returns("taken over")
        assert await two.executions.result(started.id) == "taken over"
        head = await until(two, started.id, lambda head: head.owner is None)
        assert head.takeovers == 0  # it was given back, not lost
