"""Rates: the first so many start at once, the others one after the other, each at its moment."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.moments import Moment
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import HandWound, Held, call, engine_on, flow, until, until_status

if TYPE_CHECKING:
    from layover.model.executions import Execution
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

MINUTE = 60_000
OFTEN = {"outbox_poll": 10}


def rated(limit: int = 2, per: str = "1h", **settings: object) -> dict[str, object]:
    return flow(call("a", input={"n": "${input}"}), settings={"rate": {"limit": limit, "per": per}, **settings})


async def _started_at(engine: Runtime, started: Execution) -> Moment:
    found = await until(engine, started.id, lambda head: head.status != "pending")
    return (await engine.queries.get(found.execution_id)).started_at or Moment.of(0)


async def test_one_more_starts_at_its_moment_and_not_before(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(rated())
        started = [await engine.executions.start("flow", n) for n in range(4)]
        for running in await work.all_begun(2):
            running.returns()
        for late, one in enumerate(started[2:], start=1):
            (reason,) = (await engine.queries.why(one.id)).reasons
            assert (reason.kind, reason.text) == ("rate", "It may start later by the rate of `flow`.")
            assert reason.until is not None
            assert abs(reason.until.milliseconds - clock.now - late * 30 * MINUTE) < MINUTE
            head = await until(engine, one.id, lambda head: head.owner is None)
            assert (head.status, head.wake_at) == ("pending", None)
        first_moment = (await engine.queries.why(started[2].id)).reasons[0].until
        clock.skip(engine, 30 * MINUTE - 1_000)
        assert (await engine.queries.get(started[2].id)).status == "pending"
        clock.skip(engine, MINUTE)
        third = await work.begun()
        assert third.given == {"n": 2}
        third.returns()
        await engine.executions.wait(started[2].id)  # else its lease would run out with the time that passes below
        assert first_moment is not None
        assert (await _started_at(engine, started[2])) >= first_moment
        assert (await engine.queries.get(started[3].id)).status == "pending"
        clock.skip(engine, 30 * MINUTE)
        fourth = await work.begun()
        assert fourth.given == {"n": 3}
        fourth.returns()


async def test_a_rate_is_never_exceeded(tmp_path: Path) -> None:
    clock, work, limit, share = HandWound(), Held(), 3, 20 * MINUTE
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(rated(limit))
        begun = clock.now
        started = [await engine.executions.start("flow", n) for n in range(9)]
        for one in await work.all_begun(limit):
            one.returns()
        for ended in range(limit, len(started)):
            # Else their leases would run out with the time that passes, and their calls be made again.
            await asyncio.gather(*(engine.executions.wait(one.id) for one in started[:ended]))
            clock.skip(engine, share)
            (await work.begun()).returns()
        moments = [await _started_at(engine, one) for one in started]
        for n, moment in enumerate(moments):
            assert moment.milliseconds >= begun + max(0, n + 1 - limit) * share


async def test_an_execution_that_waits_for_a_rate_starts_after_a_restart(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(rated(1))
        await engine.executions.start("flow", 1)
        (await work.begun()).returns()
        later = await engine.executions.start("flow", 2)
    clock.now += 61 * MINUTE
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        (await work.begun()).returns()
        assert (await engine.executions.wait(later.id)).status == "completed"


async def test_the_next_in_line_starts_at_the_moment_that_the_rate_gives_it(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(rated(1, "10s", concurrency={"limit": 1}))
        first = await engine.executions.start("flow", 1)
        running = await work.begun()
        second = await engine.executions.start("flow", 2)
        (reason,) = (await engine.queries.why(second.id)).reasons
        assert (reason.kind, reason.execution) == ("limit", first.id)
        running.returns()
        await engine.executions.wait(first.id)
        await _until_it_waits_for(engine, second, "rate")
        clock.skip(engine, 11_000)
        begun = await work.begun()
        assert begun.given == {"n": 2}
        begun.returns()
        await engine.executions.wait(second.id)


async def test_an_execution_cancelled_before_its_moment_gives_its_slot_back_even_if_its_engine_died_then(
    tmp_path: Path,
) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(rated(1, concurrency={"limit": 1}))
        first = await engine.executions.start("flow", 1)
        (await work.begun()).returns()
        await engine.executions.wait(first.id)
        await _delivered(engine, first)
        later = await engine.executions.start("flow", 2)
        waiting = await engine.executions.start("flow", 3)
        engine.instance.outbox_relay.stop()  # what it writes from now on it does not deliver
        await engine.control.cancel(later.id)
        assert (await engine.queries.why(waiting.id)).reasons[0].execution == later.id
    clock.now += 2_000
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await _until_it_waits_for(engine, waiting, "rate")


async def test_an_execution_that_the_end_of_another_admits_asks_no_more(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(rated(9, concurrency={"limit": 1}))
        first = await engine.executions.start("flow", 1)
        running = await work.begun()
        second = await engine.executions.start("flow", 2)
        running.returns()
        await engine.executions.wait(first.id)
        (await work.begun()).returns()
        await engine.executions.wait(second.id)
        await _delivered(engine, second)  # at once, and not when it would have asked again


async def _delivered(engine: Runtime, execution: Execution) -> None:
    """Wait until an execution has nothing more to send."""
    while await engine.instance.store.outbox.list_undelivered(execution.id):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)


async def _until_it_waits_for(engine: Runtime, execution: Execution, kind: str) -> None:
    """Wait until an execution waits for something of a kind."""
    while (await engine.queries.why(execution.id)).reasons[0].kind != kind:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)


@pytest.mark.parametrize("how", ["cancel", "pause"])
async def test_an_execution_that_waits_for_its_rate_can_be_cancelled_and_paused(tmp_path: Path, how: str) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(rated(1, concurrency={"limit": 2}))
        await engine.executions.start("flow", 1)
        (await work.begun()).returns()
        later = await engine.executions.start("flow", 2)
        if how == "cancel":
            assert (await engine.control.cancel(later.id)).status == "cancelled"
            await engine.executions.start("flow", 3)  # has the slot of who was ended, and its own moment
            clock.skip(engine, 121 * MINUTE)
            assert (await work.begun()).given == {"n": 3}
        else:
            assert (await engine.control.pause(later.id)).status == "paused"
            clock.skip(engine, 61 * MINUTE)
            await until(engine, later.id, lambda head: head.commands_done == 2)  # it is admitted, and held
            assert (await engine.queries.get(later.id)).status == "paused"
            await engine.control.resume(later.id)
            await until_status(engine, later.id, "running")
            assert (await work.begun()).given == {"n": 2}
        assert await violations(engine.instance.store) == []
