"""What an instance counts while it works, as it is scraped."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from layover.metrics.labels import MOST_VALUES
from layover.metrics.text import render
from layover.ports.errors import StoreUnavailable
from layover.runtime.instance_metrics import instance_samples
from tests.metrics.scrape import parse
from tests.runtime.harness import (
    HOUR,
    Between,
    HandWound,
    Held,
    Refused,
    Scripted,
    approval,
    call,
    delay,
    engine_at,
    engine_on,
    flow,
    form,
    until,
    until_status,
)

if TYPE_CHECKING:
    from pathlib import Path

    from layover.runtime.runtime import Runtime
    from tests.metrics.scrape import Scrape

pytestmark = pytest.mark.usefixtures("each_database")

ATTEMPTS = "layover_node_attempt_duration_seconds_count"
WAITS = "layover_wait_duration_seconds"


async def scraped(engine: Runtime) -> Scrape:
    samples = instance_samples(engine)
    samples.merge(await engine.instance.store_gauges.samples())
    return parse(render(samples))


async def answered(engine: Runtime, execution_id: str) -> None:
    (row,) = [row for row in await engine.points.list(execution_id) if row.status == "open"]
    await engine.answers.answer(row.point.id, {}, by="ann", approved=True if row.point.kind == "approval" else None)


async def later(engine: Runtime, clock: HandWound, hours: int) -> None:
    """Let time pass, and the engine know that it has."""
    clock.skip(engine, hours * HOUR)
    await engine.instance.clock.ask(engine.instance.store)


@pytest.mark.parametrize("durability", ["step", "leg"])
async def test_attempts_and_retries_are_counted(tmp_path: Path, durability: str) -> None:
    work = Scripted(Refused("one"), Refused("two"), "well")
    retry = {"max_attempts": 3, "delay": "10ms", "multiplier": 1}
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=retry), settings={"durability": durability}))
        await engine.executions.start("flow", wait="end")
        found = await scraped(engine)

    assert found.value(ATTEMPTS, node_type="work", outcome="failed") == 2
    assert found.value(ATTEMPTS, node_type="work", outcome="completed") == 1
    assert found.value("layover_retries_total", workflow="flow") == 2
    assert found.value("layover_executions_started_total", workflow="flow") == 1
    closed = {"workflow": "flow", "status": "completed", "outcome": "executed"}
    assert found.value("layover_executions_closed_total", **closed) == 1
    assert found.value("layover_execution_duration_seconds_count", status="completed") == 1


async def test_the_time_that_is_waited_is_counted_by_what_for(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(form(), approval(), delay(duration="1h")))
        started = await engine.executions.start("flow", wait="rest")
        await later(engine, clock, 2)
        await answered(engine, started.id)
        await until(engine, started.id, lambda head: head.commands_done == 1 and head.owner is None)
        await later(engine, clock, 1)
        await answered(engine, started.id)
        await until_status(engine, started.id, "waiting")
        await later(engine, clock, 3)
        await engine.executions.wait(started.id)
        found = await scraped(engine)

    for cause, hours in (("form", 2), ("approval", 1), ("timer", 3)):
        assert found.value(f"{WAITS}_count", cause=cause) == 1
        assert found.value(f"{WAITS}_sum", cause=cause) == pytest.approx(hours * 3_600, rel=0.01)
    assert found.value("layover_workflow_pause_duration_seconds_count", workflow="flow") == 1
    assert found.value("layover_workflow_pause_duration_seconds_sum", workflow="flow") == pytest.approx(
        found.value("workflow_executions_pause_duration_seconds_sum")
    )
    assert found.value("workflow_executions_paused_total") == 1  # it was paused all the time
    assert found.value("workflow_executions_resumed_total") == 2


async def test_pauses_by_operators_and_incidents_are_causes_of_their_own(tmp_path: Path) -> None:
    work = Scripted(Refused("no"), "well")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry={"max_attempts": 1, "on_exhausted": "pause"})))
        failed = await engine.executions.start("flow", wait="rest")
        await engine.control.retry(failed.id)
        await engine.executions.wait(failed.id)
        await engine.workflows.register(flow(delay(), name="later"))
        held = await engine.executions.start("later", wait="rest")
        await engine.control.pause(held.id, "lunch")
        await until_status(engine, held.id, "paused")
        await engine.control.resume(held.id)
        await until_status(engine, held.id, "waiting")
        found = await scraped(engine)

    assert found.value("layover_incidents_total", workflow="flow") == 1
    assert found.value(f"{WAITS}_count", cause="incident") == 1
    assert found.value(f"{WAITS}_count", cause="operator") == 1


async def test_workflows_beyond_the_bound_share_a_label(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        for n in range(MOST_VALUES + 5):
            await engine.workflows.register(flow(form(), name=f"flow-{n}"))
            await engine.executions.start(f"flow-{n}", wait="rest")
        found = await scraped(engine)

    for name in ("layover_executions_started_total", "layover_executions_paused"):
        assert len(found.series(name)) == MOST_VALUES + 1
        assert found.value(name, workflow="other") == 5


async def test_no_label_holds_an_id(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted("well")) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = await engine.executions.start("flow", wait="rest")
        await answered(engine, started.id)
        await engine.executions.wait(started.id)
        samples = instance_samples(engine)
        text = render(samples).decode()

    assert started.id not in text
    assert engine_name_of(text) == ""


def engine_name_of(text: str) -> str:
    """Return a label that names an instance, if there is one: it would be new after each start."""
    return next((line for line in text.splitlines() if "instance=" in line), "")


async def test_the_state_of_an_instance_is_scraped(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.executions.start("flow")
        one = await work.begun()
        found = await scraped(engine)
        one.returns()

    assert found.value("layover_calls_running") == found.value("layover_executions_driven") == 1
    assert found.value("layover_instances") == 1
    assert found.value("layover_executions", status="running") == 1
    assert found.value("layover_process_resident_memory_bytes") > 1_000_000
    assert found.value("layover_process_cpu_seconds_total") > 0
    assert found.value("layover_store_gauges_age_seconds") >= 0
    assert {"claimer", "outbox_relay"} <= {one["service"] for one in found.series("layover_service_failures")}


async def test_reads_of_the_database_are_counted(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        await engine.points.list(started.id)
        found = await scraped(engine)

    assert found.value("layover_store_read_duration_seconds_count", operation="list_points") == 1


async def test_the_event_loop_is_measured(tmp_path: Path) -> None:
    async with engine_at(tmp_path, blocked_after=20) as engine:
        lag = engine.loop_lag
        assert lag is not None
        while not sum(lag.counts):
            await asyncio.to_thread(lambda: None)
        found = await scraped(engine)

    assert found.value("layover_event_loop_lag_seconds_count") >= 1


class SilentGauges(Between):
    """A store whose figures do not come, or come to nothing, while a test wants that."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.silent = self.broken = False
        self.asked = 0

    async def queries_read_gauges(self, *args: Any) -> Any:
        self.asked += 1
        if self.silent:
            await asyncio.Event().wait()
        if self.broken:
            raise StoreUnavailable("gone")
        return await self.store.queries.read_gauges(*args)


