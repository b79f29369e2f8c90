"""Durable by the leg: what nobody outside can see is written together with the next thing that somebody can."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.ports.commit_points import CommitPoint, watch
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import (
    Held,
    Scripted,
    call,
    end,
    engine_at,
    flow,
    form,
    until_seq,
    until_status,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.runtime.runtime import Runtime


BY_LEG = {"durability": "leg"}
NEVER = 10**9


@contextmanager
def commits() -> Iterator[list[CommitPoint]]:
    """Keep every commit of appends that is made meanwhile."""
    found: list[CommitPoint] = []

    def note(point: CommitPoint) -> None:
        if point is CommitPoint.APPEND_COMMITTED:
            found.append(point)

    watch(note)
    try:
        yield found
    finally:
        watch(None)


async def kinds(engine: Runtime, execution_id: str) -> list[type[ev.DomainEvent]]:
    return [type(one.event) for one in await engine.queries.history(execution_id)]


@pytest.mark.parametrize(("durability", "written"), [("step", 6), ("leg", 2)])
async def test_a_leg_is_written_when_it_begins_and_when_it_ends(tmp_path: Path, durability: str, written: int) -> None:
    async with engine_at(tmp_path, Scripted(1)) as engine:
        nodes = [call(name) for name in "abcde"]
        await engine.workflows.register(flow(*nodes, settings={"durability": durability}))
        with commits() as made:
            done = await engine.executions.start("flow", wait="end")
        assert (done.status, done.output, len(made)) == ("completed", 1, written)
        assert (await kinds(engine, done.id)).count(ev.NodeCompleted) == 5
        assert await violations(engine.instance.store) == []


async def test_the_log_says_the_same_either_way(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1)) as engine:
        logs = []
        for durability in ("step", "leg"):
            nodes = [call("a"), form(), call("b"), end("${nodes.b}")]
            await engine.workflows.register(flow(*nodes, name=durability, settings={"durability": durability}))
            started = await engine.executions.start(durability, wait="rest")
            (row,) = await engine.points.list(started.id)
            await engine.answers.answer(row.point.id, {})
            await engine.executions.wait(started.id)
            logs.append(await kinds(engine, started.id))
        assert logs[0] == logs[1]


async def test_a_pause_point_is_seen_with_all_that_leads_to_it(tmp_path: Path) -> None:
    work = Scripted(1)
    async with engine_at(tmp_path, work, leg_flush=NEVER) as engine:
        await engine.workflows.register(flow(call("a"), call("b"), form(), settings=BY_LEG))
        started = await engine.executions.start("flow", wait="rest")
        assert len(await engine.points.list(started.id)) == 1
        assert (await kinds(engine, started.id)).count(ev.NodeCompleted) == 2


async def test_a_command_is_written_behind_what_was_done_before_it(tmp_path: Path) -> None:
    first, second = Scripted(1, name="first"), Held("second")
    async with engine_at(tmp_path, first, second, leg_flush=NEVER) as engine:
        await engine.workflows.register(
            flow(call("a", "first"), call("b", "first"), call("c", "second"), call("d", "first"), settings=BY_LEG)
        )
        started = await engine.executions.start("flow")
        running = await second.begun()
        assert ev.NodeCompleted not in await kinds(engine, started.id)
        pausing = await engine.control.pause(started.id)
        assert pausing.status == "pausing"
        log = await kinds(engine, started.id)
        assert log.count(ev.NodeCompleted) == 2
        assert log[-1] is ev.ExecutionPausing
        running.returns(1)
        await until_status(engine, started.id, "paused")
        assert len(first.calls) == 2
        await engine.control.resume(started.id)
        assert (await engine.executions.wait(started.id)).status == "completed"
        assert await violations(engine.instance.store) == []


async def test_what_waits_is_written_after_a_while(tmp_path: Path) -> None:
    first, second = Scripted(1, name="first"), Held("second")
    async with engine_at(tmp_path, first, second, leg_flush=1) as engine:
        await engine.workflows.register(flow(call("a", "first"), call("b", "second"), settings=BY_LEG))
        started = await engine.executions.start("flow")
        running = await second.begun()
        before = started.last_seq
        await until_seq(engine, started.id, before + 1)
        assert ev.NodeCompleted in await kinds(engine, started.id)
        running.returns(1)
        assert (await engine.executions.wait(started.id)).status == "completed"
        assert await violations(engine.instance.store) == []


async def test_what_a_function_records_is_durable_at_once(tmp_path: Path) -> None:
    seen: list[list[type[ev.DomainEvent]]] = []

    async def work(context: NodeContext) -> object:
        value = await context.once("key", lambda: 7)
        seen.append(await kinds(engine, context.execution_id))
        return value

    async with engine_at(tmp_path, Scripted(1, name="first"), work, leg_flush=NEVER) as engine:
        await engine.workflows.register(flow(call("a", "first"), call("b", "work"), settings=BY_LEG))
        done = await engine.executions.start("flow", wait="end")
        assert done.output == 7
        assert seen[0][-1] is ev.NodeRecorded
        assert ev.NodeCompleted in seen[0]


async def test_an_engine_that_stops_writes_what_waits(tmp_path: Path) -> None:
    first, second = Scripted(1, name="first"), Held("second")
    async with engine_at(tmp_path, first, second, leg_flush=NEVER, grace=0) as engine:
        await engine.workflows.register(flow(call("a", "first"), call("b", "second"), settings=BY_LEG))
        started = await engine.executions.start("flow")
        await second.begun()
    async with engine_at(tmp_path, first, second, leg_flush=NEVER) as engine:
        again = await second.begun()
        assert again.context.attempt == 2
        again.returns(1)
        assert (await engine.executions.wait(started.id)).status == "completed"
        assert len(first.calls) == 1
        assert await violations(engine.instance.store) == []
