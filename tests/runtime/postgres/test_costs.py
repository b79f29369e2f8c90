"""What a step costs on PostgreSQL: statements, commits and bytes of the server's log, so that they cannot creep up.

Statements are counted in the log of the server, each by the name of its file. Commits are the transactions that wrote
something: only those are numbered. How many appends go together depends on how fast the machine is, so an execution by
itself is pinned exactly, many at once are pinned by what they may cost at worst, and a group is pinned as a group.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import pytest

from layover.bootstrap import open_runtime
from layover.runtime.settings import RuntimeSettings
from layover.stores.postgres import PostgresStore
from layover.stores.postgres.statements import statements
from tests.servers.postgres import PostgresServer, connect, run
from tests.stores.conformance import ME, NEW, creation, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from layover.runtime.runtime import Runtime

CALLS = 10
APPENDS = CALLS + 1  # the first begins the execution, each later one has a result, the last is the end
ALONE, TOGETHER = 30, 100
LONG = 3_600_000
# An instance says every ten seconds that it lives; on a machine that stands still that comes in between.
HEARTBEATS = 3
# Bytes of the server's log: what was measured (691, 2,589, 3,914, 1,020, 321) and 15 %.
MOST_FOR_A_STEP = 795
MOST_FOR_A_PAUSE = 2_977
MOST_FOR_A_RESUME = 4_501
MOST_TO_BEGIN_IN_A_GROUP = 1_173
MOST_TO_MOVE_IN_A_GROUP = 369
# What somebody reads who waits for an execution, and word to other instances: how often depends on who comes first.
OF_WAITING = frozenset({"execution_by_id", "heads_by_id", "load_executions", "notify"})
OF_DRIVER = "the driver, about types"
# Which version of a workflow is the newest is looked up again after a second, on a machine that is that slow.
OF_PLANS = frozenset({"latest_version", "workflow_statuses_by_name"})
# An instance looks once more for what is due when it has begun to listen, which may be late.
OF_LISTENING = frozenset({"claim_due", "due_messages", "next_trigger_due"})
OF_ITSELF = frozenset({"heartbeat", "weeks_without_partition", OF_DRIVER, *OF_PLANS})

_NUMBERS = count()
_WRITTEN = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
_ABOUT_TYPES = ("WITH RECURSIVE typeinfo_tree(", "SELECT current_setting('jit')", "SELECT set_config('jit'")
_SENT = re.compile(r"layover LOG:  (?:execute [^:]*|statement): (.*)", re.DOTALL)


async def work(x: int) -> dict[str, int]:
    return {"x": x + 1}


def chain() -> dict[str, object]:
    sources = ["input", *(f"nodes.n{number}" for number in range(CALLS - 1))]
    nodes = [
        {"id": f"n{number}", "type": "work", "input": {"x": f"${{{source}.x}}"}}
        | ({"next": f"n{number + 1}"} if number + 1 < CALLS else {})
        for number, source in enumerate(sources)
    ]
    return {"name": "chain", "nodes": nodes}


QUESTION = {"name": "question", "nodes": [{"id": "ask", "type": "form", "title": "How many?"}]}


class Costs(NamedTuple):
    """What was sent and written between two moments."""

    sent: Counter[str]
    commits: int
    wal_bytes: int


class Meter:
    """Counts what a server was sent, and what it has written."""

    def __init__(self, server: PostgresServer, schema: str) -> None:
        self._before, self._read = (0, 0), 0
        self.address = f"{server.address()}?schema={schema}"
        self._server = server
        self._names = {_plain(text): name for name, text in statements(schema).items()}

    async def start(self) -> None:
        self._before = await self._written()
        self._read = len(self._server.log_text())

    async def stop(self) -> Costs:
        commits, wal_bytes = (late - early for late, early in zip(await self._written(), self._before, strict=True))
        entries = f"\n{self._server.log_text()[self._read :]}".split("\n@")
        found = [match[1] for entry in entries if (match := _SENT.match(entry))]
        return Costs(Counter(map(self._name, found)), commits, wal_bytes)

    async def _written(self) -> tuple[int, int]:
        connection = await connect(self.address)
        try:
            ((commits, wal_bytes),) = await connection.fetch(_WRITTEN)
        finally:
            await connection.close()
        return commits, int(wal_bytes)

    def _name(self, text: str) -> str:
        plain = _plain(text)
        if plain.startswith(_ABOUT_TYPES):
            return OF_DRIVER
        return "commit" if plain.startswith("WITH given_") else self._names.get(plain, plain)


def _plain(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """Give a server that writes nothing of its own accord: no whole pages after a checkpoint, nothing is vacuumed."""
    settings = {
        "autovacuum": "off",
        "checkpoint_timeout": "1h",
        "full_page_writes": "off",
        "log_statement": "all",
        "log_line_prefix": "@%a ",
    }
    with PostgresServer(settings=settings) as found:
        yield found


@pytest.fixture
def meter(server: PostgresServer) -> Meter:
    return Meter(server, f"costs_{next(_NUMBERS)}")


@asynccontextmanager
async def engine_on(meter: Meter) -> AsyncIterator[Runtime]:
    """Open an engine that does nothing by itself, warmed up after a checkpoint: pages that follow are not copied."""
    settings = RuntimeSettings(
        lease_ttl=LONG, poll=LONG, command_poll=LONG, outbox_poll=LONG, purge_every=LONG, search_index=False
    )
    async with open_runtime(meter.address, nodes=[work], settings=settings) as engine:
        await engine.workflows.register(chain())
        await engine.workflows.register(QUESTION)
        await run(meter.address, "CHECKPOINT")
        await engine.executions.start("chain", {"x": 0}, wait="end")
        await resume(engine, await pause(engine))
        yield engine


async def pause(engine: Runtime) -> str:
    return str((await engine.executions.start("question", wait="rest")).waiting_on[0].point)


async def resume(engine: Runtime, point: str) -> None:
    taken = await engine.answers.answer(point, {"n": 1}, by="ann")
    assert (await engine.executions.wait(taken.execution_id)).status == "completed"


async def test_a_step_is_one_statement_and_one_commit(meter: Meter) -> None:
    async with engine_on(meter) as engine:
        await meter.start()
        for _ in range(ALONE):
            await engine.executions.start("chain", {"x": 0}, wait="end")
        costs = await meter.stop()
    assert sent_for_work(costs) == {"commit": ALONE * APPENDS}
    assert 0 <= costs.commits - ALONE * APPENDS <= HEARTBEATS
    assert costs.wal_bytes <= ALONE * CALLS * MOST_FOR_A_STEP


async def test_many_at_once_cost_no_more_than_one_by_one(meter: Meter) -> None:
    async with engine_on(meter) as engine:
        await meter.start()
        await asyncio.gather(*(engine.executions.start("chain", {"x": 0}, wait="end") for _ in range(TOGETHER)))
        costs = await meter.stop()
    sent = sent_for_work(costs)
    assert set(sent) == {"commit"}
    assert sent["commit"] <= TOGETHER * APPENDS
    assert 0 <= costs.commits - sent["commit"] <= HEARTBEATS
    assert costs.wal_bytes <= TOGETHER * CALLS * MOST_FOR_A_STEP


async def test_a_pause_is_one_statement_and_one_commit(meter: Meter) -> None:
    async with engine_on(meter) as engine:
        await meter.start()
        for _ in range(ALONE):
            await pause(engine)
        costs = await meter.stop()
    assert sent_for_work(costs) == {"commit": ALONE}
    assert 0 <= costs.commits - ALONE <= HEARTBEATS
    assert costs.wal_bytes <= ALONE * MOST_FOR_A_PAUSE


async def test_a_resume_is_an_answer_and_one_commit(meter: Meter) -> None:
    async with engine_on(meter) as engine:
        points = [await pause(engine) for _ in range(ALONE)]
        await meter.start()
        for point in points:
            await resume(engine, point)
        costs = await meter.stop()
    assert sent_for_work(costs, OF_WAITING) == {"points_to_answer": ALONE, "write_answers": ALONE, "commit": ALONE}
    assert costs.sent["notify"] <= ALONE + 1  # one may be of the resume before
    assert 0 <= costs.commits - 2 * ALONE <= costs.sent["notify"] + HEARTBEATS
    assert costs.wal_bytes <= ALONE * MOST_FOR_A_RESUME


async def test_a_group_is_one_statement_and_one_commit(meter: Meter) -> None:
    store = PostgresStore(meter.address)
    await store.open(ME)
    try:
        await store.definitions.save(NEW.workflow, NEW.hash, b"{}", 50)
        await run(meter.address, "CHECKPOINT")
        await store.appends.commit([creation(0)])
        await store.appends.commit([step(0)])
        for group, most in (
            ([creation(n) for n in range(1, TOGETHER + 1)], MOST_TO_BEGIN_IN_A_GROUP),
            ([step(n) for n in range(1, TOGETHER + 1)], MOST_TO_MOVE_IN_A_GROUP),
        ):
            await meter.start()
            outcomes = await store.appends.commit(group)
            costs = await meter.stop()
            assert {outcome.verdict for outcome in outcomes} == {"passed"}
            assert sent_for_work(costs) == {"commit": 1}
            assert 1 <= costs.commits <= 1 + HEARTBEATS
            assert costs.wal_bytes <= TOGETHER * most
    finally:
        await store.close()


def sent_for_work(costs: Costs, beside: frozenset[str] = frozenset()) -> dict[str, int]:
    """Return what was sent for the work itself."""
    looks = {name for name in OF_LISTENING if costs.sent[name] == 1}
    return {name: number for name, number in costs.sent.items() if name not in beside | OF_ITSELF | looks}
