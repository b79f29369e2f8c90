"""Registering: what a definition can be, and that an execution keeps the version it began with."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.plan import load
from layover.errors import LayoverError
from tests.runtime.harness import HandWound, Held, Scripted, call, end, engine_at, engine_on, flow

ONE = flow(call("a"), end("one"))
TWO = flow(call("a"), end("two"))


async def test_a_definition_is_a_mapping_a_text_a_file_or_a_plan(tmp_path: Path) -> None:
    file = tmp_path / "flow.json"
    file.write_text(json.dumps(ONE), encoding="utf-8")
    async with engine_at(tmp_path) as engine:
        versions = [await engine.workflows.register(one) for one in (ONE, json.dumps(ONE), file, load(ONE))]
        assert {(one.workflow, one.number) for one in versions} == {("flow", 1)}


async def test_a_definition_with_problems_is_not_kept(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ONE)
        with pytest.raises(LayoverError):
            await engine.workflows.register(flow(call("a", next="nowhere")))
        assert [one.number for one in await engine.instance.store.definitions.list_versions("flow")] == [1]


async def test_versions_are_counted_and_the_same_definition_is_the_same_version(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        first, again, second = [await engine.workflows.register(one) for one in (ONE, ONE, TWO)]
        assert (first.number, again.number, second.number) == (1, 1, 2)
        assert first.hash == again.hash != second.hash


async def test_a_running_execution_keeps_its_version(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        first = await engine.workflows.register(ONE)
        old = await engine.executions.start("flow")
        running = await work.begun()
        second = await engine.workflows.register(TWO)
        new = await engine.executions.start("flow")
        (await work.begun()).returns()
        running.returns()
        assert await engine.executions.result(old.id) == "one"
        assert await engine.executions.result(new.id) == "two"
        assert (old.hash, new.hash) == (first.hash, second.hash)


async def test_an_execution_keeps_its_version_in_the_next_engine(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(ONE)
        old = await engine.executions.start("flow")
        await work.begun()
        await engine.workflows.register(TWO)
        await engine.stop(grace=0)
    async with engine_at(tmp_path, Scripted(None)) as engine:
        assert await engine.executions.result(old.id) == "one"
        assert (await engine.executions.start("flow", wait="end")).output == "two"


async def test_a_version_that_another_engine_registers_is_used_within_a_second(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted(None)
    async with engine_on(clock.store(tmp_path), work) as here, engine_on(clock.store(tmp_path), work) as there:
        await here.workflows.register(ONE)
        assert (await here.executions.start("flow", wait="end")).output == "one"
        await there.workflows.register(TWO)
        clock.now += 60_000
        here.instance.clock.set(clock.now)
        assert (await here.executions.start("flow", wait="end")).output == "two"
