"""Instances whose clocks are wrong, each in its own way: all go by the time of the database."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.bootstrap import inspectable_store
from layover.core.engine import events as ev
from layover.core.engine.codec import decode_events
from layover.ports.view_records import ExecutionFilter
from layover.runtime.ids import id_from_key
from layover.runtime.maintenance.verify import violations
from layover.stores.postgres import PostgresStore
from tests.servers.postgres import ask, run, schema_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.records import Head
    from layover.ports.store import Inspectable

COUNT = 25
MINUTE = 60_000
AHEAD, BEHIND = 5 * MINUTE, -5 * MINUTE
NOW = "SELECT (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint"
_ROOT = Path(__file__).parents[3]


class Machine:
    """A process on a machine of its own."""

    def __init__(self, folder: Path, address: str, name: str, calendar: int, running: int) -> None:
        options = {"address": address, "name": name, "count": COUNT, "calendar": calendar, "running": running}
        self.name = name
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "tests.runtime.postgres.skewed_worker", msgspec.json.encode(options).decode()],
            cwd=_ROOT,
            # What instances on one machine know of each other is here.
            env={"XDG_RUNTIME_DIR": str(folder / name)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    async def says(self, word: str) -> None:
        """Wait until it says a word."""
        assert self.process.stdout is not None
        assert await asyncio.to_thread(self.process.stdout.readline) == f"{word}\n"

    def hears(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def dies(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@asynccontextmanager
async def read(address: str) -> AsyncIterator[Inspectable]:
    store = inspectable_store(address)
    await store.open_to_read()
    try:
        yield store
    finally:
        await store.close()


async def held(address: str, machine: Machine) -> list[Head]:
    """Return the heads of what an instance began and holds."""
    ids = {id_from_key("holding", f"{machine.name}-{n}") for n in range(COUNT)}
    async with read(address) as store:
        rows = await store.queries.list_executions(ExecutionFilter(limit=10_000))
    return [row.head for row in rows if row.head.execution_id in ids]


async def legs(address: str, execution_id: str) -> list[int]:
    """Return when each leg of an execution began."""
    async with read(address) as store:
        entries = await store.queries.read_history(execution_id, 0, 10_000)
    return [one.at for one in entries if any(isinstance(e, ev.LegStarted) for e in decode_events(one.events))]


async def test_instances_may_have_clocks_that_are_wrong(on_postgres: str, tmp_path: Path) -> None:
    began = await ask(on_postgres, NOW)
    assert isinstance(began, int)
    ahead = Machine(tmp_path, on_postgres, "ahead", AHEAD, running=10**12)
    behind = Machine(tmp_path, on_postgres, "behind", BEHIND, running=-(10**9))
    try:
        for machine in (ahead, behind):
            await machine.says("holding")
        for machine in (ahead, behind):
            await machine.says("renewed")  # for longer than a lease, and their timers have fired
        await nobodys_lease_was_taken(on_postgres, ahead, behind)
        await all_times_are_the_databases(on_postgres, began)

        ahead.dies()
        leases = {head.execution_id: head.wake_at for head in await held(on_postgres, ahead) if head.owner is not None}
        behind.hears(ahead.name)
        await behind.says("done")
        for head in await held(on_postgres, ahead):
            assert (head.status, head.epoch) == ("completed", 2)
        for execution_id, lease_until in leases.items():
            taken_over = (await legs(on_postgres, execution_id))[-1]
            assert lease_until is not None
            assert taken_over >= lease_until, "it was taken before its lease had run out"
        assert {(head.owner is None, head.epoch) for head in await held(on_postgres, behind)} == {(False, 1)}
    finally:
        ahead.dies()
        behind.dies()
    async with read(on_postgres) as store:
        assert await violations(store) == []


async def nobodys_lease_was_taken(address: str, *machines: Machine) -> None:
    owners = set()
    for machine in machines:
        heads = await held(address, machine)
        assert len(heads) == COUNT
        assert {(head.status, head.epoch, head.takeovers) for head in heads} == {("running", 1, 0)}
        (owner,) = {head.owner for head in heads}
        owners.add(owner)
    assert len(owners) == len(machines)


async def all_times_are_the_databases(address: str, began: int) -> None:
    """Make sure that nothing is dated by a clock that is wrong, and that timers have fired neither early nor late."""
    now = await ask(address, NOW)
    assert isinstance(now, int)
    async with read(address) as store:
        rows = await store.queries.list_executions(ExecutionFilter(limit=10_000))
        for row in rows:
            for entry in await store.queries.read_history(row.head.execution_id, 0, 10_000):
                assert began - MINUTE < entry.at < now + MINUTE
    status = {(row.head.workflow, row.head.status) for row in rows}
    assert status == {("holding", "running"), ("soon", "completed"), ("later", "waiting")}
    for row in rows:
        if row.head.workflow == "soon":
            assert row.finished_at is not None
            assert row.finished_at >= row.info.created_at + 100
        if row.head.workflow == "later":
            assert row.head.wake_at is not None
            assert now < row.head.wake_at <= now + 2 * MINUTE


async def test_an_instance_that_opens_after_the_server_clock_was_set_back_has_the_time_of_the_others(
    on_postgres: str,
) -> None:
    older, newer = PostgresStore(on_postgres), PostgresStore(on_postgres)
    await older.open("older")
    try:
        # As the older one has it who goes on by its own clock: the server's is an hour behind that.
        await run(on_postgres, f"UPDATE {schema_of(on_postgres)}.instances SET seen_at = seen_at + {60 * MINUTE}")  # noqa: S608 - our own names
        await newer.open("newer")
        assert await newer.now() - await older.now() > 59 * MINUTE
        await newer.close()
    finally:
        await older.close()
