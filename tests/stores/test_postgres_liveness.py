"""Instances on one machine: who dies is succeeded at once, and only who dies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from layover.ports.records import Claim
from layover.stores.instance_locks import InstanceLocks
from layover.stores.postgres import PostgresStore
from layover.stores.postgres.address import read_address
from layover.stores.postgres.liveness import folder_of
from tests.servers.postgres import databases
from tests.stores.conformance import ME, OTHER, claim, create, creation, ids, uid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.stores.conformance import Clock


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a database whose instances hold their locks in a folder of this test."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return databases.address()


@pytest.fixture
async def store(place: str, clock: Clock) -> AsyncIterator[PostgresStore]:
    found = PostgresStore(place, clock=clock)
    await found.open(ME)
    yield found
    await found.close()


async def driven_by(store: PostgresStore, instance: str) -> None:
    """Have an execution that an instance drives for long."""
    await create(store)
    assert (await store.appends.commit([creation(2)]))[0].verdict == "passed"
    taken = await store.claims.claim(Claim(instance=instance, now=9_000, lease_until=90_000, most=1))
    assert ids(taken) == [uid(1)]


async def test_what_a_dead_neighbour_drove_is_due_at_once(place: str, store: PostgresStore) -> None:
    dead = InstanceLocks(folder_of(read_address(place)), OTHER)
    dead.hold(patience=0)
    await driven_by(store, OTHER)
    os.close(dead._held or 0)  # noqa: SLF001 - as the end of its process does
    store._session.local_instances._looked_at = 0  # type: ignore[union-attr]  # noqa: SLF001 - half a second later
    found = await claim(store, 10_000)
    assert uid(1) in ids(found)


async def test_what_a_living_neighbour_drives_stays_with_it(place: str, store: PostgresStore) -> None:
    living = InstanceLocks(folder_of(read_address(place)), OTHER)
    living.hold(patience=0)
    await driven_by(store, OTHER)
    store._session.local_instances._looked_at = 0  # type: ignore[union-attr]  # noqa: SLF001 - as above
    assert uid(1) not in ids(await claim(store, 10_000))
    living.let_go()


async def test_a_folder_that_others_can_write_to_is_not_used(place: str, tmp_path: Path, clock: Clock) -> None:
    (tmp_path / f"layover-{os.geteuid()}").mkdir(mode=0o777)
    (tmp_path / f"layover-{os.geteuid()}").chmod(0o777)
    with pytest.raises(PermissionError):
        folder_of(read_address(place))
    store = PostgresStore(place, clock=clock)
    await store.open(ME)
    await create(store)
    await store.close()
    assert list((tmp_path / f"layover-{os.geteuid()}").iterdir()) == []


async def test_a_closed_instance_leaves_no_lock_file(tmp_path: Path, place: str, clock: Clock) -> None:
    store = PostgresStore(place, clock=clock)
    await store.open(ME)
    folder = folder_of(read_address(place))
    assert [file.name for file in folder.iterdir()] == [f"{ME}.lock"]
    await store.close()
    assert not folder.exists()
    assert tmp_path in folder.parents
