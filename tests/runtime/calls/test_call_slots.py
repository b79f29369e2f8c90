"""How many calls are made at once, and that nobody has to wait for ever because of somebody else."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import time
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine.codec import decode_events
from layover.core.engine.events import NodeStarted
from tests.runtime.harness import HOUR, Held, Scripted, call, end, engine_at, fan_out, flow, until

pytestmark = pytest.mark.usefixtures("each_database")

EACH = flow(fan_out(call("a", input={"n": "${item}"})))


async def test_no_more_calls_are_made_at_once_than_there_are_places(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, calls=3) as engine:
        await engine.workflows.register(EACH)
        started = await engine.executions.start("flow", list(range(10)))
        running = await work.all_begun(3)
        assert engine.instance.node_runner.out == 3
        for _ in range(7):
            running.pop(0).returns()
            running.append(await work.begun())
            assert engine.instance.node_runner.out <= 3
        for one in running:
            one.returns()
        await engine.executions.wait(started.id)
        assert {one.given["n"] for one in work.calls} == set(range(10))


async def test_a_node_type_can_have_fewer_places(tmp_path: Path) -> None:
    few, many = Held("few"), Held("many")
    branches = [
        {"id": "one", "body": [fan_out(call("a", "few"))]},
        {"id": "two", "body": [fan_out(call("b", "many"))]},
    ]
    async with engine_at(tmp_path, few, many, calls_by_type={"few": 1}) as engine:
        await engine.workflows.register(flow({"id": "both", "type": "parallel", "branches": branches}))
        started = await engine.executions.start("flow", list(range(4)))
        for one in await many.all_begun(4):
            one.returns()
        for n in range(4):
            running = await few.begun()
            assert len(few.calls) == n + 1
            running.returns()
        assert (await engine.executions.wait(started.id)).status == "completed"


async def test_executions_take_turns_for_the_places_of_a_type(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, calls_by_type={"work": 1}) as engine:
        await engine.workflows.register(EACH)
        ids = [(await engine.executions.start("flow", [0, 1, 2])).id for _ in range(3)]
        for _ in range(9):
            (await work.begun()).returns()
        for one in ids:
            await engine.executions.wait(one)
        order = [ids.index(one.context.execution_id) for one in work.calls]
        assert sorted(order[:3]) == [0, 1, 2]


async def test_a_wide_execution_does_not_starve_a_narrow_one(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, calls=2) as engine:
        await engine.workflows.register(EACH)
        wide = await engine.executions.start("flow", list(range(50)))
        running = await work.all_begun(2)
        narrow = await engine.executions.start("flow", ["narrow"])
        while running:
            running.pop(0).returns()
            if len(work.calls) < 51:
                running.append(await work.begun())
        await engine.executions.wait(wide.id)
        await engine.executions.wait(narrow.id)
        place = [one.given["n"] for one in work.calls].index("narrow")
        assert place <= 5


async def test_nodes_that_wait_start_together_when_many_places_become_free(tmp_path: Path) -> None:
    work, count = Held(), 50
    async with engine_at(tmp_path, work, calls=count, poll=HOUR) as engine:
        await engine.workflows.register(EACH)
        first = await engine.executions.start("flow", list(range(count)))
        await work.all_begun(count)
        waiting = [await engine.executions.start("flow", list(range(count // 2))) for _ in range(2)]
        await engine.control.cancel(first.id)
        for one in await work.all_begun(count):
            one.returns()
        for started in waiting:
            assert (await engine.executions.wait(started.id)).status == "completed"
            entries = await engine.instance.store.queries.read_history(started.id, 0, 1_000)
            starting = [
                entry
                for entry in entries
                if any(isinstance(event, NodeStarted) and event.node != "each" for event in decode_events(entry.events))
            ]
            assert 1 <= len(starting) <= 3, "nodes that could start at once were started one by one"


async def test_what_was_given_back_is_taken_up_the_moment_there_is_a_place(tmp_path: Path) -> None:
    """Nothing is looked for by the clock: each execution that found no place is found by the end of another's call."""
    work, count = Held(), 8
    async with engine_at(tmp_path, work, calls=2, poll=HOUR, give_back_after=1) as engine:
        await engine.workflows.register(EACH)
        started = [await engine.executions.start("flow", [0, 1]) for _ in range(count)]
        running = await work.all_begun(2)
        for execution in started[1:]:
            await until(engine, execution.id, lambda head: head.owner is None)
        assert len(work.calls) == 2
        while running:
            running.pop(0).returns()
            if len(work.calls) < 2 * count:
                running.append(await work.begun())
        for execution in started:
            assert (await engine.executions.wait(execution.id)).status == "completed"


