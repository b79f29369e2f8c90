"""A pause that is decided in one step with what would begin calls: none of them begins before somebody resumes."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import commands as cmd
from layover.core.engine.command_codec import encode_command
from layover.core.engine.events import NodeStarted
from layover.ports.records import Enqueue
from tests.runtime.harness import (
    HOUR,
    YEAR,
    Between,
    HandWound,
    Held,
    Refused,
    Scripted,
    call,
    engine_at,
    engine_on,
    flow,
    form,
    until,
    until_status,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Append, Head, Outcome
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")


async def send(engine: Runtime, execution_id: str, *commands: cmd.AnyCommand) -> Head:
    """Put commands into the queue of an execution at once; return its head when it has taken all of them."""
    before = await engine.instance.store.queries.find_execution(execution_id)
    assert before is not None
    written = [encode_command(command) for command in commands]
    await engine.instance.driver.send(
        [Enqueue(execution_id=execution_id, kind=kind, body=body) for kind, body in written]
    )
    return await until_taken(engine, execution_id, before.head.commands_done + len(commands))


async def until_taken(engine: Runtime, execution_id: str, n: int) -> Head:
    return await until(engine, execution_id, lambda head: head.commands_done >= n and head.owner is None)


async def started_nodes(engine: Runtime, execution_id: str) -> list[str]:
    return [one.event.node for one in await engine.queries.history(execution_id) if isinstance(one.event, NodeStarted)]


# Commands of others


async def test_what_a_limit_admits_does_not_begin(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), settings={"concurrency": {"limit": 1}}))
        first, second = [await engine.executions.start("flow") for _ in range(2)]
        assert (await work.begun()).context.execution_id == first.id
        head = await send(engine, second.id, cmd.Admit(), cmd.Pause(reason="audit"))
        assert (head.status, len(work.calls)) == ("paused", 1)
        await engine.control.resume(second.id)
        assert (await work.begun()).context.execution_id == second.id


async def test_what_was_lost_is_not_called_again(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, drain=0) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await work.begun()
        await engine.control.pause(started.id)
        await until_status(engine, started.id, "paused")
        head = await send(engine, started.id, cmd.Resume(), cmd.Pause(reason="not yet"))
        assert (head.status, len(work.calls)) == ("paused", 1)
        await engine.control.resume(started.id)
        assert (await work.begun()).context.attempt == 2


async def test_a_node_that_is_rewound_to_does_not_start_in_the_same_step(tmp_path: Path) -> None:
    work = Scripted("well")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = await engine.executions.start("flow", wait="rest")
        head = await send(engine, started.id, cmd.Rewind(to="a"), cmd.Pause(), cmd.Pause())
        assert (head.status, len(work.calls)) == ("paused", 1)
        await engine.control.resume(started.id)
        await until(engine, started.id, lambda head: head.status == "paused" and len(work.calls) == 2)


async def test_what_begins_after_the_resume_behind_a_pause_begins(tmp_path: Path) -> None:
    work = Scripted("well")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = await engine.executions.start("flow", wait="rest")
        head = await send(engine, started.id, cmd.Pause(), cmd.Rewind(to="a"), cmd.Resume())
        assert head.owner is None
        await until(engine, started.id, lambda _head: len(work.calls) == 2)


# What an instance tells its executions


class Late(Between):
    """A store whose time passes by hand; its reply to the next commit comes when the test lets it."""

    def __init__(self, folder: Path, clock: HandWound) -> None:
        self.store = clock.store(folder)
        self.is_late = False
        self.written = asyncio.Event()
        self.go = asyncio.Event()

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        outcomes = await self.store.appends.commit(appends)
        if self.is_late:
            self.is_late = False
            self.written.set()
            await self.go.wait()
        return outcomes


def side_by_side(**fields: object) -> dict[str, object]:
    """Return a workflow of two calls, one after the other, for each item of its input."""
    body = [{**call("a", next="b"), **fields}, call("b")]
    return flow({"id": "each", "type": "parallel", "for_each": "input", "body": body})


async def pause_in_one_step(engine: Runtime, store: Late, execution_id: str, *told: cmd.AnyCommand) -> None:
    """Have a pause decided together with something, which came before it while a commit was not answered."""
    await store.written.wait()
    engine.instance.driver.active[execution_id].feed(*told)
    pausing = asyncio.ensure_future(engine.control.pause(execution_id))
    while not await engine.instance.store.commands.list_after(execution_id, 0):
        pass  # it is on its way
    store.go.set()
    await pausing


async def test_what_follows_a_call_that_has_returned_does_not_begin(tmp_path: Path) -> None:
    work, store = Held(), Late(tmp_path, HandWound())
    async with engine_on(store, work) as engine:
        await engine.workflows.register(side_by_side())
        started = await engine.executions.start("flow", [0, 1])
        first, second = await work.all_begun(2)
        store.is_late = True
        first.returns()
        told = cmd.Complete(node=second.context.context_id, attempt=1)
        await pause_in_one_step(engine, store, started.id, told)
        begun = first.context.context_id.replace("a:", "b:")
        assert (await started_nodes(engine, started.id))[-1] == begun
        (await work.begun()).returns()
        await until_status(engine, started.id, "paused")
        await engine.control.resume(started.id)
        (await work.begun()).returns()
        assert len(work.calls) == 4


async def test_what_has_waited_for_a_place_does_not_begin(tmp_path: Path) -> None:
    work, store = Held(), Late(tmp_path, HandWound())
    async with engine_on(store, work, calls=1) as engine:
        await engine.workflows.register(side_by_side())
        started = await engine.executions.start("flow", [0, 1])
        first = await work.begun()
        store.is_late = True
        first.returns()
        await pause_in_one_step(engine, store, started.id, cmd.StartQueued(node="a:each.1"))
        assert await started_nodes(engine, started.id) == ["each", "a:each.0"]
        await until_status(engine, started.id, "paused")
        await engine.control.resume(started.id)
        for _ in range(3):
            (await work.begun()).returns()
        assert (await engine.executions.wait(started.id)).status == "completed"


async def test_what_is_tried_again_does_not_begin(tmp_path: Path) -> None:
    clock = HandWound()
    work, store = Held(), Late(tmp_path, clock)
    async with engine_on(store, work, lease_ttl=YEAR) as engine:
        await engine.workflows.register(side_by_side(retry={"max_attempts": 2, "delay": "1h", "jitter": 0}))
        started = await engine.executions.start("flow", [0, 1])
        first, second = await work.all_begun(2)
        first.raises(Refused("not now"))
        store.is_late = True
        await store.written.wait()
        clock.now += 2 * HOUR
        engine.instance.clock.set(clock.now)
        await pause_in_one_step(engine, store, started.id, cmd.Wake())
        assert (await started_nodes(engine, started.id)).count("a:each.0") == 1
        second.returns()
        await until_status(engine, started.id, "paused")
        await engine.control.resume(started.id)
        assert {(await work.begun()).context.context_id for _ in range(2)} == {"a:each.0", "b:each.1"}
