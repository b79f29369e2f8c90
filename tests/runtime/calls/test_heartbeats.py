"""A function that has to give signs of life and gives none is given up."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.errors import ExecutionFailed
from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from layover.nodes.heartbeat import Heartbeat
from tests.runtime.harness import Held, call, end, engine_at, flow

if TYPE_CHECKING:
    from collections.abc import Callable

SILENT = flow(call("a", heartbeat="20ms", next={"error": "badly"}), end("${errors.a}", "badly"))


async def test_a_call_without_a_sign_of_life_is_cancelled_and_fails(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", heartbeat="20ms")))
        started = await engine.executions.start("flow")
        running = await work.begun()
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(started.id)
        assert (failed.value.error.code, failed.value.error.retryable) == ("heartbeat_timeout", True)
        assert "20ms" in failed.value.error.message
        await running.cancelled.wait()


async def test_a_thread_without_a_sign_of_life_is_left_behind(tmp_path: Path) -> None:
    let_go, over = threading.Event(), threading.Event()

    def work() -> str:
        let_go.wait(10)
        over.set()
        return "late"

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(SILENT)
        done = await engine.executions.start("flow", wait="end")
        let_go.set()
        await asyncio.to_thread(over.wait, 10)
        assert isinstance(done.output, dict)
        assert done.output["code"] == "heartbeat_timeout"
        assert (await engine.queries.get(done.id)).last_seq == done.last_seq


async def test_a_silent_call_is_tried_again_and_its_place_is_free(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> int:
        if context.attempt == 1:
            await asyncio.Event().wait()
        return context.attempt

    async with engine_at(tmp_path, work, calls=1) as engine:
        await engine.workflows.register(flow(call("a", heartbeat="20ms", retry={"max_attempts": 2, "delay": "1ms"})))
        assert (await engine.executions.start("flow", wait="end")).output == 2
        assert engine.instance.node_runner.out == 0


@pytest.mark.parametrize("kind", ["async", "sync"])
@pytest.mark.parametrize("sign", ["heartbeat", "checkpoint"])
async def test_signs_of_life_keep_a_call_alive(tmp_path: Path, sign: str, kind: str) -> None:
    beaten = list[float]()

    async def work_async(context: NodeContext) -> str:
        for _ in range(3):
            await asyncio.sleep(0)
            if sign == "heartbeat":
                context.heartbeat()
            else:
                await context.checkpoint(1)
            note(context.execution_id)
        return "alive"

    def work_sync(context: SyncNodeContext) -> str:
        for _ in range(3):
            if sign == "heartbeat":
                context.heartbeat()
            else:
                context.checkpoint(1)
            note(context.execution_id)
        return "alive"

    def note(execution_id: str) -> None:
        (out,) = engine.instance.driver.active[execution_id].calls.values()
        assert out.heartbeat is not None
        assert out.heartbeat.beaten is not None
        beaten.append(out.heartbeat.beaten)

    work: Callable[..., object] = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", heartbeat="1h")))
        assert (await engine.executions.start("flow", wait="end")).output == "alive"
        assert beaten == sorted(set(beaten))


def looking() -> int:
    """Return how many pulses are being looked at."""
    timers = getattr(asyncio.get_running_loop(), "_scheduled")  # noqa: B009 - the only place where timers can be seen
    callbacks = [timer._callback for timer in timers if not timer.cancelled()]  # noqa: SLF001 - as above
    return sum(isinstance(getattr(callback, "__self__", None), Heartbeat) for callback in callbacks)


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_nothing_looks_at_a_call_that_is_over(tmp_path: Path, kind: str) -> None:
    async def work_async() -> int:
        return looking()

    def work_sync() -> str:
        return "over"

    work: Callable[..., object] = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", heartbeat="1h")))
        assert (await engine.executions.start("flow", wait="end")).output in (1, "over")
        assert looking() == 0


async def test_a_beat_where_none_is_asked_for_costs_nothing(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> str:
        context.heartbeat()
        return "fine"

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        assert (await engine.executions.start("flow", wait="end")).output == "fine"


async def test_a_call_that_waits_for_a_thread_is_not_silent(tmp_path: Path) -> None:
    let_go, begun = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def hog() -> None:
        loop.call_soon_threadsafe(begun.set)
        let_go.wait(10)

    def work() -> str:
        return "well"

    async def hangs() -> None:
        await asyncio.Event().wait()

    async with engine_at(tmp_path, hog, work, hangs, threads=1) as engine:
        await engine.workflows.register(flow(call("h", "hog"), name="hogs"))
        await engine.workflows.register(flow(call("a", heartbeat="20ms")))
        await engine.workflows.register(flow(call("s", "hangs", heartbeat="20ms"), name="measure"))
        await engine.executions.start("hogs")
        await begun.wait()
        waiting = await engine.executions.start("flow")
        await engine.executions.start(
            "measure", wait="end"
        )  # as long as the other has been waiting for its thread, at least
        let_go.set()
        assert await engine.executions.result(waiting.id) == "well"
