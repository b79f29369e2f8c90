"""Rewinds and forks of executions that a trigger has started: no input is taken or started once more for them."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from layover import Engine
from tests.runtime.harness import address_in, form

pytestmark = pytest.mark.usefixtures("each_database")

DEFINITION: dict[str, Any] = {
    "name": "tick",
    "nodes": [
        {"id": "see", "type": "compute", "output": "${trigger.name}", "next": "ask"},
        form("ask", schema={}),
    ],
    "triggers": [{"name": "often", "type": "schedule", "every": "24h"}],
}


async def test_a_rewind_and_a_fork_keep_the_trigger_and_give_it_no_input(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(DEFINITION)
        trigger = await engine.trigger("tick/often")
        await trigger.fire({"x": 1}, id="once")
        (started,) = [one async for one in engine.executions(workflow="tick")]
        execution = await engine.execution(started.id)
        await execution.wait("people", timeout="60s")
        inputs = await trigger.inputs().all()
        await trigger.refresh()
        due = trigger.next_at

        await execution.rewind("see")
        await execution.wait("people", timeout="60s")
        fork = await execution.fork("see")
        await fork.wait("people", timeout="60s")
        other = await execution.fork("see", input={"x": 2})
        await other.wait("people", timeout="60s")
        again = await trigger.fire({"x": 1}, id="once")  # the same input as before

        await trigger.refresh()
        assert await trigger.inputs().all() == inputs
        assert len(inputs) == 1
        assert trigger.next_at == due
        all_ = [one async for one in engine.executions(workflow="tick")]
    assert {one.id for one in all_} == {execution.id, fork.id, other.id}
    assert again.execution_id == execution.id
    assert execution.trigger is not None
    assert execution.trigger == fork.trigger == other.trigger
    assert execution.input == fork.input != other.input
