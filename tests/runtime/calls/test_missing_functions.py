"""Node types for which an engine has no function: the execution waits, no attempt is spent, and nothing is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Literal

import pytest

from layover.core.moments import Moment
from layover.errors import MissingFunctions
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    Scripted,
    call,
    delay,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    look,
    until,
)

FLOW = flow(call("a"), call("b", "other"), end(["${nodes.a}", "${nodes.b}"]))


async def test_an_execution_waits_for_an_engine_that_has_the_function(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), Scripted(1)) as engine:
        await engine.workflows.register(FLOW)
        await engine.workflows.register(flow(call("a"), name="sound"))
        started = await engine.executions.start("flow")
        rested = await until(engine, started.id, lambda head: head.owner is None)
        assert (rested.status, rested.wake_at, rested.missing) == ("waiting", None, ("other",))
        assert (await engine.queries.get(started.id)).status == "waiting"
        assert await violations(engine.instance.store) == []
        told = await engine.queries.why(started.id)
        for _ in range(3):
            clock.skip(engine, HOUR)
            await engine.executions.start("sound", wait="end")
            assert await until(engine, started.id, lambda _: True) == rested, "somebody claimed it in vain"
        assert await engine.queries.why(started.id) == told
    other = Scripted(2, name="other")
    async with engine_on(clock.store(tmp_path), Scripted(1), other) as engine:
        assert await engine.executions.result(started.id) == [1, 2]
        assert [one.attempt for one in other.calls] == [1]


async def test_why_says_which_type_is_missing_and_since_when(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), Scripted(1)) as engine:
        await engine.workflows.register(flow(call("a"), {**call("b", "other"), "next": "c"}, call("c", "third")))
        clock.skip(engine, HOUR)
        started = await engine.executions.start("flow")
        await until(engine, started.id, lambda head: head.owner is None)
        since = (await engine.queries.history(started.id))[-1].at
        (reason,) = (await engine.queries.why(started.id)).reasons
        assert (reason.kind, reason.context_id, reason.since) == ("function", "b", Moment.of(since))
        assert reason.text == "`b` waits for an instance that has a function for `other`."
        clock.skip(engine, HOUR)
        await engine.control.pause(started.id)
        await engine.control.resume(started.id)
        await until(engine, started.id, lambda head: head.owner is None and bool(head.missing))
        (reason,) = (await engine.queries.why(started.id)).reasons
        assert reason.since is not None


async def test_an_instance_with_the_function_claims_it_at_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1)) as one:
        await one.workflows.register(FLOW)
        started = [await one.executions.start("flow") for _ in range(5)]
        for execution in started:
            await until(one, execution.id, lambda head: bool(head.missing))
        async with engine_at(tmp_path, Scripted(2, name="other")) as two:
            for execution in started:
                assert await two.executions.result(execution.id) == [1, 2]


async def test_one_execution_moves_between_instances_that_have_its_functions(tmp_path: Path) -> None:
    definition = flow(call("a"), call("b", "other"), call("c"), call("d", "other"))
    here, there = Scripted("here"), Scripted("there", name="other")
    async with engine_at(tmp_path, here) as one, engine_at(tmp_path, there) as two:
        await one.workflows.register(definition)
        started = [await (one if n % 2 else two).executions.start("flow") for n in range(6)]
        for execution in started:
            assert await one.executions.result(execution.id) == "there"
            assert [found.attempt for found in await one.queries.nodes(execution.id)] == [1, 1, 1, 1]
        assert (len(here.calls), len(there.calls)) == (12, 12)
        assert await violations(one.instance.store) == []


async def test_a_call_that_was_out_when_its_engine_left_waits_for_another_that_has_the_function(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await work.begun()
        await engine.stop(grace=0)
    async with engine_at(tmp_path) as engine:
        head = await until(engine, started.id, lambda head: head.owner is None and bool(head.missing))
        assert (head.missing, head.wake_at) == (("work",), None)
        (reason,) = (await engine.queries.why(started.id)).reasons
        assert (reason.kind, reason.since is not None) == ("function", True)
    async with engine_at(tmp_path, work) as engine:
        again = await work.begun()
        assert again.context.attempt == 2
        again.returns("well")
        assert await engine.executions.result(started.id) == "well"


async def test_an_execution_begun_without_room_has_a_time_since_which_it_misses_functions(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1), executions=0) as full, engine_at(tmp_path) as other:
        await full.workflows.register(flow(call("a")))
        started = await full.executions.start("flow")
        head = await until(other, started.id, lambda head: head.owner is None and bool(head.missing))
        assert head.missing_since is not None
        assert head.missing_since >= started.created_at.milliseconds


async def test_timers_come_due_meanwhile(tmp_path: Path) -> None:
    clock = HandWound()
    branches = [
        {"id": "one", "body": [call("a", "other")]},
        {"id": "two", "body": [{**delay(), "next": "c"}, call("c")]},
    ]
    here = Scripted(1)
    async with engine_on(clock.store(tmp_path), here) as engine:
        await engine.workflows.register(
            flow({"id": "both", "type": "parallel", "branches": branches}, settings={"timeout": "3h"})
        )
        started = await engine.executions.start("flow")
        rested = await until(engine, started.id, lambda head: head.owner is None)
        assert rested.wake_at is not None
        clock.skip(engine, HOUR + 1_000)
        head = await until(engine, started.id, lambda head: head.owner is None and head.last_seq > rested.last_seq)
        assert len(here.calls) == 1
        assert (head.missing, head.missing_since) == (("other",), rested.missing_since)
        clock.skip(engine, 3 * HOUR)
        assert (await engine.executions.wait(started.id)).status == "failed"
        assert (await until(engine, started.id, lambda _: True)).missing == ()


async def test_executions_without_functions_take_no_slot_from_others(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1), executions=1, calls=1) as engine:
        await engine.workflows.register(flow(fan_out(call("b", "other")), name="stranded"))
        await engine.workflows.register(flow(call("a")))
        for _ in range(3):
            await engine.executions.start("stranded", [1, 2])
        assert (await engine.executions.start("flow", wait="end")).output == 1


async def test_what_can_be_run_is_run_meanwhile(tmp_path: Path) -> None:
    work = Held()
    branches = [{"id": "one", "body": [call("a")]}, {"id": "two", "body": [call("b", "other")]}]
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow({"id": "both", "type": "parallel", "branches": branches}))
        started = await engine.executions.start("flow")
        (await work.begun()).returns()
        await until(engine, started.id, lambda head: head.owner is None)
        found = {one.context_id: one.status for one in await engine.queries.nodes(started.id)}
        assert (found["a:both.one"], found["b:both.two"]) == ("completed", "queued")


async def test_what_only_waits_for_a_place_is_not_missing(tmp_path: Path) -> None:
    work = Held()
    branches = [{"id": "one", "body": [call("a")]}, {"id": "two", "body": [call("b", "other")]}]
    async with engine_at(tmp_path, work, calls=1) as engine:
        await engine.workflows.register(flow(call("a"), name="first"))
        await engine.workflows.register(flow({"id": "both", "type": "parallel", "branches": branches}))
        await engine.executions.start("first")
        running = await work.begun()
        started = await engine.executions.start("flow")
        head = await until(engine, started.id, lambda head: head.last_seq > 0)
        assert (head.owner, head.missing) == (engine.instance.id, ())
        running.returns()
        (await work.begun()).returns()
        head = await until(engine, started.id, lambda head: head.owner is None)
        assert (head.missing, head.epoch) == (("other",), 1)


async def test_it_can_be_held_and_ended_like_any_other(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        assert (await engine.control.pause(started.id)).status == "paused"
        assert (await engine.control.resume(started.id)).status == "waiting"
        look(engine)
        assert (await engine.control.cancel(started.id)).status == "cancelled"


@pytest.mark.parametrize("wait", ["end", "people"])
async def test_a_waiting_caller_gets_the_names_of_missing_functions(
    tmp_path: Path, wait: Literal["end", "people"]
) -> None:
    async with engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(FLOW)
        with pytest.raises(MissingFunctions) as told:
            await engine.executions.start("flow", wait=wait)
        assert told.value.types == ("other",)
        assert "`other`" in told.value.message
        id_ = told.value.execution_id
        assert (await engine.executions.wait(id_, "rest")).status == "waiting"
        for asked in (engine.executions.wait(id_, wait), engine.executions.result(id_)):
            with pytest.raises(MissingFunctions):
                await asked
    async with engine_at(tmp_path, Scripted(1), Scripted(2, name="other")) as engine:
        assert await engine.executions.result(id_) == [1, 2]


async def test_where_another_instance_runs_it_is_waited_for(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1)) as one, engine_at(tmp_path, Scripted(1)) as two:
        await one.workflows.register(FLOW)
        started = await one.executions.start("flow", wait="rest")
        waiting = asyncio.create_task(one.executions.result(started.id))
        await until(one, started.id, lambda head: bool(head.missing) and head.owner is None)
        two.instance.registry.add(Scripted(2, name="other"))
        assert await waiting == [1, 2]
