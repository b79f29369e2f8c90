"""Waiting until an execution needs somebody: what time and machines have to do first is waited for."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    approval,
    call,
    child,
    delay,
    end,
    engine_at,
    engine_on,
    flow,
    form,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")


async def test_it_is_over_when_a_person_is_awaited(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        for node in (form(), approval()):
            await engine.workflows.register(flow(node))
            started = await engine.executions.start("flow", wait="people")
            assert started.status == "paused"
            assert await engine.executions.wait(started.id, "people") == started


async def test_it_is_over_when_the_execution_is(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        started = await engine.executions.start("flow", wait="people")
        assert (started.status, started.output) == ("completed", 1)


async def test_it_is_over_when_an_operator_holds_it(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        waiting = asyncio.create_task(engine.executions.wait(started.id, "people"))
        await engine.control.pause(started.id)
        running.returns()
        assert (await waiting).status == "paused"


async def test_time_is_waited_for(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(delay(), form()))
        waiting = asyncio.create_task(engine.executions.start("flow", key="k", wait="people"))
        while not await engine.lists.list(status=["waiting"]):
            pass
        assert not waiting.done()
        clock.skip(engine, HOUR)
        assert (await waiting).status == "paused"


async def test_machines_are_waited_for(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1), name="other"))
        await engine.workflows.register(
            flow(child("a", "other"), {"id": "b", "type": "wait_signal", "signal": "paid"}, form())
        )
        started = await engine.executions.start("flow")
        waiting = asyncio.create_task(engine.executions.wait(started.id, "people"))
        while not [row for row in await engine.points.list(started.id) if row.point.kind == "signal"]:
            pass
        assert not waiting.done()
        await engine.signals.deliver("paid")
        assert (await waiting).status == "paused"


async def test_waiting_for_people_ends_with_a_response_for_the_caller(tmp_path: Path) -> None:
    signal: dict[str, object] = {"id": "b", "type": "wait_signal", "signal": "paid", "response": {"n": "${nodes.rest}"}}
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(delay(), signal))
        started = await engine.executions.start("flow")
        await until_status(engine, started.id, "waiting")
        waiting = asyncio.create_task(engine.executions.wait(started.id, "people"))
        clock.skip(engine, HOUR)
        assert [one.kind for one in (await waiting).waiting_on] == ["signal"]
        assert (
            await engine.executions.start("flow", id=started.id, on_conflict="return", wait="people")
        ).id == started.id
