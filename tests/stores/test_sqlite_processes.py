"""Several processes on one file: none loses anything, and a dead one is noticed at once."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from layover.ports.records import Rest
from layover.stores.sqlite import SqliteStore
from tests.stores.conformance import ME, claim, create, head, uid
from tests.stores.process import APPENDS, started

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

EXECUTIONS = range(1, 9)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """Give a store with executions that are due, which looks for dead instances at every claim."""
    found = SqliteStore(tmp_path / "layover.db", between_looks=0)
    await found.open(ME)
    for n in EXECUTIONS:
        await create(found, n, rest=Rest(wake_at=0))
    yield found
    await found.close()


async def test_two_processes_append_to_the_same_executions_and_nothing_is_lost(store: SqliteStore) -> None:
    names = ("left", "right")
    async with AsyncExitStack() as stack:
        others = [await stack.enter_async_context(started("hammer", store.path, name)) for name in names]
        for other in others:
            await other.says("ready")
        for other in others:
            other.go_on()
        written = await asyncio.gather(*(other.all_said("appending", until="done") for other in others))
        for other in others:
            other.go_on()
        seen = [int(await other.says("sees")) for other in others]
        assert [await other.ended() for other in others] == [0, 0]
    logs = [await store.queries.read_history(uid(n), 0, 10_000) for n in EXECUTIONS]
    found = [entry.events.decode() for log in logs for entry in log[1:]]
    assert sorted(found) == sorted(written[0] + written[1])
    assert len(found) >= 2 * APPENDS
    assert seen == [len(found) + len(EXECUTIONS)] * 2
    for log in logs:
        assert [entry.seq for entry in log] == [0, *range(2, len(log) + 1)]


async def test_what_a_killed_process_drove_is_claimed_at_once(store: SqliteStore) -> None:
    async with started("drive", store.path, "victim") as victim:
        assert int(await victim.says("drives")) == len(EXECUTIONS)
        assert (await claim(store, 20)).claimed == ()
        victim.send(signal.SIGKILL)
        await victim.ended()
        claims = await claim(store, 20, most=100)
    assert len(claims.claimed) == len(EXECUTIONS)
    assert all(claimed.taken_over for claimed in claims.claimed)
    assert {(await head(store, n)).owner for n in EXECUTIONS} == {ME}
    assert not list(store.path.parent.glob("*-instances/victim*"))


async def test_what_a_stopped_process_drives_stays_its_own_until_the_lease_ends(store: SqliteStore) -> None:
    async with started("drive", store.path, "sleeper") as sleeper:
        await sleeper.says("drives")
        sleeper.send(signal.SIGSTOP)
        assert (await claim(store, 20)).claimed == ()
        assert {(await head(store, n)).owner for n in EXECUTIONS} == {"sleeper"}
        assert len((await claim(store, 10**15, most=100)).claimed) == len(EXECUTIONS)
        sleeper.send(signal.SIGCONT)
        sleeper.go_on()
        assert await sleeper.ended() == 0
