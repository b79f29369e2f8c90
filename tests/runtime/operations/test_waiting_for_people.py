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
            await engine.register(flow(node))
            started = await engine.start("flow", wait="people")
            assert started.status == "paused"
            assert await engine.wait(started.id, "people") == started


async def test_it_is_over_when_the_execution_is(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.register(flow(end(1)))
        started = await engine.start("flow", wait="people")
        assert (started.status, started.output) == ("completed", 1)


async def test_it_is_over_when_an_operator_holds_it(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.register(flow(call("a")))
        started = await engine.start("flow")
        running = await work.begun()
        waiting = asyncio.create_task(engine.wait(started.id, "people"))
        await engine.pause(started.id)
        running.returns()
        assert (await waiting).status == "paused"


async def test_time_is_waited_for(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.register(flow(delay(), form()))
        waiting = asyncio.create_task(engine.start("flow", key="k", wait="people"))
        while not await engine.list(status=["waiting"]):
            pass
        assert not waiting.done()
        clock.skip(engine, HOUR)
        assert (await waiting).status == "paused"


async def test_machines_are_waited_for(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.register(flow(end(1), name="other"))
        await engine.register(flow(child("a", "other"), {"id": "b", "type": "wait_signal", "signal": "paid"}, form()))
        started = await engine.start("flow")
        waiting = asyncio.create_task(engine.wait(started.id, "people"))
        while not [row for row in await engine.points(started.id) if row.point.kind == "signal"]:
            pass
        assert not waiting.done()
        await engine.deliver("paid")
        assert (await waiting).status == "paused"


async def test_it_is_over_when_there_is_a_response_for_whoever_started_it(tmp_path: Path) -> None:
    signal: dict[str, object] = {"id": "b", "type": "wait_signal", "signal": "paid", "response": {"n": "${nodes.rest}"}}
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.register(flow(delay(), signal))
        started = await engine.start("flow")
        await until_status(engine, started.id, "waiting")
        waiting = asyncio.create_task(engine.wait(started.id, "people"))
        clock.skip(engine, HOUR)
        assert [one.kind for one in (await waiting).waiting_on] == ["signal"]
        assert (await engine.start("flow", id=started.id, on_conflict="return", wait="people")).id == started.id
