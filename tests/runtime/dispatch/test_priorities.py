"""What is more urgent is taken up first; but each second of waiting counts too, so nobody waits for ever."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

from layover.runtime.operations.start_options import Options
from tests.runtime.harness import HandWound, Held, call, engine_on, flow, look

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

FLOW = flow(call("a", input={"n": "${input}"}))


async def _park(engine: Runtime, given: object, priority: int) -> None:
    """Begin an execution where there is no room for it: it is due for whoever has some."""
    engine.instance.clock.set(await engine.instance.store.now())
    await engine.executions.start("flow", given, options=Options(priority=priority))


async def test_what_is_more_urgent_is_taken_up_first(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), executions=0) as full:
        await full.workflows.register(FLOW)
        for priority in (0, 3600, -3600):
            await _park(full, priority, priority)
        clock.now += 1_000
        async with engine_on(clock.store(tmp_path), work, executions=1):
            taken = []
            for _ in range(3):
                running = await work.begun()
                taken.append(running.given["n"])
                running.returns()
    assert taken == [3600, 0, -3600]


async def test_one_of_low_priority_has_its_turn_in_a_flood_of_urgent_ones(tmp_path: Path) -> None:
    clock, work, seconds = HandWound(), Held(), 10
    async with (
        engine_on(clock.store(tmp_path), executions=0) as full,
        engine_on(clock.store(tmp_path), work, executions=1, lease_ttl=10**9) as engine,
    ):
        await full.workflows.register(FLOW)
        await _park(full, "first", 0)
        clock.skip(engine, 1_000)
        running = await work.begun()  # there is no more room
        await _park(full, "low", 0)
        taken: list[object] = []
        while "low" not in taken:
            for _ in range(2):  # more than can be taken
                await _park(full, "urgent", seconds)
            clock.now += 1_000
            running.returns()
            look(engine)
            running = await work.begun()
            taken.append(running.given["n"])
        running.returns()
    assert 1 < len(taken) <= 2 * (seconds + 2)  # those that came so much later are not more urgent any more
