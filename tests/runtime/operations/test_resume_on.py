"""The signal that ends a pause of an operator, beside other instances and in a queue that is not read yet."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover import Engine
from layover.core.engine.events import ExecutionResumed
from layover.core.resume_waits import PauseEnd, ResumeWait
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import a_moment_later, address_in, delay, end, engine_at, flow, until

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

FLOW = flow(delay(duration="1h"), end("done"))


async def resumes(engine: Runtime, execution_id: str) -> int:
    history = await engine.queries.history(execution_id)
    return len([entry for entry in history if isinstance(entry.event, ExecutionResumed)])


def until_paid(engine: Runtime) -> PauseEnd:
    return PauseEnd(on=ResumeWait(signal="paid", since=engine.instance.clock.now()))


async def test_a_signal_that_comes_before_the_pause_is_applied_ends_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow", wait="rest")
    async with Engine(address_in(tmp_path), drive=False) as operator:
        execution = await operator.execution(started.id)
        await execution.pause("until it is paid", resume_on={"signal": "paid"})
        a_moment_later(operator._runtime)  # type: ignore[arg-type]  # noqa: SLF001 - it has a clock
        assert (await operator.signal("paid", id="s1")).matched == ()  # the execution does not know of its pause yet
    async with engine_at(tmp_path) as engine:
        await until(engine, started.id, lambda head: head.status == "waiting" and head.commands_done == 2)
        assert await resumes(engine, started.id) == 1
        assert await violations(engine.instance.store) == []


async def test_one_of_many_signals_at_once_ends_a_pause(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, engine_at(tmp_path) as other:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow", wait="rest")
        for _ in range(3):
            await engine.control.pause(started.id, "", until_paid(engine))
            a_moment_later(engine)
            await asyncio.gather(*(one.signals.deliver("paid") for one in (engine, other) * 5))
            await until(engine, started.id, lambda head: head.owner is None and head.status == "waiting")
        assert await resumes(engine, started.id) == 3
        assert await engine.instance.store.signals.list_waits("paid", "") == []


async def test_a_signal_beside_the_pause_ends_it_or_comes_before_it(tmp_path: Path) -> None:
    """Whichever is first: none is found twice, and a pause that a signal did not end ends with the next one."""
    async with engine_at(tmp_path) as engine, engine_at(tmp_path) as other:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow", wait="rest")
        for n in range(10):
            pausing = engine.control.pause(started.id, "", until_paid(engine))
            await asyncio.gather(pausing, other.signals.deliver("paid", id=f"beside{n}"))
            a_moment_later(other)
            await other.signals.deliver("paid", id=f"after{n}")
            await until(engine, started.id, lambda head: head.owner is None and head.status == "waiting")
        assert await resumes(engine, started.id) == 10
        assert await violations(engine.instance.store) == []
