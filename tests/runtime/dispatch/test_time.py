"""Time: delays, reminders and what comes due while nobody looks; the clock of the store is wound by hand."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine.commands import Wake
from layover.core.engine.events import PausePointReminded
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    approval,
    call,
    delay,
    end,
    engine_on,
    flow,
    form,
    look,
    until_seq,
)


async def test_a_delay_ends_when_its_time_has_passed_and_not_before(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(delay(duration="3h"), end("later")))
        started = await engine.executions.start("flow", wait="rest")
        assert started.status == "waiting"
        clock.skip(engine, 2 * HOUR)
        await engine.workflows.register(flow(end(1), name="other"))
        await engine.executions.start("other", wait="end")
        assert (await engine.queries.get(started.id)).status == "waiting"
        clock.skip(engine, 2 * HOUR)
        assert await engine.executions.result(started.id) == "later"


async def test_a_delay_goes_on_while_no_engine_runs(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(delay(), end("later")))
        started = await engine.executions.start("flow", wait="rest")
    clock.now += 2 * HOUR
    async with engine_on(clock.store(tmp_path)) as engine:
        assert await engine.executions.result(started.id) == "later"


async def test_many_delays_that_come_due_together_all_end(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), executions=7) as engine:
        await engine.workflows.register(flow(delay(), end("${input}")))
        ids = [(await engine.executions.start("flow", n, wait="rest")).id for n in range(30)]
        clock.skip(engine, 2 * HOUR)
        assert [await engine.executions.result(one) for one in ids] == list(range(30))


async def test_people_are_reminded_while_they_are_waited_for(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(approval(remind=["1h", "3h"])))
        started = await engine.executions.start("flow", wait="rest")
        for number in (1, 2):
            before = (await engine.queries.get(started.id)).last_seq
            clock.skip(engine, 2 * HOUR)
            await until_seq(engine, started.id, before + 1)
            found = [
                one.event
                for one in await engine.queries.history(started.id)
                if isinstance(one.event, PausePointReminded)
            ]
            assert [one.number for one in found] == list(range(1, number + 1))
        (row,) = await engine.points.list(started.id)
        assert row.point.reminded == 2


async def test_nothing_comes_due_behind_a_closed_gate_and_all_of_it_when_it_opens(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(delay(), end("later")))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.pause(started.id, "hold it")
        clock.skip(engine, 5 * HOUR)
        await engine.workflows.register(flow(end(1), name="other"))
        await engine.executions.start("other", wait="end")
        look(engine)
        assert (await engine.queries.get(started.id)).status == "paused"
        await engine.control.resume(started.id)
        assert await engine.executions.result(started.id) == "later"


async def test_a_pause_that_lasts_too_long_ends_the_execution(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(delay(duration="9h"), settings={"max_pause": "2h"}))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.pause(started.id)
        clock.skip(engine, 3 * HOUR)
        done = await engine.executions.wait(started.id)
        assert done.error is not None
        assert (done.status, done.error.code) == ("failed", "pause_expired")


@pytest.mark.parametrize("snapshot_at_rest", [1, 100])
async def test_time_never_goes_back_in_a_log_though_the_clocks_of_instances_differ(
    tmp_path: Path, snapshot_at_rest: int
) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), snapshot_at_rest=snapshot_at_rest) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}")))
        started = await engine.executions.start("flow", wait="rest")
    clock.now -= 60_000  # as another instance believes
    async with engine_on(clock.store(tmp_path), snapshot_at_rest=snapshot_at_rest) as engine:
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {"n": 1}, by="ann")
        assert await engine.executions.result(started.id) == 1
    clock.now -= 60_000
    async with engine_on(clock.store(tmp_path), snapshot_at_rest=snapshot_at_rest) as engine:
        await engine.control.rewind(started.id, "ask", "once more", by="op")
        moments = [one.at for one in await engine.queries.history(started.id)]
    assert moments == sorted(moments)


async def test_a_call_does_not_time_out_because_the_calendar_is_set_forward(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a", timeout="10m", next="b"), call("b")))
        started = await engine.executions.start("flow")
        first = await work.begun()
        engine.instance.clock.set(clock.now + HOUR)
        engine.instance.driver.active[started.id].feed(Wake())  # as an alarm does
        first.returns(1)
        (await work.begun()).returns(2)
        assert (await engine.executions.wait(started.id)).output == 2


async def test_a_call_that_was_spared_times_out_when_its_time_is_up(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a", timeout="50ms")))
        started = await engine.executions.start("flow")
        await work.begun()
        clock.skip(engine, HOUR)
        failed = await engine.executions.wait(started.id)
        assert failed.error is not None
        assert failed.error.code == "timeout"
