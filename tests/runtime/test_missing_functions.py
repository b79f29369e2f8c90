"""Node types for which an engine has no function: the execution waits, no attempt is spent, and nothing is lost."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from tests.runtime.harness import HandWound, Held, Scripted, call, end, engine_at, engine_on, fan_out, flow, look, until

FLOW = flow(call("a"), call("b", "other"), end(["${nodes.a}", "${nodes.b}"]))
MINUTE = 60_000


async def test_an_execution_waits_for_an_engine_that_has_the_function(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), Scripted(1)) as engine:
        await engine.register(FLOW)
        started = await engine.start("flow")
        await until(engine, started.id, lambda head: head.owner is None)
        assert (await engine.get(started.id)).status == "running"
        last_seq = (await engine.get(started.id)).last_seq
        for _ in range(3):  # it is looked at again and again, and nothing is written about it
            clock.skip(engine, 2 * MINUTE)
            await until(engine, started.id, lambda head: head.owner is None and (head.wake_at or 0) > clock.now)
        assert (await engine.get(started.id)).last_seq == last_seq
    other = Scripted(2, name="other")
    async with engine_on(clock.store(tmp_path), Scripted(1), other) as engine:
        clock.skip(engine, 2 * MINUTE)
        assert await engine.result(started.id) == [1, 2]
        assert [one.attempt for one in other.calls] == [1]


async def test_it_takes_nobodys_place(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1), executions=1, calls=1) as engine:
        await engine.register(flow(fan_out(call("b", "other")), name="stranded"))
        await engine.register(flow(call("a")))
        for _ in range(3):
            await engine.start("stranded", [1, 2])
        assert (await engine.start("flow", wait="end")).output == 1


async def test_what_can_be_run_is_run_meanwhile(tmp_path: Path) -> None:
    work = Held()
    branches = [{"id": "one", "body": [call("a")]}, {"id": "two", "body": [call("b", "other")]}]
    async with engine_at(tmp_path, work) as engine:
        await engine.register(flow({"id": "both", "type": "parallel", "branches": branches}))
        started = await engine.start("flow")
        (await work.begun()).returns()
        await until(engine, started.id, lambda head: head.owner is None)
        found = {one.context_id: one.status for one in await engine.nodes(started.id)}
        assert (found["a:both.one"], found["b:both.two"]) == ("completed", "queued")


async def test_it_can_be_held_and_ended_like_any_other(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.register(FLOW)
        started = await engine.start("flow")
        assert (await engine.pause(started.id)).status == "paused"
        assert (await engine.resume(started.id)).status == "running"
        look(engine)
        assert (await engine.cancel(started.id)).status == "cancelled"
