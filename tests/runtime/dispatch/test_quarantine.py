"""What loses its instances: who is charged with it, and who is not."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine.events import NodeScheduled
from layover.ports.records import Claim, LeaseRow
from layover.runtime.runtime import Runtime  # noqa: TC001 - read by pytest
from tests.runtime.harness import HandWound, Held, call, end, engine_at, engine_on, flow, look, until, until_status

pytestmark = pytest.mark.usefixtures("each_database")

FLOW = flow(call("a"), call("b"), end(["${nodes.a}", "${nodes.b}"]))
OTHER = flow(call("c"), end("${nodes.c}"), name="other")
FAR = 3_600_000
HELD = {"poll": 20, "command_poll": FAR, "lease_ttl": FAR, "jitter": False}


async def lose(engine: Runtime, execution_id: str, times: int) -> None:
    """Have an execution lose the engine, and others: each takes it over, and is never heard of again."""
    engine.instance.driver.active[execution_id].drop()
    for _ in range(times):
        row = await engine.instance.store.queries.find_execution(execution_id)
        assert row is not None
        assert row.head.wake_at is not None
        wish = Claim(instance="thief", now=row.head.wake_at, lease_until=0, execution_id=execution_id)
        assert (await engine.instance.store.claims.claim(wish)).claimed
    look(engine)


async def takeovers(engine: Runtime, execution_id: str) -> int:
    row = await engine.instance.store.queries.find_execution(execution_id)
    assert row is not None
    return row.head.takeovers


async def test_making_a_lost_call_again_is_no_progress_and_its_result_is(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **HELD) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        engine.instance.driver.active[started.id].drop()
        clock.skip(engine, FAR + 1_000)
        again = await work.begun()
        assert again.context.attempt == 2
        assert await takeovers(engine, started.id) == 1
        again.returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]
        assert await takeovers(engine, started.id) == 0


async def look_and_release(engine: Runtime, execution_id: str) -> None:
    """Have another instance claim an execution that nobody drives, or that has run out, and release it unread."""
    store = engine.instance.store
    row = await store.queries.find_execution(execution_id)
    assert row is not None
    assert row.head.wake_at is not None
    wish = Claim(instance="other", now=row.head.wake_at, lease_until=FAR + row.head.wake_at, execution_id=execution_id)
    (claimed,) = (await store.claims.claim(wish)).claimed
    lease = LeaseRow(execution_id=execution_id, epoch=claimed.head.epoch, takeovers=claimed.head.takeovers)
    await store.claims.release("other", [lease], row.head.wake_at)


def recoveries(engine: Runtime, execution_id: str) -> int:
    return engine.instance.driver.active[execution_id].state.node("a").recoveries


async def test_letting_go_of_an_execution_is_no_progress(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **HELD) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        engine.instance.driver.active[started.id].drop()
        clock.skip(engine, FAR + 1_000)
        await work.begun()
        engine.instance.driver.active[started.id].let_go()  # and it is claimed again at once
        again = await work.begun()
        assert again.context.attempt == 3
        assert await takeovers(engine, started.id) == 1
        again.returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]
        assert await takeovers(engine, started.id) == 0


async def test_an_orderly_stop_is_no_progress(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **HELD, grace=0) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        engine.instance.driver.active[started.id].drop()
        clock.skip(engine, FAR + 1_000)
        await work.begun()
    async with engine_on(clock.store(tmp_path), work, **HELD) as engine:
        again = await work.begun()
        assert again.context.attempt == 3
        assert (await takeovers(engine, started.id), recoveries(engine, started.id)) == (1, 1)
        again.returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]


async def test_a_loss_that_is_written_down_is_not_charged_after_a_claim_that_wrote_nothing(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **HELD) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        await lose(engine, started.id, 0)
        clock.skip(engine, FAR + 1_000)
        await work.begun()
        assert recoveries(engine, started.id) == 1
        engine.instance.driver.active[started.id].drop()
        await engine.instance.store.claims.release(
            engine.instance.id, [LeaseRow(execution_id=started.id, epoch=2, takeovers=1)], clock.now + FAR
        )
        await look_and_release(engine, started.id)
        clock.skip(engine, FAR)
        again = await work.begun()
        assert recoveries(engine, started.id) == 1
        again.returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]


async def test_a_loss_is_charged_by_the_first_leg_that_writes_and_not_by_a_claim_before_it(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **HELD) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        engine.instance.driver.active[started.id].drop()
        await look_and_release(engine, started.id)
        await look_and_release(engine, started.id)
        clock.skip(engine, FAR)
        await work.begun()
        assert (await takeovers(engine, started.id), recoveries(engine, started.id)) == (1, 1)


async def test_an_execution_that_lost_too_many_instances_is_paused_and_holds_up_no_other(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    settings = {**HELD, "poll": FAR, "max_takeovers": 2}  # else it would claim it between two that are lost
    async with engine_on(clock.store(tmp_path), work, **settings) as engine:
        await engine.workflows.register(FLOW)
        await engine.workflows.register(OTHER)
        suspect = await engine.executions.start("flow")
        await work.begun()
        await lose(engine, suspect.id, 6)
        await until(engine, suspect.id, lambda head: head.owner is None)
        assert await takeovers(engine, suspect.id) == 7
        other = await engine.executions.start("other")
        (await work.begun()).returns("well")
        assert await engine.executions.result(other.id) == "well"
        clock.skip(engine, 600_000)
        await until_status(engine, suspect.id, "paused")
        assert "lost 7 instances" in str((await engine.queries.get(suspect.id)).paused_reason)
        assert await takeovers(engine, suspect.id) == 0


async def test_letting_go_of_an_execution_counts_no_loss_a_second_time(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **HELD) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        engine.instance.driver.active[started.id].drop()
        clock.skip(engine, FAR + 1_000)
        for _ in range(3):
            await work.begun()
            assert engine.instance.driver.active[started.id].state.node("a").recoveries == 1
            engine.instance.driver.active[started.id].let_go()  # and it is claimed again at once
        (await work.begun()).returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]


async def test_a_suspect_waits_until_nothing_else_is_driven_and_is_then_driven_alone(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **HELD, recovery_backoff=1_000, suspect_alone=FAR) as engine:
        await engine.workflows.register(FLOW)
        await engine.workflows.register(OTHER)
        suspect = await engine.executions.start("flow")
        await work.begun()
        neighbour = await engine.executions.start("other")
        beside = await work.begun()
        await lose(engine, suspect.id, 1)
        await until(engine, suspect.id, lambda head: head.owner is None)
        assert await takeovers(engine, suspect.id) == 2
        clock.skip(engine, 1_000)  # the pause is over, and somebody else is still driven
        await until(engine, suspect.id, lambda head: head.owner is None and head.epoch > 3)
        assert engine.instance.driver.room == 0
        assert len(work.calls) == 2
        beside.returns("well")
        assert await engine.executions.result(neighbour.id) == "well"
        again = await work.begun()
        assert again.context.execution_id == suspect.id
        later = await engine.executions.start("other")
        assert list(engine.instance.driver.active) == [suspect.id]
        again.returns(1)  # which is progress: others are let in again
        for one in await work.all_begun(2):
            one.returns(one.context.context_id)
        assert await engine.executions.result(later.id) == "c"
        assert await engine.executions.result(suspect.id) == [1, "b"]


async def test_a_suspect_does_not_wait_for_ever_for_others_to_end_nor_do_others_for_it(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **HELD, recovery_backoff=1, suspect_alone=1) as engine:
        await engine.workflows.register(FLOW)
        await engine.workflows.register(OTHER)
        suspect = await engine.executions.start("flow")
        await work.begun()
        await engine.executions.start("other")
        await work.begun()
        await lose(engine, suspect.id, 1)
        assert (await work.begun()).context.execution_id == suspect.id  # beside the other one, which does not end
        assert (await engine.executions.start("other")).id
        assert (await work.begun()).context.context_id == "c"  # beside both


async def test_a_suspect_whose_call_has_not_begun_is_not_cleared(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **HELD, recovery_backoff=1, suspect_alone=1, calls=1) as engine:
        driver = engine.instance.driver
        await engine.workflows.register(FLOW)
        await engine.workflows.register(OTHER)
        suspect = await engine.executions.start("flow")
        await work.begun()
        await engine.executions.start("other")
        await lose(engine, suspect.id, 1)
        beside = await work.begun()
        assert beside.context.context_id == "c"  # it has the only slot now
        await until(engine, suspect.id, lambda head: head.last_epoch == head.epoch)  # driven again, and queued
        driver.quarantine.review(suspect.id, 0)
        assert driver.active[suspect.id].takeovers == 2
        beside.returns("well")
        assert (await work.begun()).context.execution_id == suspect.id
        driver.quarantine.review(suspect.id, 0)
        assert driver.active[suspect.id].takeovers == 0


async def test_orderly_stops_never_count_as_losses(tmp_path: Path) -> None:
    work = Held()
    long = flow(call("a"), end("${nodes.a}"), settings={"max_recoveries": 1})
    started = ""
    for turn in range(4):
        async with engine_at(tmp_path, work, **HELD, grace=0) as engine:
            if not started:
                await engine.workflows.register(long)
                started = (await engine.executions.start("flow")).id
            running = await work.begun()
            assert running.context.attempt == turn + 1
    async with engine_at(tmp_path, work, **HELD) as engine:
        (await work.begun()).returns("well")
        assert await engine.executions.result(started) == "well"
        history = [entry.event for entry in await engine.queries.history(started)]
    scheduled = [one.lost for one in history if isinstance(one, NodeScheduled) and one.cause == "recovered"]
    assert scheduled == [False] * 4


async def test_pauses_of_an_operator_never_count_as_losses(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **HELD, drain=0) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}"), settings={"max_recoveries": 1}))
        started = await engine.executions.start("flow")
        for _ in range(3):
            await work.begun()
            await engine.control.pause(started.id)
            await until_status(engine, started.id, "paused")
            await engine.control.resume(started.id)
        (await work.begun()).returns("well")
        assert await engine.executions.result(started.id) == "well"
