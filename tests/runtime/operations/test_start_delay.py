"""A start can be put off: nothing of the execution is in memory meanwhile, and it begins at its moment."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.core.moments import Moment
from layover.errors import ExecutionFailed, InvalidInput
from layover.runtime.maintenance.verify import violations
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    Scripted,
    call,
    delay,
    end,
    engine_at,
    engine_on,
    flow,
    form,
    look,
    until,
    until_status,
)

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

IN_AN_HOUR = Options(delay="1h")
OFTEN = {"outbox_poll": 10}


async def start_of(engine: Runtime, execution_id: str) -> int:
    """Return the moment at which an execution that was put off is to start."""
    created = (await engine.queries.history(execution_id))[0].event
    assert isinstance(created, ev.ExecutionCreated)
    assert created.start_at is not None
    return created.start_at


async def test_an_execution_starts_at_its_moment_and_not_before(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted("well")
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
        head = await until(engine, put_off.id, lambda head: head.owner is None)
        assert (head.status, put_off.id in engine.instance.driver.active) == ("pending", False)
        assert head.wake_at == await start_of(engine, put_off.id)
        (reason,) = (await engine.queries.why(put_off.id)).reasons
        assert (reason.kind, reason.text) == ("delay", f"It starts at {reason.until}.")
        assert (reason.since, reason.until) == (put_off.created_at, Moment.of(await start_of(engine, put_off.id)))
        clock.skip(engine, HOUR - 1_000)
        at_once = await engine.executions.start("flow", wait="end")
        assert at_once.output == "well"
        assert (await engine.queries.get(put_off.id)).status == "pending"
        clock.skip(engine, 2_000)
        done = await engine.executions.wait(put_off.id)
        assert (done.output, len(work.calls)) == ("well", 2)
        assert done.started_at is not None
        assert done.started_at >= Moment.of(await start_of(engine, put_off.id))


async def test_it_survives_a_restart(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), Scripted("well")) as engine:
        await engine.workflows.register(flow(call("a")))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
    clock.now += HOUR // 2
    async with engine_on(clock.store(tmp_path), Scripted("well")) as engine:
        assert (await engine.queries.get(put_off.id)).status == "pending"
        clock.skip(engine, HOUR)
        assert await engine.executions.result(put_off.id) == "well"


@pytest.mark.parametrize("given", [0, -5, None, "0s"])
async def test_no_delay_is_a_start_at_once(tmp_path: Path, given: int | str | None) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        assert (await engine.executions.start("flow", wait="end", options=Options(delay=given))).output == 1


@pytest.mark.parametrize("given", ["", "an hour", "1x", "-1h"])
async def test_a_delay_that_is_no_duration_is_refused_and_nothing_begins(tmp_path: Path, given: str) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        with pytest.raises(InvalidInput, match="`delay`") as refused:
            await engine.executions.start("flow", options=Options(delay=given))
        assert [place for place, _ in refused.value.errors] == ["delay"]
        assert await engine.lists.counts() == {}


async def test_a_waiter_returns_when_the_delayed_execution_rests(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted("well")) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        rest = await engine.executions.start("flow", wait="rest", options=Options(delay=30))
        assert (rest.status, rest.started_at is not None) == ("paused", True)


async def test_one_that_is_held_does_not_start_until_it_is_let_go(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted("well")
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a")))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
        assert (await engine.control.pause(put_off.id, "audit")).status == "paused"
        clock.skip(engine, 2 * HOUR)
        assert (await engine.executions.start("flow", wait="end")).status == "completed"  # it has been looked
        found = await engine.queries.get(put_off.id)
        assert (found.status, found.started_at) == ("paused", None)
        await engine.control.resume(put_off.id)
        assert await engine.executions.result(put_off.id) == "well"


async def test_one_that_is_let_go_early_still_starts_at_its_moment(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), Scripted("well")) as engine:
        await engine.workflows.register(flow(call("a")))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
        await engine.control.pause(put_off.id)
        assert (await engine.control.resume(put_off.id)).status == "pending"
        head = await until(engine, put_off.id, lambda head: head.owner is None)
        assert head.wake_at == await start_of(engine, put_off.id)
        clock.skip(engine, HOUR + 1_000)
        assert await engine.executions.result(put_off.id) == "well"


async def test_one_that_is_cancelled_never_starts(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted("well")
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a")))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
        assert (await engine.control.cancel(put_off.id)).status == "cancelled"
        clock.skip(engine, 2 * HOUR)
        await engine.executions.start("flow", wait="end")
        assert ((await engine.queries.get(put_off.id)).started_at, len(work.calls)) == (None, 1)


# With limits


async def test_a_slot_is_taken_at_the_moment_of_the_start_and_not_before(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(
            flow(call("a", input={"n": "${input}"}), settings={"concurrency": {"limit": 1}})
        )
        put_off = await engine.executions.start("flow", 1, options=IN_AN_HOUR)
        assert await engine.instance.store.limits.find_admission(put_off.id) is None
        (reason,) = (await engine.queries.why(put_off.id)).reasons
        assert (reason.kind, reason.until) == ("delay", Moment.of(await start_of(engine, put_off.id)))
        other = await engine.executions.start("flow", 2)
        at_once = await work.begun()
        assert at_once.given == {"n": 2}
        at_once.returns()
        await engine.executions.wait(other.id)
        clock.skip(engine, HOUR + 1_000)
        begun = await work.begun()
        assert begun.given == {"n": 1}
        waiting = await engine.executions.start("flow", 3)
        assert (await engine.queries.why(waiting.id)).reasons[0].execution == put_off.id
        begun.returns()
        (await work.begun()).returns()
        await engine.executions.wait(waiting.id)


async def test_one_that_finds_no_slot_at_its_moment_gets_in_line(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, lease_ttl=2 * HOUR, **OFTEN) as engine:
        await engine.workflows.register(flow(call("a"), settings={"concurrency": {"limit": 1}}))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
        holder = await engine.executions.start("flow")
        running = await work.begun()
        clock.skip(engine, HOUR + 1_000)
        while (reason := (await engine.queries.why(put_off.id)).reasons[0]).execution != holder.id:
            look(engine)
        assert "number 1 in line" in reason.text
        running.returns()
        (await work.begun()).returns()
        assert (await engine.executions.wait(put_off.id)).status == "completed"


async def test_one_that_is_rejected_at_its_moment_is_cancelled(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    concurrency = {"limit": 1, "on_conflict": "reject"}
    async with engine_on(clock.store(tmp_path), work, lease_ttl=2 * HOUR, **OFTEN) as engine:
        await engine.workflows.register(flow(call("a"), settings={"concurrency": concurrency}))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
        await engine.executions.start("flow")
        running = await work.begun()
        clock.skip(engine, HOUR + 1_000)
        assert (await engine.executions.wait(put_off.id)).outcome_reason == "Only 1 may run at once as `flow`."
        running.returns()


@pytest.mark.parametrize("limit", [{"concurrency": {"limit": 1}}, {"rate": {"limit": 1, "per": "1s"}}])
async def test_a_limited_one_that_is_cancelled_asks_for_nothing(tmp_path: Path, limit: dict[str, object]) -> None:
    clock, work = HandWound(), Scripted("well")
    async with engine_on(clock.store(tmp_path), work, **OFTEN) as engine:
        await engine.workflows.register(flow(call("a"), settings=limit))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
        await engine.control.cancel(put_off.id)
        clock.skip(engine, HOUR + 1_000)
        while await engine.instance.store.outbox.list_undelivered(put_off.id):
            look(engine)
        assert await engine.instance.store.limits.find_admission(put_off.id) is None
        assert (await engine.executions.start("flow", wait="end")).status == "completed"
        assert await violations(engine.instance.store) == []


# The time of an execution as a whole


async def test_the_time_of_an_execution_runs_from_its_start_while_it_waits(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(delay(duration="10h"), settings={"timeout": "2h"}))
        put_off = await engine.executions.start("flow", options=IN_AN_HOUR)
        clock.skip(engine, HOUR + 1_000)
        await until_status(engine, put_off.id, "waiting")
        clock.skip(engine, 2 * HOUR - 10_000)
        assert (await engine.executions.start("flow", wait="rest")).status == "waiting"  # it has been looked
        assert (await engine.queries.get(put_off.id)).status == "waiting"
        clock.skip(engine, 20_000)
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(put_off.id)
        assert failed.value.error.code == "timeout"


async def test_the_time_of_an_execution_does_not_pass_while_it_is_held(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(delay(duration="10h"), settings={"timeout": "2h"}))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.pause(started.id)
        clock.skip(engine, 5 * HOUR)
        await engine.executions.start("flow", wait="rest")  # it has been looked
        assert (await engine.queries.get(started.id)).status == "paused"
        await engine.control.resume(started.id)
        assert (await engine.executions.wait(started.id, "rest")).status == "waiting"
        clock.skip(engine, 2 * HOUR + 1_000)
        with pytest.raises(ExecutionFailed, match="longer than its timeout"):
            await engine.executions.result(started.id)


async def test_why_of_a_start_that_its_workflow_holds_names_its_delay_only_if_it_has_one(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(form()))
        await engine.workflow_status.pause("flow", reason="Audit")
        delayed = await engine.executions.start("flow", options=Options(delay=HOUR))
        held = await engine.executions.start("flow")
        operator, delay = (await engine.queries.why(delayed.id)).reasons
        assert (operator.kind, delay.kind) == ("operator", "delay")
        assert delay.text == f"It starts at {delay.until} at the earliest."
        assert [reason.kind for reason in (await engine.queries.why(held.id)).reasons] == ["operator"]
        clock.skip(engine, 2 * HOUR)
        while engine.instance.clock.now() < clock.now:  # until it has looked
            await asyncio.to_thread(bool)
        assert [reason.kind for reason in (await engine.queries.why(delayed.id)).reasons] == ["operator"]
        assert await violations(engine.instance.store) == []
