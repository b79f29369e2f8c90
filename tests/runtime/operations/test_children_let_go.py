"""A child that its own operator lets go while its parent is being paused: it has answered, and is not waited for."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from layover.core.ids import child_id
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import Held, call, child, delay, engine_at, flow, until, until_child, until_status


async def test_a_parent_does_not_wait_for_it_to_be_paused_again(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(delay(), name="naps"))
        await engine.workflows.register(flow(call("w"), name="works"))
        begin = {"id": "begin", "type": "compute", "output": 1, "next": ["a", "b"]}
        await engine.workflows.register(flow(begin, child("a", "naps") | {"next": None}, child("b", "works")))
        parent = (await engine.executions.start("flow")).id
        naps = await until_child(engine, child_id(parent, "a", 1), "waiting")
        running = await work.begun()
        await engine.control.pause(parent)
        await until(engine, parent, lambda head: head.commands_done == 2)  # the one that naps is paused
        await engine.control.resume(naps, by="its own operator")
        await until(engine, parent, lambda head: head.commands_done == 3)
        assert await violations(engine.instance.store) == []
        running.returns()
        await until_status(engine, child_id(parent, "b", 1), "paused")
        head = await until(engine, parent, lambda head: head.commands_done == 4)
        assert head.status == "paused"
