"""Before something is done once, the lease is checked: an instance that has lost it would do what another has done."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from layover.ports.records import Claim, LeaseRow
from tests.runtime.calls.node_parts import Effect
from tests.runtime.harness import call, engine_at, flow, look

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.runtime.execution.active_execution import ActiveExecution
    from layover.runtime.runtime import Runtime

FAR = 3_600_000
NEVER = {"poll": FAR, "command_poll": FAR, "lease_ttl": FAR}  # nothing but the test moves what it looks at


def run_out(engine: Runtime, execution_id: str) -> None:
    """Have the lease of an execution run out, as for an instance that stood still."""
    engine.instance.driver.active[execution_id].lease_until = 0
    engine.instance.driver.active.covered_until = 0


async def lose(engine: Runtime, execution_id: str) -> None:
    """Have the lease run out, and another instance drive the execution for a moment."""
    store = engine.instance.store
    row = await store.queries.find_execution(execution_id)
    assert row is not None
    assert row.head.wake_at is not None
    wish = Claim(instance="other", now=row.head.wake_at, lease_until=10**15, execution_id=execution_id)
    (claimed,) = (await store.claims.claim(wish)).claimed
    run_out(engine, execution_id)
    await store.claims.release("other", [LeaseRow(execution_id=execution_id, epoch=claimed.head.epoch)], 0)


def both(
    kind: str, engine: Callable[[], Runtime], before: Effect, after: Effect, between: Callable[[str], object]
) -> Callable[..., object]:
    """Return a function that does two things once, the first time with something that happens in between."""

    async def of_async(context: NodeContext) -> int:
        await context.once("before", before)
        if context.attempt == 1 and asyncio.iscoroutine(found := between(context.execution_id)):
            await found
        await context.once("after", after)
        return context.attempt

    def of_sync(context: SyncNodeContext) -> int:
        context.once("before", before)
        if context.attempt == 1 and asyncio.iscoroutine(found := between(context.execution_id)):
            asyncio.run_coroutine_threadsafe(found, engine().instance.driver.loop).result()
        context.once("after", after)
        return context.attempt

    work: Callable[..., object] = of_async if kind == "async" else of_sync
    work.__name__ = "work"
    return work


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_an_instance_that_lost_its_lease_does_nothing_more_and_the_next_one_does_it(
    tmp_path: Path, kind: str
) -> None:
    before, after = Effect("before"), Effect("after")

    async def let_go(active: ActiveExecution) -> None:
        await active.at_rest()
        assert after.count == 0
        look(engine)  # so that it is claimed

    async def between(execution_id: str) -> None:
        waiting.append(asyncio.create_task(let_go(engine.instance.driver.active[execution_id])))
        await lose(engine, execution_id)

    waiting: list[asyncio.Task[None]] = []

    async with engine_at(tmp_path, both(kind, lambda: engine, before, after, between), **NEVER) as engine:
        await engine.workflows.register(flow(call("a")))
        assert (await engine.executions.start("flow", wait="end")).output == 2
        await waiting[0]
    assert (before.count, after.count) == (1, 1)


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_a_lease_that_ran_out_and_is_still_ours_is_renewed_first(tmp_path: Path, kind: str) -> None:
    before, after = Effect("before"), Effect("after")

    def between(execution_id: str) -> None:
        run_out(engine, execution_id)

    async with engine_at(tmp_path, both(kind, lambda: engine, before, after, between), **NEVER) as engine:
        await engine.workflows.register(flow(call("a")))
        assert (await engine.executions.start("flow", wait="end")).output == 1
    assert (before.count, after.count) == (1, 1)
