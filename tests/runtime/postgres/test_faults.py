"""A PostgreSQL that is restarted, killed, or cut off, under load: engines go on by themselves.

All executions come to the end that they should, nothing is done twice, and the database is as it must be.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import pytest

from layover.bootstrap import open_runtime
from layover.nodes.context import NodeContext  # noqa: TC001 - a registry reads the annotations of functions
from layover.ports.commit_points import CommitPoint, watch
from layover.ports.errors import StoreUnavailable
from layover.runtime.maintenance.verify import violations
from layover.stores.postgres import PostgresStore
from tests.conftest import FACTOR
from tests.runtime.harness import Held, call, child, delay, end, flow, form, settings_with, until_status
from tests.servers.postgres import run
from tests.servers.proxy import Proxy
from tests.servers.server import PostgresServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from layover.runtime.runtime import Runtime
    from tests.servers.proxy import Way

T = TypeVar("T")
Trouble: TypeAlias = "Callable[[], Awaitable[None]]"

SEED = int(os.environ.get("LAYOVER_SEED", "1"))
_OF_DRIVER = "unexpected connection_lost() call"
EXECUTIONS = 24
STEPS = 4  # calls of each
TROUBLES = min(3 * FACTOR, 12)
CUTS = min(24 * FACTOR, 48)

FLOWS = (
    flow(call("c"), delay(duration="10ms"), call("d"), end("${nodes.d}"), name="inner"),
    flow(
        call("a"),
        delay(duration="20ms"),
        form(),
        child("inside", "inner"),
        call("b"),
        end({"answered": "${nodes.ask.n}", "inside": "${nodes.inside}", "own": "${nodes.b}"}),
    ),
)
END_ALL = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as started:
        yield started


class Work:
    """What nodes do: each call is counted, and somebody may wait until there have been so many."""

    def __init__(self) -> None:
        self.made: Counter[tuple[str, str, int]] = Counter()
        self._more = asyncio.Condition()

    async def __call__(self, context: NodeContext) -> str:
        async with self._more:
            self.made[context.execution_id, context.context_id, context.attempt] += 1
            self._more.notify_all()
        return context.context_id

    __name__ = "work"

    async def until(self, count: int) -> None:
        async with self._more:
            await self._more.wait_for(lambda: self.made.total() >= count)


async def insist(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask until the server is there to answer."""
    while True:
        try:
            return await ask()
        except StoreUnavailable:
            await asyncio.sleep(0)


async def live(engine: Runtime, n: int) -> object:
    """Have one execution go from its start to its end, as whoever uses an engine does."""
    started = await insist(lambda: engine.executions.start("flow", key=f"k{n}", on_conflict="return"))
    await insist(lambda: until_status(engine, started.id, "paused"))
    (row,) = await insist(lambda: engine.points.list(started.id))
    await insist(lambda: engine.answers.answer(row.point.id, {"n": n}, by="ann", key=f"k{n}"))
    return await insist(lambda: engine.executions.result(started.id))


async def restart(server: PostgresServer) -> None:
    await asyncio.to_thread(server.restart, "fast")


async def crash(server: PostgresServer) -> None:
    await asyncio.to_thread(server.restart, "immediate")


async def kill(server: PostgresServer) -> None:
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)


async def end_all(server: PostgresServer) -> None:
    for _ in range(3):
        await run(server.address(), END_ALL)


