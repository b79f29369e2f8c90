"""A store behind a pooler that gives each transaction another connection: all is the same, and nothing is left."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreUnavailable
from layover.ports.records import Claim, Enqueue, Reserved, Rest
from layover.runtime.runtime import Runtime
from layover.stores.memory import MemoryDatabase, MemoryStore
from layover.stores.postgres import PostgresStore
from layover.stores.postgres import connections as store_connections
from tests.conftest import FACTOR
from tests.runtime.harness import Scripted, call, end, flow, form, settings_with
from tests.servers.pooler import NotTrustedError, Pooler
from tests.servers.postgres import connect
from tests.stores.conformance import ME, NEW, OTHER, Clock, approval, creation, following, head, opened, step, uid
from tests.stores.operations import Operations
from tests.stores.proxied_store import locked, until_waiting
from tests.stores.test_differential import one_stream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.servers.postgres import Databases

ROUNDS = 2 * FACTOR
EACH = 20  # executions of each store
POOLED = "&pooler=transaction"


@pytest.fixture(params=[1, 2], ids=["one connection", "two connections"])
async def pooler(request: pytest.FixtureRequest, postgres: Databases) -> AsyncIterator[Pooler]:
    async with pooling(postgres, request.param) as found:
        yield found


@asynccontextmanager
async def pooling(postgres: Databases, connections: int, *, refuses_settings: bool = True) -> AsyncIterator[Pooler]:
    found = Pooler(postgres.server_address(), connections, refuses_settings=refuses_settings)
    async with AsyncExitStack() as opening:
        try:
            await opening.enter_async_context(found)
        except NotTrustedError as error:
            pytest.skip(f"the server in LAYOVER_TEST_POSTGRES wants a password, and our pooler has none: {error}")
        yield found


async def test_a_store_behind_a_pooler_answers_and_keeps_what_the_memory_store_does(
    pooler: Pooler, postgres: Databases
) -> None:
    for turn in range(ROUNDS):
        memory = MemoryStore(MemoryDatabase(Clock()))
        pooled = PostgresStore(pooler.address(postgres.address()) + POOLED, clock=Clock())
        async with AsyncExitStack() as opening:
            for store in (memory, pooled):
                await store.open(ME)
                opening.push_async_callback(store.close)
            operations = Operations(random.Random(f"pooled {turn}"))  # noqa: S311 - it can be repeated
            await one_stream({"memory": memory, "postgres": pooled}, operations, f"pooled {turn}")
    assert pooler.handed_out > 1_000


async def test_stores_that_share_few_connections_do_not_get_into_each_others_way(
    pooler: Pooler, postgres: Databases
) -> None:
    address = pooler.address(postgres.address()) + POOLED
    async with AsyncExitStack() as opening:
        stores = [PostgresStore(address, clock=Clock()) for _ in range(4)]
        for n, store in enumerate(stores):
            await store.open(f"store {n}")
            opening.push_async_callback(store.close)
        await stores[0].definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
        ranges = [range(100 * n, 100 * n + EACH) for n in range(len(stores))]
        await asyncio.gather(*(_live(store, ns) for store, ns in zip(stores, ranges, strict=True)))
        every = [n for ns in ranges for n in ns]
        wishes = [Claim(instance=f"store {n}", now=10**6, lease_until=10**9, most=EACH) for n in range(len(stores))]
        claims = await asyncio.gather(*(store.claims.claim(one) for store, one in zip(stores, wishes, strict=True)))
        taken = [one.head.execution_id for found in claims for one in found.claimed]
        assert len(set(taken)) == len(taken)
        for n in every:
            now = await head(stores[0], n)
            assert (now.last_seq, now.commands_done, now.commands_seq) == (2, 1, 2)
            assert [entry.count for entry in await stores[0].queries.read_history(uid(n), 0, 10)] == [2, 1]
        assert await stores[0].inspection.list_faults() == []


async def _live(store: PostgresStore, ns: range) -> None:
    """Have executions begin, be answered, go on, be paused, all at the same time."""
    await asyncio.gather(*(_live_one(store, n) for n in ns))


async def _live_one(store: PostgresStore, n: int) -> None:
    await store.appends.commit([replace(creation(n, rest=Rest()), points=(opened(f"p{n}"),))])
    wish = Claim(instance=ME, now=700, lease_until=9_000)
    assert isinstance(await store.answers.reserve(approval(f"p{n}"), f"s{n}", 700, wish), Reserved)
    informed = following(await head(store, n))
    outcome = await store.appends.commit_informed(replace(informed, commands_seen=0), lambda _: informed)
    assert outcome.verdict == "passed"
    await store.commands.enqueue([Enqueue(execution_id=uid(n), kind="Pause", body=b"{}", source="s")], 800)


async def test_engines_behind_a_pooler_find_by_polling_what_no_hint_tells(pooler: Pooler, postgres: Databases) -> None:
    address = pooler.address(postgres.address()) + POOLED
    settings = settings_with()
    async with (
        Runtime(PostgresStore(address), nodes=[Scripted("x")], settings=settings) as one,
        Runtime(PostgresStore(address), nodes=[Scripted("x")], settings=settings) as two,
    ):
        await one.workflows.register(flow(call("a"), form(), call("b"), end("${nodes.ask.n}")))
        started = [await one.executions.start("flow", wait="rest") for _ in range(10)]
        for n, execution in enumerate(started):
            (row,) = await two.points.list(execution.id)
            await two.answers.answer(row.point.id, {"n": n}, by="ann")
        assert [await one.executions.result(execution.id) for execution in started] == list(range(10))


async def test_nothing_of_a_store_is_left_on_a_connection(postgres: Databases) -> None:
    async with pooling(postgres, 1) as pooler:
        address = postgres.fresh()
        store = PostgresStore(pooler.address(address) + POOLED, clock=Clock())
        await store.open(ME)
        await store.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
        await _live(store, range(3))
        await store.close()
        connection = await connect(pooler.address(address))
        for left in (
            "SELECT count(*) FROM pg_prepared_statements WHERE name <> ''",
            "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'",
            # The driver turns this one off and on again while it learns types.
            "SELECT count(*) FROM pg_settings WHERE source = 'session' AND name <> 'jit'",
            "SELECT count(*) FROM pg_listening_channels()",
            "SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()",
        ):
            assert await connection.fetchval(left) == 0, left
        await connection.close()


@pytest.mark.parametrize("refuses_settings", [True, False])
async def test_an_undeclared_pooler_is_refused_with_the_setting_for_it(
    postgres: Databases, refuses_settings: bool
) -> None:
    async with pooling(postgres, 2, refuses_settings=refuses_settings) as pooler:
        store = PostgresStore(pooler.address(postgres.address()), clock=Clock())
        with pytest.raises(StoreUnavailable, match="pooler=transaction") as refused:
            await _open_and_use(store)
        assert refused.value.code == "pooled"


async def _open_and_use(store: PostgresStore) -> None:
    await store.open(ME)
    try:
        await store.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
        for n in range(5):
            await _live_one(store, n)
    finally:
        await store.close()


async def test_what_was_given_up_does_not_wait_on_behind_the_pooler(
    postgres: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has no limit of ours there, so it has to be told that nobody waits for the answer."""
    monkeypatch.setattr(store_connections, "_BEYOND_STATEMENT", 0.5)
    address = postgres.address()
    straight = PostgresStore(address, clock=Clock())
    await straight.open(OTHER)
    await straight.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
    await straight.appends.commit([creation(1)])
    async with pooling(postgres, 2) as pooler:
        store = PostgresStore(f"{pooler.address(address)}{POOLED}&statement_timeout=1000", clock=Clock())
        await store.open_to_read()
        async with locked(address, 1):
            with pytest.raises(StoreUnavailable) as refused:
                await store.appends.commit([step(1)])
            assert refused.value.code == "too_slow"
            await until_waiting(address, 0)
        assert (await head(straight, 1)).last_seq == 1
        await store.close()
    assert [outcome.verdict for outcome in await straight.appends.commit([step(1)])] == ["passed"]
    await straight.close()
