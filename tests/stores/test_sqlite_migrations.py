"""Numbered steps, up and down, and files that are refused unchanged."""

# ruff: noqa: ASYNC240 - nothing else waits while a test looks at its files

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import msgspec
import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreUnavailable, StoreUnusable
from layover.ports.limit_records import AdmissionRequest, ConcurrencyLimit
from layover.ports.records import CLOSED, ClosedPoint, Rest, Token
from layover.ports.view_records import PausedFilter
from layover.stores.ids import key
from layover.stores.sqlite import SqliteStore
from layover.stores.sqlite.connection import connect, write_ahead
from layover.stores.sqlite.migrations import APPLICATION_ID, check, migrate, migrations
from tests.stores.conformance import ME, Clock, claim, create, go_on, head, message, opened, point, signal, truth, uid
from tests.stores.listed import begin_all, lists

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEWEST = migrations()[-1].number


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "layover.db"


@pytest.fixture
def db(path: Path) -> Iterator[apsw.Connection]:
    found = connect(path)
    yield found
    found.close()


def schema(db: apsw.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE name != 'migrations' AND sql IS NOT NULL"))


def test_steps_are_numbered_without_a_gap() -> None:
    assert [step.number for step in migrations()] == list(range(1, NEWEST + 1))


def test_a_new_file_takes_every_step_once(db: apsw.Connection, path: Path) -> None:
    assert migrate(db, path, 77) == list(range(1, NEWEST + 1))
    assert migrate(db, path, 78) == []
    assert db.execute("SELECT DISTINCT taken_at FROM migrations").get == 77
    assert db.pragma("application_id") == APPLICATION_ID
    check(db, path)


def test_every_step_can_be_taken_back_and_taken_again(db: apsw.Connection, path: Path) -> None:
    shapes: list[dict[str, str]] = []
    for number in range(NEWEST + 1):
        migrate(db, path, 1, to=number)
        shapes.append(schema(db))
    for number in reversed(range(NEWEST)):
        assert migrate(db, path, 1, to=number) == [number + 1]
        assert schema(db) == shapes[number]
    assert schema(db) == {}
    assert migrate(db, path, 1) == list(range(1, NEWEST + 1))
    assert schema(db) == shapes[-1]


def test_a_file_that_has_not_taken_every_step_is_old(db: apsw.Connection, path: Path) -> None:
    migrate(db, path, 1, to=NEWEST - 1)
    assert code(lambda: check(db, path)) == "old_database"


def test_a_step_that_fails_leaves_the_file_as_it_was(db: apsw.Connection, path: Path) -> None:
    migrate(db, path, 1, to=0)
    db.execute("CREATE TABLE locks (something_else)")
    before = schema(db)
    with pytest.raises(apsw.SQLError, match="already exists"):
        migrate(db, path, 1)
    assert schema(db) == before
    assert not db.in_transaction


def test_a_step_that_reads_differently_now_is_refused(db: apsw.Connection, path: Path) -> None:
    migrate(db, path, 1)
    db.execute("UPDATE migrations SET checksum = 'another' WHERE number = 1")
    assert code(lambda: migrate(db, path, 2)) == "other_migration"
    assert code(lambda: check(db, path)) == "other_migration"


def test_a_file_of_a_newer_release_is_refused(db: apsw.Connection, path: Path) -> None:
    migrate(db, path, 1)
    db.execute("INSERT INTO migrations VALUES (?, 'later', 'x', 1)", (NEWEST + 1,))
    assert code(lambda: migrate(db, path, 2)) == "newer_database"
    assert code(lambda: check(db, path)) == "newer_database"


def test_a_file_of_another_program_is_not_checked_as_ours(db: apsw.Connection, path: Path) -> None:
    assert code(lambda: check(db, path)) == "foreign"


@pytest.mark.parametrize("number", [0, 7])
async def test_a_file_of_another_program_is_refused_and_not_touched(path: Path, number: int) -> None:
    with apsw.Connection(str(path)) as theirs:
        theirs.pragma("application_id", number)
        theirs.execute("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match="another program") as refused:
        await SqliteStore(path).open(ME)
    assert refused.value.code == "foreign"
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


async def test_a_file_of_a_newer_release_is_not_opened(path: Path, db: apsw.Connection) -> None:
    migrate(db, path, 1)
    db.execute("INSERT INTO migrations VALUES (?, 'later', 'x', 1)", (NEWEST + 1,))
    with pytest.raises(StoreUnusable, match="newer release") as refused:
        await SqliteStore(path).open(ME)
    assert refused.value.code == "newer_database"


def test_the_way_of_writing_is_changed_as_soon_as_others_let_it(db: apsw.Connection, path: Path) -> None:
    migrate(db, path, 1)
    other = apsw.Connection(str(path))
    other.execute("BEGIN; SELECT count(*) FROM heads")
    tries: list[str] = []

    def note(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        tries.append(sql)
        if len(tries) == 3:
            other.close()
        return True

    db.set_busy_timeout(0)
    db.exec_trace = note
    write_ahead(db, path, busy_ms=60_000)
    assert len(tries) == 3
    assert db.pragma("journal_mode") == "wal"


def test_the_way_of_writing_is_not_waited_for_for_ever(db: apsw.Connection, path: Path) -> None:
    migrate(db, path, 1)
    other = apsw.Connection(str(path))
    other.execute("BEGIN; SELECT count(*) FROM heads")
    db.set_busy_timeout(0)
    with pytest.raises(StoreUnavailable) as refused:
        write_ahead(db, path, busy_ms=0)
    assert refused.value.code == "locked"
    other.close()


# What a file of the first release may hold: an execution that asks, with a command that it has not read.
FIRST_ROWS = """
INSERT INTO versions VALUES (1, 'order', 1, 'h1', x'7b7d', 50);
INSERT INTO heads VALUES (:id, 'order', 'paused', 3, 1, 1, 1, NULL, 700, 1, 0, 0);
INSERT INTO executions VALUES (:id, 1, 100, 'ann', NULL, 'c', '["a"]', NULL, NULL, NULL);
INSERT INTO events VALUES (:id, 0, 2, 100, x'5b5d');
INSERT INTO snapshots VALUES (:id, 1, x'73');
INSERT INTO pause_points VALUES ('p', :id, 'order', 'form', 'open', 150, NULL, :point, NULL);
INSERT INTO commands VALUES (:id, 1, 700, 'Pause', x'7b7d', 's', 0);
INSERT INTO locks VALUES ('sweep', 'me', 900);
"""


def write_first_rows(db: apsw.Connection) -> None:
    db.execute(FIRST_ROWS, {"id": key(uid(1)), "point": msgspec.json.encode(point("p", kind="form"))})


def rows(db: apsw.Connection) -> dict[str, list[tuple[object, ...]]]:
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    found = {name: list(db.execute(f"SELECT * FROM {name}")) for name in tables}  # noqa: S608 - names of ours
    return {name: kept for name, kept in found.items() if kept and name != "migrations"}


def test_what_is_in_a_file_survives_every_step_up_and_down(db: apsw.Connection, path: Path) -> None:
    migrate(db, path, 1, to=1)
    write_first_rows(db)
    first = rows(db)
    assert len(first) == 8
    migrate(db, path, 2)
    newest = rows(db)
    # All that is known of when it was paused is when it last moved; it waits to be indexed.
    heads, executions = (*first["heads"][0], None, None, 100, 100, 1), (*first["executions"][0], None, 0)
    tags = ("a", 100, key(uid(1)))
    assert newest == {**first, "heads": [heads], "executions": [executions], "tags": [tags]}
    migrate(db, path, 3, to=1)
    assert rows(db) == first
    migrate(db, path, 4)
    assert rows(db) == newest
    assert db.execute("PRAGMA integrity_check").get == "ok"


async def test_a_file_of_the_first_release_goes_on(db: apsw.Connection, path: Path) -> None:
    migrate(db, path, 1, to=1)
    write_first_rows(db)
    store = SqliteStore(path)
    await store.open(ME)
    assert [row.head.paused_at for row in await store.queries.list_paused(PausedFilter())] == [100]
    (claimed,) = (await claim(store, 700)).claimed
    assert (claimed.head.missing, claimed.head.missing_since) == ((), None)
    assert [command.kind for command in claimed.commands] == ["Pause"]
    await go_on(store, messages=(message(),), points=(ClosedPoint(id="p", how="applied"),))
    was = await go_on(store, rest=Rest(missing=("mail",)))
    assert was.missing == ("mail",)
    assert await store.outbox.list_undelivered(uid(1)) == [message()]
    assert await store.inspection.list_faults() == []
    await store.close()


async def test_a_file_that_was_used_can_go_back_and_keeps_what_the_older_release_knows(
    db: apsw.Connection, path: Path
) -> None:
    migrate(db, path, 1, to=1)
    write_first_rows(db)
    store = SqliteStore(path)
    await store.open(ME)
    await claim(store, 700)
    waiting = replace(opened("q"), waits=(("paid", "k"),))
    await go_on(store, messages=(message(),), tokens=(Token(hash=b"t", point="p"),), points=(waiting,))
    await store.signals.add(signal())
    await store.limits.admit(AdmissionRequest(execution_id=uid(1), slots=ConcurrencyLimit(name="s", limit=1)), 800)
    await go_on(store, rest=Rest(missing=("mail",)))
    logs = await store.queries.read_history(uid(1), 0, 10)
    await store.close()
    migrate(db, path, 2, to=1)
    assert [row[:3] for row in rows(db)["events"]] == [(key(uid(1)), one.seq, one.count) for one in logs]
    assert rows(db).keys() == {
        "versions", "heads", "executions", "events", "snapshots", "pause_points", "commands", "locks",
    }  # fmt: skip
    await store.open(ME)
    assert await store.queries.read_history(uid(1), 0, 10) == logs
    assert (await head(store)).missing == ()
    assert await store.outbox.list_undelivered(uid(1)) == []
    await store.close()


async def test_what_is_listed_is_the_same_when_lists_have_been_taken_back_and_taken_again(
    db: apsw.Connection, path: Path
) -> None:
    clock = Clock()
    store = SqliteStore(path, clock=clock)
    await store.open(ME)
    await begin_all(store)
    listed, kept = await lists(store), rows(db)
    await store.close()
    clock.now = 10_000  # every lease is over: an instance that opens the file again ends none
    assert migrate(db, path, 2, to=5) == list(reversed(range(6, NEWEST + 1)))
    assert rows(db).keys() == kept.keys() - {"tags"}
    await store.open(ME)
    assert await lists(store) == listed
    assert rows(db) == kept
    await store.close()


async def test_what_is_purged_has_no_tags_left(db: apsw.Connection, path: Path) -> None:
    store = SqliteStore(path)
    await store.open(ME)
    found = await begin_all(store)
    ended = [row for row in found if row.head.status in CLOSED]
    assert await store.retention.purge([row.head.execution_id for row in ended]) == len(ended)
    left = {key(row.head.execution_id) for row in found if row not in ended and row.info.tags}
    assert {id_ for (id_,) in db.execute("SELECT execution_id FROM tags")} == left
    await store.close()


async def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    store = SqliteStore(path)
    await store.open(ME)
    await create(store)
    assert len(await truth(store)) > 0
    await store.close()


def code(call: object) -> str:
    """Return the code with which a file is refused."""
    assert callable(call)
    with pytest.raises(StoreUnusable) as refused:
        call()
    return refused.value.code


def test_no_step_of_a_file_lets_older_releases_go_on() -> None:
    """A file is used by one release at a time: an older process refuses it, so what it does not know cannot be lost."""
    assert not any(step.is_compatible for step in migrations())