async def again_and_again(trouble: Trouble, times: int, work: Work) -> None:
    """Make trouble each time that a part of the work has been done."""
    for n in range(times):
        await work.until((n + 1) * EXECUTIONS * STEPS // (times + 1))
        await trouble()


async def come_through(address: str, trouble: Trouble, times: int) -> None:
    """Have two engines do their work in spite of trouble."""
    work = Work()
    settings = settings_with(lease_ttl=1_500, outbox_poll=100)
    async with (
        open_runtime(address, nodes=[work], settings=settings) as one,
        open_runtime(address, nodes=[work], settings=settings) as two,
    ):
        for definition in FLOWS:
            await one.workflows.register(definition)
        lives = [live((one, two)[n % 2], n) for n in range(EXECUTIONS)]
        *ends, _ = await asyncio.gather(*lives, again_and_again(trouble, times, work))
    assert ends == [{"answered": n, "inside": "d", "own": "b"} for n in range(EXECUTIONS)]
    assert set(work.made.values()) == {1}


async def is_sound(address: str) -> None:
    """Hold the database against everything that must be true of it."""
    store = PostgresStore(address)
    await store.open_to_read()
    assert await violations(store) == []
    assert await store.queries.count_by_status() == {"completed": 2 * EXECUTIONS}
    await store.close()


@pytest.mark.parametrize("trouble", [restart, crash, kill, end_all])
async def test_engines_come_through_trouble_of_their_server(
    server: PostgresServer,
    trouble: Callable[[PostgresServer], Awaitable[None]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR)
    address = f"{server.address()}?schema=layover_{trouble.__name__}"
    await come_through(address, lambda: trouble(server), TROUBLES)
    told = [record.getMessage() for record in caplog.records]
    # A connection that ends while the driver opens it leaves a future of the driver's own, which nobody can wait for.
    assert [one for one in told if _OF_DRIVER not in one] == []  # no part of them has died
    await is_sound(address)


async def test_engines_come_through_lines_that_are_cut_anywhere(
    server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    address = f"{server.address()}?schema=layover_cut"
    dice = random.Random(SEED)  # noqa: S311 - it can be repeated
    async with Proxy(address) as proxy:

        async def cut() -> None:
            way: Way = dice.choice(("request", "reply"))
            proxy.cut_after(way, dice.randrange(3_000))
            await proxy.until_cut()

        await come_through(proxy.address(address), cut, CUTS)
    assert [record.getMessage() for record in caplog.records] == []
    await is_sound(address)


async def test_an_engine_keeps_its_leases_when_its_connections_fall_silent(server: PostgresServer) -> None:
    address = f"{server.address()}?schema=layover_silent&statement_timeout=100"
    work, renewed = Held(), asyncio.Event()
    async with Proxy(address) as proxy:
        settings = settings_with(lease_ttl=3_000)
        async with open_runtime(proxy.address(address), nodes=[work], settings=settings) as engine:
            await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
            started = await engine.executions.start("flow")
            running = await work.begun()
            driven = engine.instance.driver.active[started.id]
            first = driven.lease_until
            proxy.silence()
            loop = asyncio.get_running_loop()

            def reached(point: CommitPoint) -> None:
                if point is CommitPoint.LEASES_RENEWED:
                    loop.call_soon_threadsafe(renewed.set)

            watch(reached)
            try:
                while driven.lease_until < first + 3_000:  # it holds beyond the end of the lease that it had
                    await renewed.wait()
                    renewed.clear()
            finally:
                watch(None)
            running.returns("well")
            assert await insist(lambda: engine.executions.result(started.id)) == "well"
            assert len(work.calls) == 1
            row = await engine.instance.store.queries.find_execution(started.id)
            assert row is not None
            assert (row.head.epoch, row.head.takeovers) == (1, 0)


async def test_an_engine_does_not_start_without_its_server_and_does_when_it_is_back(server: PostgresServer) -> None:
    address = f"{server.address()}?schema=layover_away"
    await asyncio.to_thread(server.stop)
    try:
        with pytest.raises(StoreUnavailable) as refused:
            async with open_runtime(address):
                pass
        assert refused.value.code == "unreachable"
    finally:
        await asyncio.to_thread(server.start)
    async with open_runtime(address) as engine:
        assert await engine.lists.counts() == {}


async def test_an_engine_can_stop_while_its_server_is_away(server: PostgresServer) -> None:
    address = f"{server.address()}?schema=layover_gone"
    work = Work()
    async with open_runtime(address, nodes=[work], settings=settings_with()) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        await engine.executions.start("flow", wait="rest")
        await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
