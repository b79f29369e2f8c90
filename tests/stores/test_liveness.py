"""Whether an instance lives: it holds a lock, or said so not long ago."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from layover.ports.records import Liveness
from layover.stores.memory.database import MemoryDatabase
from layover.stores.memory.store import MemoryStore
from layover.stores.postgres import PostgresStore
from layover.stores.sqlite import SqliteStore
from tests.servers.postgres import databases


async def test_an_instance_lives_on_a_file_for_as_long_as_it_has_it_open(tmp_path: Path) -> None:
    here, there = SqliteStore(tmp_path / "a.db"), SqliteStore(tmp_path / "a.db")
    await here.open("here")
    await there.open("there")
    assert (
        await here.instances.check_liveness("there")
        == await here.instances.check_liveness("here")
        == Liveness(alive=True)
    )
    assert await here.instances.list_others() == ["there"]
    await there.close()
    assert (
        await here.instances.check_liveness("there")
        == await here.instances.check_liveness("never")
        == Liveness(alive=False)
    )
    assert await here.instances.list_others() == []
    await here.close()


async def test_an_instance_of_a_server_lives_until_it_has_been_silent_for_half_a_minute() -> None:
    now = 1_800_000_000_000
    address = databases.address()
    here, there = PostgresStore(address, clock=lambda: now), PostgresStore(address, clock=lambda: 1_800_000_000_000)
    try:
        await there.open("there")
        await here.open("here")
        assert await here.instances.check_liveness("there") == Liveness(alive=True, seen_at=now)
        assert await here.instances.list_others() == ["there"]
        now += 30_000
        assert await here.instances.check_liveness("there") == Liveness(alive=False, seen_at=now - 30_000)
        now -= 30_000
        await there.close()
        assert await here.instances.check_liveness("there") == Liveness(alive=False)
        assert await here.instances.list_others() == []
    finally:
        await here.close()
        databases.give_back()


async def test_other_instances_of_a_database_in_memory_are_listed() -> None:
    database = MemoryDatabase()
    here, there = MemoryStore(database), MemoryStore(database)
    await here.open("here")
    assert await here.instances.list_others() == []
    await there.open("there")
    assert await here.instances.list_others() == ["there"]
