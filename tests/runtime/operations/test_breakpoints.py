"""Breakpoints of executions and of workflows, which every instance obeys; and what a resume may bring."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.errors import InvalidInput, NotFound, WrongState
from layover.runtime.maintenance.verify import violations
from layover.runtime.runtime import Runtime
from layover.stores.memory import MemoryDatabase, MemoryStore
from layover.testing.virtual_time import VirtualClock, VirtualTime
from tests.runtime.harness import Held, Scripted, call, end, engine_at, flow, form, settings_with, until_status

pytestmark = pytest.mark.usefixtures("each_database")

COMPUTES: tuple[dict[str, object], ...] = tuple({"id": name, "type": "compute", "output": 1} for name in "ab")
WAITS = flow({"id": "wait", "type": "wait_signal", "signal": "go"}, *COMPUTES, end("done"))
ASKS = flow(form(), *COMPUTES, end("done"))
CALLS = flow(call("a"), call("b"), end("done"))


async def test_an_execution_pauses_before_the_node_and_calls_nothing_of_it(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(CALLS)
        started = await engine.executions.start("flow")
        running = await work.begun()
        set_ = await engine.control.set_breakpoint(started.id, "b", "look first", by="ann")
        assert (set_.status, set_.breakpoints) == ("running", {"b": "look first"})
        again = await engine.control.set_breakpoint(started.id, "b", "other", by="ben")
        assert again.breakpoints == {"b": "look first"}
        running.returns(1)
        await until_status(engine, started.id, "paused")
        held = await engine.queries.get(started.id)
        assert (held.paused_reason, held.paused_node, held.next_nodes) == ("look first", "b", ("b",))
        assert held.breakpoints == {}
        await engine.control.resume(started.id, by="ann")
        (await work.begun()).returns(2)
        assert (await engine.executions.wait(started.id)).status == "completed"
        assert await violations(engine.instance.store) == []


async def test_what_cannot_be_a_breakpoint_is_refused(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted()) as engine:
        await engine.workflows.register(ASKS)
        started = await engine.executions.start("flow", wait="rest")
        for node in ("nowhere", "ask:nowhere.1", "ask/key", "…"):
            with pytest.raises(NotFound) as refused:
                await engine.control.set_breakpoint(started.id, node)
            assert refused.value.code == "unknown_node"
            with pytest.raises(NotFound):
                await engine.workflow_status.set_breakpoint("flow", node)
        with pytest.raises(NotFound) as nothing:
            await engine.control.clear_breakpoint(started.id, "a")
        assert nothing.value.code == "unknown_breakpoint"
        with pytest.raises(NotFound):
            await engine.workflow_status.clear_breakpoint("flow", "")
        with pytest.raises(NotFound):
            await engine.workflow_status.set_breakpoint("other", "a")
        await engine.control.cancel(started.id)
        with pytest.raises(WrongState):
            await engine.control.set_breakpoint(started.id, "a")


async def test_there_are_a_hundred_breakpoints_at_most(tmp_path: Path) -> None:
    rounds = {"id": "each", "type": "loop", "times": 200, "body": [{"id": "one", "type": "form"}]}
    async with engine_at(tmp_path, Scripted()) as engine:
        await engine.workflows.register(flow(rounds))
        started = await engine.executions.start("flow", wait="rest")
        for number in range(1, 101):
            await engine.control.set_breakpoint(started.id, f"one:each.{number}")
        with pytest.raises(InvalidInput) as refused:
            await engine.control.set_breakpoint(started.id, "one:each.101")
        assert refused.value.code == "too_many_breakpoints"
        cleared = await engine.control.clear_breakpoint(started.id, "")
        assert cleared.breakpoints == {}


async def test_every_execution_of_a_workflow_obeys_its_breakpoint_wherever_it_was_set(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted()) as one, engine_at(tmp_path, Scripted()) as two:
        await one.workflows.register(WAITS)
        before = await one.executions.start("flow", wait="rest")
        status = await one.workflow_status.set_breakpoint("flow", "b", by="ann")
        assert status.breakpoints == {"b": "Executions of flow pause before `b`, as ann has asked"}
        await two.instance.breakpoints.read()  # what its service does once in a while
        after = await two.executions.start("flow", wait="rest")
        await two.signals.deliver("go", id="s")
        for engine, execution in ((two, before), (one, after)):
            await until_status(engine, execution.id, "paused")
            held = await engine.queries.get(execution.id)
            assert (held.paused_node, held.breakpoints) == ("b", {})
        await two.workflow_status.clear_breakpoint("flow", "b")
        for execution in (before, after):
            await one.control.resume(execution.id)
            assert (await two.executions.wait(execution.id)).status == "completed"
        assert await violations(one.instance.store) == []


async def test_breakpoints_outlive_a_pause_of_the_workflow(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(CALLS)
        await engine.workflow_status.set_breakpoint("flow", "b", "look")
        await engine.workflow_status.pause("flow", "night")
        held = await engine.executions.start("flow", wait="rest")
        assert held.paused_reason == "The workflow flow is paused: night"
        change = await engine.workflow_status.resume("flow")
        assert (change.status.state, change.status.breakpoints) == ("active", {"b": "look"})
        (await work.begun()).returns(1)
        await until_status(engine, held.id, "paused")
        assert (await engine.queries.get(held.id)).paused_reason == "look"


async def test_an_instance_that_begins_knows_the_breakpoints(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted()) as engine:
        await engine.workflows.register(flow(*COMPUTES))
        await engine.workflow_status.set_breakpoint("flow", "a", "look")
    async with engine_at(tmp_path, Scripted()) as engine:
        held = await engine.executions.start("flow", wait="rest")
        assert (held.status, held.paused_reason) == ("paused", "look")


async def test_an_instance_reads_the_breakpoints_once_in_a_while() -> None:
    time, reads = VirtualTime(), 0
    store = MemoryStore(MemoryDatabase(time))
    found = store.workflow_status.read_breakpoints

    async def read() -> dict[str, dict[str, str]]:
        nonlocal reads
        reads += 1
        return await found()

    store.workflow_status.read_breakpoints = read  # type: ignore[method-assign]  # counted
    async with Runtime(store, settings=settings_with(poll=1_000), clock=VirtualClock(time)) as engine:
        await some_turns()
        known = reads
        assert known <= 2
        for seconds, more in ((1, 0), (18, 0), (1, 1), (19, 1), (1, 2)):
            time.pass_to(time.now + seconds * 1_000)
            await some_turns()
            assert reads == known + more
        engine.instance.breakpoints.hint()
        await some_turns()
        assert reads == known + 2  # not so soon after the last time
        time.pass_to(time.now + 1_000)
        await some_turns()
        assert reads == known + 3


async def some_turns() -> None:
    for _ in range(100):
        await asyncio.sleep(0)


async def test_another_instance_hears_of_a_breakpoint(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted()) as one, engine_at(tmp_path, Scripted(), poll=500) as two:
        await one.workflows.register(CALLS)
        await one.workflow_status.set_breakpoint("flow", "a", "look")
        while not two.instance.breakpoints.of("flow"):  # noqa: ASYNC110 - a service
            await asyncio.sleep(0)
        assert (await two.executions.start("flow", wait="rest")).paused_reason == "look"


SCHEMA = {"type": "object", "required": ["list"], "properties": {"list": {"type": "string"}}}


async def test_a_resume_brings_what_the_workflow_expects(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted()) as engine:
        await engine.workflows.register({**ASKS, "settings": {"resume_data": SCHEMA}})
        started = await engine.executions.start("flow", wait="rest")
        with pytest.raises(WrongState):  # what does not fit its state is refused as such
            await engine.control.resume(started.id, {"list": 7})
        await engine.control.pause(started.id)
        wrong: tuple[tuple[dict[str, object] | None, str], ...] = (
            ({"list": 7}, "resume_data/list"),
            ({}, "resume_data"),
            (None, "resume_data"),
        )
        for data, place in wrong:
            with pytest.raises(InvalidInput) as refused:
                await engine.control.resume(started.id, data)
            assert (refused.value.code, refused.value.errors[0][0]) == ("invalid_input", place)
        resumed = await engine.control.resume(started.id, {"list": "new"})
        assert resumed.variables == {"list": "new"}
