"""On PostgreSQL whole weeks are purged at once, once nothing that began in them is needed."""

from __future__ import annotations

import pytest

from layover.runtime.maintenance.verify import violations
from layover.stores.postgres import PostgresStore
from layover.stores.postgres.weekly_partitions import WEEK, week_of
from tests.runtime.harness import HOUR, HandWound, delay, end, engine_on, flow
from tests.servers.postgres import ask, fresh_schema, schema_of


@pytest.fixture
def address() -> str:
    """Give a schema of its own: partitions come and go here."""
    return fresh_schema()


async def has_partition(address: str, era: int) -> bool:
    name = f"{schema_of(address)}.events_{era}"
    return bool(await ask(address, f"SELECT to_regclass('{name}') IS NOT NULL"))


async def test_a_week_of_which_nothing_is_needed_goes_with_its_partition(address: str) -> None:
    clock = HandWound()
    began = week_of(clock.now)
    async with engine_on(PostgresStore(address, clock=clock), retention=HOUR) as engine:
        await engine.workflows.register(flow(end(1)))
        for _ in range(3):
            await engine.executions.start("flow", wait="end")
        assert await has_partition(address, began)
        clock.now += 3 * WEEK
        engine.instance.clock.set(clock.now)
        assert await engine.instance.purger.clean() == 3
        assert not await has_partition(address, began)
        assert await engine.lists.list() == []
        assert await violations(engine.instance.store) == []


@pytest.mark.parametrize("kept", ["one that waits", "a workflow without retention"])
async def test_a_week_of_which_something_is_needed_keeps_its_partition(address: str, kept: str) -> None:
    clock = HandWound()
    began = week_of(clock.now)
    async with engine_on(PostgresStore(address, clock=clock)) as engine:
        await engine.workflows.register(flow(end(1), settings={"retention": "1h"}))
        await engine.executions.start("flow", wait="end")
        node = delay(duration="365d") if kept == "one that waits" else end(2)
        settings = {"retention": "1h"} if kept == "one that waits" else {}
        await engine.workflows.register(flow(node, name="other", settings=settings))
        other = await engine.executions.start("other", wait="rest")
        clock.now += 3 * WEEK
        engine.instance.clock.set(clock.now)
        assert await engine.instance.purger.clean() == 1
        assert await has_partition(address, began)
        assert [row.head.execution_id for row in await engine.lists.list()] == [other.id]
        assert await violations(engine.instance.store) == []