async def test_nothing_is_kept_of_executions_that_no_longer_wait(tmp_path: Path) -> None:
    work, patient = Held(), 10 * HOUR
    async with engine_at(tmp_path, work, calls=1, give_back_after=patient) as engine:
        await engine.workflows.register(EACH)
        first = await engine.executions.start("flow", [0])
        running = await work.begun()
        waiting = [await engine.executions.start("flow", [0, 1]) for _ in range(5)]
        assert engine.instance.node_runner.slots.waiting == 5
        for execution in waiting:
            await engine.control.cancel(execution.id)
            await until(engine, execution.id, lambda head: head.owner is None)
        while engine.instance.driver.active.keys() != {first.id}:
            await asyncio.to_thread(bool)
        assert engine.instance.node_runner.slots.waiting == 0
        running.returns()
        await engine.executions.wait(first.id)


async def test_a_line_that_never_ends_does_not_keep_back_what_was_given_back(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, calls=1, poll=HOUR, give_back_after=1) as engine:
        await engine.workflows.register(EACH)
        wide = await engine.executions.start("flow", list(range(50)))
        running = await work.begun()
        narrow = await engine.executions.start("flow", ["narrow"])
        await until(engine, narrow.id, lambda head: head.owner is None)
        while len(work.calls) < 51:
            running.returns()
            running = await work.begun()
        running.returns()
        await engine.executions.wait(wide.id)
        await engine.executions.wait(narrow.id)
        assert [one.given["n"] for one in work.calls].index("narrow") < 40  # and not behind all of the line


async def test_a_failed_decision_gives_its_places_back(tmp_path: Path) -> None:
    """Nodes whose input cannot be worked out take a place and never call."""
    work = Scripted("well")
    async with engine_at(tmp_path, work, calls=1) as engine:
        await engine.workflows.register(flow(call("a", input={"n": "${input.missing.deep}"}), name="bad"))
        await engine.workflows.register(flow(call("a")))
        for _ in range(3):
            assert (await engine.executions.start("bad", {}, wait="end")).status == "failed"
        assert (await engine.executions.start("flow", wait="end")).output == "well"


async def test_cancelled_calls_give_their_places_back(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, calls=1) as engine:
        await engine.workflows.register(flow(call("a")))
        first = await engine.executions.start("flow")
        await work.begun()
        second = await engine.executions.start("flow")
        await engine.control.cancel(first.id)
        (await work.begun()).returns("next")
        assert await engine.executions.result(second.id) == "next"


async def test_functions_that_are_not_async_run_side_by_side_in_threads(tmp_path: Path) -> None:
    together = threading.Barrier(8)

    def work(n: int) -> int:
        together.wait(10)
        assert threading.current_thread() is not threading.main_thread()
        return n

    async with engine_at(tmp_path, work, threads=8) as engine:
        await engine.workflows.register(flow(fan_out(call("a", input={"n": "${item}"})), end("${nodes.each}")))
        assert (await engine.executions.start("flow", list(range(8)), wait="end")).output == list(range(8))


async def test_more_functions_than_threads_all_run(tmp_path: Path) -> None:
    def work(n: int) -> int:
        return n

    async with engine_at(tmp_path, work, threads=2) as engine:
        await engine.workflows.register(flow(fan_out(call("a", input={"n": "${item}"})), end("${nodes.each}")))
        assert (await engine.executions.start("flow", list(range(100)), wait="end")).output == list(range(100))


async def test_context_variables_reach_functions_in_threads(tmp_path: Path) -> None:
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")

    def work() -> str:
        return tenant.get()

    async def work_async() -> str:
        return tenant.get()

    token = tenant.set("acme")
    async with engine_at(tmp_path, work, work_async) as engine:
        tenant.reset(token)
        await engine.workflows.register(flow(call("a"), call("b", "work_async"), end(["${nodes.a}", "${nodes.b}"])))
        done = await engine.executions.start("flow", wait="end")
        assert isinstance(done.output, list)
        assert done.output[0] == done.output[1]


async def test_a_function_that_blocks_the_loop_is_named(tmp_path: Path) -> None:
    named = threading.Event()

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "by=hog" in record.getMessage():
                named.set()

    async def hog() -> bool:
        until = time.monotonic() + 10
        while not named.is_set() and time.monotonic() < until:
            pass  # it holds on to the loop until somebody has noticed
        return named.is_set()

    logger, handler = logging.getLogger("layover.watchdog"), Heard()
    logger.addHandler(handler)
    try:
        async with engine_at(tmp_path, hog, blocked_after=20) as engine:
            await engine.workflows.register(flow(call("a", "hog")))
            assert (await engine.executions.start("flow", wait="end")).output is True
    finally:
        logger.removeHandler(handler)


@pytest.mark.parametrize("executions", [1, 3])
async def test_all_executions_run_however_few_are_driven_at_once(tmp_path: Path, executions: int) -> None:
    async with engine_at(tmp_path, Scripted("well"), executions=executions) as engine:
        await engine.workflows.register(flow(call("a"), call("b")))
        started = await asyncio.gather(*(engine.executions.start("flow") for _ in range(20)))
        results = await asyncio.gather(*(engine.executions.result(one.id) for one in started))
        assert results == ["well"] * 20
