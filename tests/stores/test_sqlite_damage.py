"""Files that cannot be used, or cannot be written: a clear error each time, and nothing half-written."""

# ruff: noqa: ASYNC240 - nothing else waits while a test looks at its files

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from layover.ports.errors import StoreError, StoreUnavailable, StoreUnusable
from layover.stores.ids import key
from layover.stores.sqlite import SqliteStore
from tests.stores.conformance import ME, create, creation, following, go_on, head, truth, uid

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65_534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "layover.db"


async def filled(path: Path) -> None:
    """Write a file of many pages."""
    store = SqliteStore(path)
    await store.open(ME)
    await create(store, 1)
    for n in range(2, 40):
        await store.appends.commit([creation(n)])
    for _ in range(20):
        await store.appends.commit([following(await head(store, 1), events=b"x" * 3_000)])
    await store.close()


async def code_of_opening(path: Path) -> str:
    with pytest.raises(StoreError) as refused:
        await SqliteStore(path, busy_ms=20).open(ME)
    assert str(path) in refused.value.message
    return refused.value.code


async def test_what_is_no_database_is_refused_and_not_touched(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 1_000)
    assert await code_of_opening(path) == "not_a_database"
    assert path.read_bytes() == b"Dear diary, " * 1_000


async def test_a_file_that_was_cut_off_is_refused(path: Path) -> None:
    await filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert await code_of_opening(path) == "corrupt"


async def test_a_file_that_was_cut_off_in_its_first_page_is_refused(path: Path) -> None:
    await filled(path)
    path.write_bytes(path.read_bytes()[:700])
    assert await code_of_opening(path) in {"corrupt", "not_a_database"}


async def test_a_damaged_page_is_noticed_only_by_queries_that_read_it(path: Path) -> None:
    await filled(path)
    damage(path, "events")
    store = SqliteStore(path)
    await store.open("other")
    with pytest.raises(StoreUnusable, match="backup") as refused:
        await store.queries.read_history(uid(1), 0, 100)
    assert refused.value.code == "corrupt"
    before = await head(store, 2)
    with pytest.raises(StoreUnusable, match="backup"):
        await store.appends.commit([following(before)])
    assert await head(store, 2) == before
    assert await store.locks.acquire("sweep", ME, 1, 2)
    await store.close()


STRAYS = {
    "outbox": "INSERT INTO outbox VALUES (:id, 'there', 1, 'Start', x'', 500)",
    "tokens": "INSERT INTO tokens VALUES (x'74', :id, 'p')",
    "waits": "INSERT INTO waits VALUES ('paid', 'k', 'p', :id)",
    "places": "INSERT INTO places (execution_id, rank, admitted) VALUES (:id, 0, 0)",
    "tags": "INSERT INTO tags VALUES ('a', 100, :id)",
}


@pytest.mark.parametrize("table", STRAYS)
async def test_what_belongs_to_no_execution_is_named(path: Path, table: str) -> None:
    await filled(path)
    with apsw.Connection(str(path)) as db:
        db.execute(STRAYS[table], {"id": key(uid(1))})
        db.execute(STRAYS[table].replace("x'74'", "x'75'").replace("'p'", "'q'"), {"id": key(uid(99))})
    db.close()
    store = SqliteStore(path)
    await store.open_to_read()
    (fault,) = await store.inspection.list_faults()
    assert (fault.code, fault.execution_id) == ("stray_rows", uid(99))
    assert f"`{table}`" in fault.message
    await store.close()


def damage(path: Path, table: str) -> None:
    """Overwrite all pages of a table."""
    db = apsw.Connection(str(path))
    size = db.pragma("page_size")
    pages = [page for (page,) in db.execute("SELECT pageno FROM dbstat WHERE name = ?", (table,))]
    db.close()
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert await code_of_opening(tmp_path / "nowhere" / "layover.db") == "store_unavailable"


async def test_a_folder_is_no_database(tmp_path: Path) -> None:
    assert await code_of_opening(tmp_path) == "store_unavailable"


async def test_a_place_for_locks_that_is_no_folder_is_named_and_everything_is_closed(path: Path) -> None:
    blocker = path.with_name("layover.db-instances")
    blocker.touch()
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable, match="lock") as refused:
        await store.open(ME)
    assert refused.value.code == "cannot_lock"
    blocker.unlink()
    await store.open(ME)
    await create(store)
    await store.close()


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """Give a folder that an ordinary user owns, outside those of pytest, which only their owner may enter."""
    folder = Path(tempfile.mkdtemp(prefix="layover-"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


@contextmanager
def ordinary_user(folder: Path) -> Iterator[None]:
    """Be somebody whom permissions bind; the superuser writes everywhere."""
    if os.geteuid() != 0:
        yield
        return
    for file in (folder, *folder.rglob("*")):
        os.chown(file, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


async def test_a_file_that_may_only_be_read_is_refused(shared_folder: Path) -> None:
    path = shared_folder / "layover.db"
    await filled(path)
    path.chmod(0o400)
    with ordinary_user(shared_folder):
        assert await code_of_opening(path) == "read_only"


async def test_a_folder_that_may_only_be_read_is_refused(shared_folder: Path) -> None:
    path = shared_folder / "layover.db"
    with ordinary_user(shared_folder):
        shared_folder.chmod(0o500)
        assert await code_of_opening(path) == "store_unavailable"


async def test_a_file_in_a_folder_that_may_only_be_read_is_refused(shared_folder: Path) -> None:
    path = shared_folder / "layover.db"
    await filled(path)
    with ordinary_user(shared_folder):
        shared_folder.chmod(0o500)
        assert await code_of_opening(path) in {"read_only", "store_unavailable", "cannot_lock"}
    shared_folder.chmod(0o700)
    store = SqliteStore(path)
    await store.open(ME)
    await go_on(store)
    assert len(await truth(store)) > 0
    await store.close()
