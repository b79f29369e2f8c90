"""Calls that take too long are stopped, and what they say afterwards is not heard."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.errors import ExecutionFailed
from tests.runtime.harness import Held, call, end, engine_at, flow


async def test_a_call_that_takes_too_long_is_cancelled_and_fails(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", timeout="30ms")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(started.id)
        assert failed.value.error.code == "timeout"
        await running.cancelled.wait()


async def test_a_late_result_is_ignored(tmp_path: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # it cleans up, and then pretends that nothing was
        ended.set()
        return "late"

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(
            flow(call("a", timeout="30ms", next={"error": "badly"}), end("${errors.a.code}", "badly"))
        )
        done = await engine.executions.start("flow", wait="end")
        assert begun.is_set()
        await ended.wait()
        assert done.output == "timeout"
        assert await engine.queries.get(done.id) == done


async def test_a_call_that_took_too_long_is_retried_and_only_the_new_result_counts(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", timeout="200ms", retry={"max_attempts": 5, "delay": "1ms"})))
        started = await engine.executions.start("flow")
        first = await work.begun()
        await first.cancelled.wait()
        second = await work.begun()
        second.returns(f"attempt {second.context.attempt}")
        assert await engine.executions.result(started.id) == "attempt 2"


async def test_a_function_in_a_thread_is_abandoned_and_its_result_ignored(tmp_path: Path) -> None:
    let_go, over = threading.Event(), threading.Event()

    def work() -> str:
        let_go.wait(10)
        over.set()
        return "late"

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(
            flow(call("a", timeout="30ms", next={"error": "badly"}), end("${errors.a.code}", "badly"))
        )
        done = await engine.executions.start("flow", wait="end")
        let_go.set()
        await asyncio.to_thread(over.wait, 10)
        assert done.output == "timeout"
        assert (await engine.queries.get(done.id)).last_seq == done.last_seq


async def test_the_time_of_an_execution_ends_it_although_a_call_is_out(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), settings={"timeout": "50ms"}))
        started = await engine.executions.start("flow")
        running = await work.begun()
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(started.id)
        assert failed.value.error.code == "timeout"
        await running.cancelled.wait()
