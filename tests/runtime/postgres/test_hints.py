"""Word between instances on PostgreSQL: what one does the other learns at once, though it looks only once an hour."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover import Engine
from layover.bootstrap import open_runtime
from layover.runtime.dispatch import listeners
from layover.runtime.settings import RuntimeSettings
from layover.stores.postgres import PostgresStore, hints
from layover.stores.postgres.claims import PostgresClaims
from tests.runtime.harness import (
    HOUR,
    Held,
    Scripted,
    address_in,
    call,
    delay,
    end,
    engine_at,
    engine_on,
    flow,
    form,
    settings_with,
    until_status,
)
from tests.servers.postgres import PostgresServer, connect, schema_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import asyncpg

    from layover.ports.records import Claim, Claims
    from layover.stores.postgres.session import PostgresSession

# So that nothing but a word from another can explain that an instance does something.
SILENT = {"poll": HOUR, "command_poll": HOUR, "outbox_poll": HOUR, "lease_ttl": HOUR}
LISTENING = """
    SELECT pid FROM pg_stat_activity
    WHERE application_name = 'layover hints' AND state = 'idle' AND query LIKE 'LISTEN%' AND query LIKE $1
    ORDER BY pid
"""


class Ears:
    """Who listens on the server."""

    def __init__(self, connection: asyncpg.Connection, schema: str) -> None:
        self._connection = connection
        self.channel = f"layover_{schema}"

    async def pids(self) -> list[int]:
        return [row[0] for row in await self._connection.fetch(LISTENING, f"%{self.channel}%")]

    async def all(self, count: int, *, but: tuple[int, ...] = ()) -> list[int]:
        """Return who listens, once so many do that are not among others."""
        while True:
            found = [pid for pid in await self.pids() if pid not in but]
            if len(found) == count:
                return found

    async def cut(self, *pids: int) -> None:
        """End the connections of some."""
        for pid in pids:
            await self._connection.fetch("SELECT pg_terminate_backend($1)", pid)

    async def say(self, word: str) -> None:
        await self._connection.fetch("SELECT pg_notify($1, $2)", self.channel, word)


@pytest.fixture
async def ears(on_postgres: str) -> AsyncIterator[Ears]:
    connection = await connect(on_postgres)
    yield Ears(connection, schema_of(on_postgres))
    await connection.close()


async def test_a_command_reaches_the_driving_instance(tmp_path: Path, ears: Ears) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **SILENT) as driving, engine_at(tmp_path, Held(), **SILENT) as asking:
        await ears.all(2)
        await driving.workflows.register(flow(call("a"), call("b")))
        started = await driving.executions.start("flow")
        running = await work.begun()
        assert (await asking.control.pause(started.id, "from afar")).status == "pausing"
        running.returns()
        await until_status(asking, started.id, "paused")
        cancelled = await driving.executions.start("flow")
        stopped = await work.begun()
        assert (await asking.control.cancel(cancelled.id)).status == "cancelled"
        await stopped.cancelled.wait()


async def test_what_only_another_can_run_is_run_there(tmp_path: Path, ears: Ears) -> None:
    work = Held()
    async with engine_at(tmp_path, **SILENT) as unable, engine_at(tmp_path, work, **SILENT) as able:
        await ears.all(2)
        await unable.workflows.register(flow(form(), call("a"), end("${nodes.a}")))
        started = await unable.executions.start("flow", wait="rest")
        (row,) = await unable.points.list(started.id)
        await unable.answers.answer(row.point.id, {}, by="ann")
        (await work.begun()).returns("there")
        assert await able.executions.result(started.id) == "there"


async def test_what_one_has_no_room_for_another_drives(tmp_path: Path, ears: Ears) -> None:
    full, free = Held(), Held()
    async with engine_at(tmp_path, full, executions=1, **SILENT) as one, engine_at(tmp_path, free, **SILENT):
        await ears.all(2)
        await one.workflows.register(flow(call("a")))
        await one.executions.start("flow")
        held = await full.begun()
        parked = await one.executions.start("flow")
        (await free.begun()).returns("there")
        assert await one.executions.result(parked.id) == "there"
        held.returns()


async def test_a_waiting_caller_gets_an_end_on_another_instance(
    tmp_path: Path, ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "_FIRST_LOOK", 3_600.0)
    work = Held()
    async with engine_at(tmp_path, **SILENT) as waiting, engine_at(tmp_path, work, **SILENT):
        await ears.all(2)
        await waiting.workflows.register(flow(call("a"), end("${nodes.a}")))
        started = await waiting.executions.start("flow")
        running = await work.begun()
        result = asyncio.ensure_future(waiting.executions.result(started.id))
        await waiting.lists.counts()  # by then it has looked, and waits
        running.returns("over there")
        assert await result == "over there"


async def test_a_stopping_instance_releases_its_work_at_once(tmp_path: Path, ears: Ears) -> None:
    leaving, staying = Held(), Held()
    async with engine_at(tmp_path, staying, **SILENT) as two:
        async with engine_at(tmp_path, leaving, **SILENT) as one:
            await ears.all(2)
            await one.workflows.register(flow(call("a")))
            started = await one.executions.start("flow")
            await leaving.begun()
            await one.stop(grace=0)
        again = await staying.begun()
        again.returns("taken over")
        assert await two.executions.result(started.id) == "taken over"


async def test_a_listener_that_was_cut_off_reconnects_and_reads_what_it_missed(
    tmp_path: Path, ears: Ears, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "_BETWEEN_LOOKS", 3_600.0)
    work = Held()
    async with engine_at(tmp_path, work, **SILENT) as able, engine_at(tmp_path, **SILENT) as asking:
        deaf = await ears.all(2)
        await asking.workflows.register(flow(call("a")))
        for _ in range(3):
            await ears.cut(*deaf)
            missed = await asking.executions.start("flow")  # whether it is heard of, or found when it listens again
            (await work.begun()).returns("found")
            assert await able.executions.result(missed.id) == "found"
            deaf = await ears.all(2, but=tuple(deaf))
        started = await able.executions.start("flow")
        running = await work.begun()
        assert (await asking.control.pause(started.id)).status == "pausing"
        running.returns()


async def test_malformed_notifications_are_ignored(tmp_path: Path, ears: Ears) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **SILENT) as driving, engine_at(tmp_path, **SILENT) as asking:
        before = await ears.all(2)
        await driving.workflows.register(flow(call("a")))
        started = await driving.executions.start("flow")
        running = await work.begun()
        for word in ("", "{", "[1, 2]", '["x", [["due"]]]', '["x", [["dance", "a"]]]', '["x", [["command", "no id"]]]'):
            await ears.say(word)
        assert (await asking.control.pause(started.id)).status == "pausing"
        running.returns()
        assert await ears.pids() == before


# Without it


async def test_behind_a_pooler_work_is_found_by_polling(on_postgres: str, ears: Ears) -> None:
    driven, other = Held(), Held()
    address = f"{on_postgres}&pooler=transaction"
    definition = flow(call("a"), delay(duration="1ms"), call("b"), end("${nodes.b}"))
    async with open_runtime(address, nodes=[other], settings=settings_with()) as two:
        async with open_runtime(address, nodes=[driven], settings=settings_with()) as one:
            await one.workflows.register(definition)
            started = await one.executions.start("flow")
            running = await driven.begun()
            assert (await two.control.pause(started.id)).status == "pausing"
            running.returns()
            await until_status(two, started.id, "paused")
            assert await ears.pids() == []
            left = await one.executions.start("flow")
            await driven.begun()
            await one.stop(grace=0)
        (await other.begun()).returns()
        (await other.begun()).returns("found")
        assert await two.executions.result(left.id) == "found"


# What it costs to do nothing


class Counted(PostgresStore):
    """A store that notes how often it was asked what is due."""

    claims: _CountedClaims

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.claims = _CountedClaims(self._session)

    async def after(self, rounds: int) -> None:
        async with self.claims.asked:
            await self.claims.asked.wait_for(lambda: self.claims.rounds >= rounds)


class _CountedClaims(PostgresClaims):
    def __init__(self, session: PostgresSession) -> None:
        super().__init__(session)
        self.asked = asyncio.Condition()
        self.rounds = 0

    async def claim(self, claim: Claim) -> Claims:
        found = await super().claim(claim)
        async with self.asked:
            self.rounds += 1
            self.asked.notify_all()
        return found


CALLS = """
SELECT query, sum(calls)::bigint AS calls FROM pg_stat_statements
WHERE query NOT LIKE '%pg_stat_statements%' GROUP BY query
"""


async def calls_of(connection: asyncpg.Connection) -> dict[str, int]:
    return {row["query"]: row["calls"] for row in await connection.fetch(CALLS)}


async def test_an_idle_instance_sends_two_statements_a_second() -> None:
    """One claims, the others have timers of their own, which on a busy machine may fire oftener beside each claim."""
    usual = RuntimeSettings()
    assert usual.poll >= 1_000, "a round is a second"
    faster = {name: getattr(usual, name) // 50 for name in ("poll", "command_poll", "outbox_poll")}
    with PostgresServer(settings={"shared_preload_libraries": "pg_stat_statements"}) as server:
        counting = await connect(server.address())
        await counting.execute("CREATE EXTENSION pg_stat_statements")
        store = Counted(server.address())
        async with engine_on(store, Scripted("done"), **faster, index_after=10) as engine:
            await engine.workflows.register(flow(call("a"), form()))
            await engine.executions.start("flow", wait="rest")
            while await store.search_terms.list_unindexed(None, 1):  # from then on what rests costs nothing
                await store.after(store.claims.rounds + 1)
            await store.after(store.claims.rounds + 10)
            rounds, before = store.claims.rounds, await calls_of(counting)
            await store.after(rounds + 60)
            rounds, after = store.claims.rounds - rounds, await calls_of(counting)
        await counting.close()
    run = sorted((calls - before.get(query, 0) for query, calls in after.items()), reverse=True)
    assert run[0] <= rounds + 1, run
    assert sum(run[1:]) <= 2 * rounds, run  # as many as claims when it is quiet


async def test_a_trigger_that_another_registers_is_served(tmp_path: Path, ears: Ears) -> None:
    every = {"name": "often", "type": "schedule", "every": "1s", "times": 1}
    async with engine_at(tmp_path, **SILENT) as serving:
        await ears.all(1)
        async with Engine(address_in(tmp_path), drive=False) as registering:
            await registering.register(flow(end("done"), triggers=[every]))
        while not (found := await serving.lists.list(workflow="flow")):
            pass
        assert await serving.executions.result(found[0].head.execution_id) == "done"


async def test_a_trigger_that_another_resumes_is_served(tmp_path: Path, ears: Ears) -> None:
    every = {"name": "often", "type": "schedule", "every": "1s", "times": 1}
    async with engine_at(tmp_path, **SILENT) as serving:
        await ears.all(1)
        async with Engine(address_in(tmp_path), drive=False) as operator:
            await operator.register(flow(end("done"), triggers=[{**every, "from": "2999-01-01T00:00:00Z"}]))
            trigger = await operator.trigger("flow/often")
            await trigger.pause("not yet")
            await operator.register(flow(end("done"), triggers=[every]))
            await trigger.resume()
        while not (found := await serving.lists.list(workflow="flow")):
            pass
        assert await serving.executions.result(found[0].head.execution_id) == "done"


async def test_the_end_of_a_pause_that_another_sets_is_kept(tmp_path: Path, ears: Ears) -> None:
    async with engine_at(tmp_path, **SILENT) as serving:
        await ears.all(1)
        async with Engine(address_in(tmp_path), drive=False) as operator:
            workflow = await operator.register(flow(end("done")))
            await workflow.pause("for a moment", until=datetime.now(UTC) + timedelta(seconds=1))
        while (await serving.workflow_status.get("flow")).state == "paused":
            pass
