"""Rewinds that have their turn after something else: what was set meanwhile is taken back as well."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover import Engine, Settings
from tests.runtime.harness import address_in, flow, form

pytestmark = pytest.mark.usefixtures("each_database")


async def test_a_rewind_behind_an_answer_in_the_queue_takes_back_what_the_answer_leads_to(tmp_path: Path) -> None:
    set_it: dict[str, object] = {"id": "mark", "type": "set", "values": {"paid": True}}
    definition = flow(form("ask", schema={}), set_it, form("more", schema={}), variables={"paid": False})
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(definition)
        started = await engine.start("flow", until="people", timeout="60s")
    async with Engine(address_in(tmp_path), settings=Settings(act_wait="1ms"), drive=False) as operator:
        execution = await operator.execution(started.id)
        await execution.answer("ask", {})
        await execution.rewind("ask")
    async with Engine(address_in(tmp_path)) as engine:
        execution = await engine.execution(started.id)
        events = []
        async for event in execution.events():
            events += [event.type] * (event.type in ("VariableSet", "NodeRewound"))
            if event.type == "NodeRewound":
                break
        await execution.refresh()
        entries = await execution.resume_queue().all()
    assert events == ["VariableSet", "NodeRewound"]
    assert execution.info.variables == {"paid": False}
    assert [(one.context_id, one.status) for one in entries] == [("ask", "completed")]
