"""A pause of a whole workflow that ends by itself: at a moment or with a signal, once, whatever crashes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from layover import ResumeSignal
from layover.errors import InvalidInput, WrongState
from layover.testing import Layover, survives_crashes
from tests.runtime.harness import delay, end, flow

if TYPE_CHECKING:
    from layover import ExecutionHandle

FLOW = flow(delay(duration="1h"), end("done"))


async def resumes(execution: ExecutionHandle) -> int:
    return len([event async for event in execution.history() if event.type == "ExecutionResumed"])


async def test_a_paused_workflow_goes_on_at_its_moment(layover: Layover) -> None:
    workflow = await layover.register(FLOW)
    running = await layover.start("flow")
    until = layover.now + timedelta(hours=8)
    change = await workflow.pause("night", running=True, until=until)
    assert (change.state, change.resume_at, change.executions) == ("paused", until, 1)
    held = await layover.start("flow")
    assert (running.status, held.status) == ("paused", "paused")
    why = await held.why()
    assert f"The workflow goes on by itself at {change.resume_at}" in why.summary
    assert why.reasons[0].until == until
    assert (await workflow.refresh()).resume_at == until
    await layover.skip("7h")
    assert held.status == "paused"
    await layover.skip("1h")
    assert (running.status, held.status) == ("completed", "waiting")
    assert ((await workflow.refresh()).state, workflow.resume_at) == ("active", None)
    await layover.skip("1h")
    assert (held.output, await resumes(held), await resumes(running)) == ("done", 1, 1)
    assert (await layover.start("flow")).status == "waiting"


async def test_a_paused_workflow_goes_on_with_a_signal(layover: Layover) -> None:
    workflow = await layover.register(FLOW)
    await layover.signal("open", 1)
    await workflow.pause("stocktaking", resume_on={"signal": "open", "filter": "signal.data == 1"})
    held = await layover.start("flow")
    assert "goes on by itself when the signal `open` that passes its filter arrives" in (await held.why()).summary
    await layover.signal("open", 2)
    await layover.signal("open", 1, key="other")
    assert (await workflow.refresh()).resume_on == ResumeSignal(signal="open", filter="signal.data == 1")
    await layover.signal("open", 1)
    await layover.signal("open", 1)
    assert (held.status, await resumes(held)) == ("waiting", 1)
    assert (await workflow.refresh()).resume_on is None


async def test_the_end_of_a_pause_is_set_replaced_and_cleared(layover: Layover) -> None:
    workflow = await layover.register({**FLOW, "settings": {"max_pause": "none"}})
    with pytest.raises(WrongState):
        await workflow.resume(cron="@daily")
    with pytest.raises(WrongState):
        await workflow.clear_resume()
    await workflow.pause("night")
    held = await layover.start("flow")
    change = await workflow.resume(cron="0 8 * * MON", zone="Europe/Berlin")
    assert change.resume_at is not None
    assert (change.resume_at.weekday(), change.reason) == (0, "night")
    change = await workflow.pause(resume_on={"signal": "open"})
    assert (change.resume_at, change.resume_on) == (None, ResumeSignal(signal="open"))
    await layover.skip("8d")
    assert held.status == "paused"
    await workflow.clear_resume()
    await layover.signal("open")
    assert held.status == "paused"
    await workflow.resume(at=layover.now + timedelta(days=1))
    await workflow.resume()
    assert held.status == "waiting"
    await workflow.pause("again")
    await layover.skip("2d")
    assert (await workflow.refresh()).state == "paused"


async def test_only_one_end_can_be_given(layover: Layover) -> None:
    workflow = await layover.register(FLOW)
    with pytest.raises(InvalidInput):
        await workflow.pause(until_cron="@daily", resume_on={"signal": "open"})
    with pytest.raises(InvalidInput):
        await workflow.pause(resume_on={"signal": "open", "filter": "input.n == 1"})
    assert (await workflow.refresh()).state == "active"


@survives_crashes
async def test_a_crash_neither_loses_the_end_nor_leaves_an_execution_held(layover: Layover) -> None:
    workflow = await layover.register(FLOW)
    running = await layover.start("flow")
    await workflow.pause("night", running=True, until=layover.now + timedelta(hours=8))
    held = await layover.start("flow")
    await layover.skip("8h")
    await layover.skip("61m")  # after a crash, another engine goes on with the resume a moment later
    assert (running.status, held.status) == ("completed", "completed")
    await workflow.pause("day", resume_on={"signal": "open"})
    late = await layover.start("flow")
    await layover.signal("open", id="once")
    await layover.skip("1m")
    assert (late.status, await resumes(late), (await workflow.refresh()).state) == ("waiting", 1, "active")