async def test_a_silent_database_holds_up_no_scrape_and_the_last_numbers_are_given(tmp_path: Path) -> None:
    store = SilentGauges(tmp_path)
    async with engine_on(store) as engine:
        gauges = engine.instance.store_gauges
        gauges.fresh = 0
        await until_read(engine)
        store.silent, gauges.patience = True, 0.0
        before = store.asked
        found: list[Scrape] = []
        while store.asked == before or len(found) < 3:
            found.append(await scraped(engine))

    assert store.asked == before + 1  # one query at a time
    assert all("layover_executions_due" in one.names for one in found)
    ages = [one.value("layover_store_gauges_age_seconds") for one in found]
    assert ages == sorted(ages)


async def until_read(engine: Runtime) -> None:
    """Scrape until there are figures of the database, and none are on their way."""
    while "layover_executions_due" not in (await scraped(engine)).names:
        pass
    if (reading := engine.instance.store_gauges.reading) is not None:
        await asyncio.wait([reading])


async def test_figures_that_cannot_be_read_are_left_out_and_counted_as_failures(tmp_path: Path) -> None:
    store = SilentGauges(tmp_path)
    store.broken = True
    async with engine_on(store) as engine:
        while not (found := await scraped(engine)).value("layover_store_gauges_failures_total"):
            pass

    assert "layover_executions_due" not in found.names
    assert "layover_calls_running" in found.names


async def test_figures_are_read_once_in_a_while_only(tmp_path: Path) -> None:
    store = SilentGauges(tmp_path)
    async with engine_on(store) as engine:
        await until_read(engine)
        for _ in range(5):
            await scraped(engine)

    assert store.asked == 1
