"""Every finding of the doctor is provoked, and everything that is not right comes with what to do about it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from layover import Engine, admin
from layover.ports.vitals import Vitals
from layover.runtime.examination.database import judge_clock, judge_vitals
from layover.runtime.examination.executions import _MANY_CLOSED
from tests.runtime.harness import address_in
from tests.servers.postgres import run, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.admin import Diagnosis, Finding

pytestmark = pytest.mark.usefixtures("each_database", "_alone")

ASKING = "name: asking\nnodes: [{id: a, type: approval}]"
CALLING = """
name: calling
nodes:
  - {id: each, type: loop, times: 2, body: [{id: x, type: double, input: {n: 1}}], next: last}
  - {id: last, type: approval}
"""
LONG_AGO = 1_000


@pytest.fixture
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("LAYOVER_")]:
        monkeypatch.delenv(name)


def double(n: int) -> int:
    return 2 * n


async def with_paused(folder: Path, *, source: str = ASKING, nodes: tuple[Callable[..., object], ...] = ()) -> str:
    async with Engine(address_in(folder), nodes=nodes) as engine:
        workflow = await engine.register(source)
        return (await engine.start(workflow.name, until="rest", timeout="30s")).id


async def change(folder: Path, statement: str) -> None:
    """Change rows behind the engine's back."""
    address = address_in(folder)
    if address.startswith("sqlite"):
        db = apsw.Connection(str(folder / "layover.db"))
        db.execute(statement.replace("layover.", ""))
        db.close()
    else:
        await run(address, statement.replace("layover.", f"{schema_of(address)}.").replace("AS BLOB", "AS bytea"))


def finding(found: Diagnosis, what: str) -> Finding:
    (one,) = [one for one in found.findings if one.what == what]
    return one


async def examined(folder: Path, what: str, nodes: list[Callable[..., object]] | None = None) -> Finding:
    found = await admin.doctor(address_in(folder), nodes=nodes)
    assert [one.what for one in found.findings if one.health != "ok" and not one.hint] == []
    return finding(found, what)


async def test_a_sound_database_with_nothing_open_has_nothing_to_tell(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path)) as engine:
        found = await admin.doctor(address_in(tmp_path))
        assert engine is not None
    careless = {"durability"}  # servers for tests do not wait for the disk
    assert found.ok
    assert {one.what for one in found.findings if one.health != "ok"} <= careless
    named = {one.what for one in found.findings}
    assert named >= {"settings", "python", "clock", "schema", "durability", "database", "instances", "queue", "outbox"}
    assert named >= {"retention", "open files"}


async def test_settings_that_are_wrong_are_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOVER_POL", "1s")
    monkeypatch.setenv("LAYOVER_CALLS", "none")
    found = await admin.doctor(address_in(tmp_path))
    assert not found.ok
    assert "Did you mean `LAYOVER_POLL`?" in finding(found, "setting LAYOVER_POL").text
    assert finding(found, "setting LAYOVER_CALLS").health == "problem"
    assert all(one.hint for one in found.findings)


async def test_settings_that_ask_for_trouble_are_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOVER_LEASE_TTL", "900ms")
    assert (await examined(tmp_path, "settings")).text == "1 by environment, 1 by flag"
    short = await examined(tmp_path, "setting lease_ttl")
    assert (short.health, short.text) == ("warning", "900 ms is short")


def write_secret(mode: int) -> None:
    file = Path("layover.toml")
    file.write_text('admin_key = "an-admin-key-for-tests-only"\n')
    file.chmod(mode)


async def test_a_file_with_secrets_that_others_may_read_is_a_warning(tmp_path: Path) -> None:
    write_secret(0o644)
    open_ = await examined(tmp_path, "settings file")
    assert (open_.health, open_.hint.partition(":")[2]) == ("warning", " chmod 600 layover.toml")
    write_secret(0o600)
    assert (await examined(tmp_path, "settings file")).health == "ok"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
async def test_few_open_files_are_a_warning(tmp_path: Path) -> None:
    import resource  # noqa: PLC0415 - as above

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        few = await examined(tmp_path, "open files")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (few.health, few.text) == ("warning", "512 at once")


async def test_tables_of_an_older_release_are_a_problem(tmp_path: Path) -> None:
    await admin.migrate(address_in(tmp_path))
    newest = (await admin.schema_of(address_in(tmp_path))).newest
    await admin.migrate(address_in(tmp_path), to=newest - 1)
    old = await examined(tmp_path, "schema")
    assert (old.health, old.text) == ("problem", f"{newest - 1} of {newest}")
    assert "layover migrate" in old.hint


async def test_open_executions_that_nothing_drives_are_a_warning(tmp_path: Path) -> None:
    await with_paused(tmp_path)
    none = await examined(tmp_path, "instances")
    assert (none.health, none.text) == ("warning", "0 instances alive")
    assert "layover worker" in none.hint


async def test_what_is_due_for_long_is_a_warning(tmp_path: Path) -> None:
    id_ = await with_paused(tmp_path)
    await change(tmp_path, f"UPDATE layover.heads SET wake_at = {LONG_AGO}, owner = NULL")  # noqa: S608 - a number
    queue = await examined(tmp_path, "queue")
    assert queue.health == "warning"
    assert queue.text.startswith("1 due, the oldest for ")
    assert "and not claimed" in (await examined(tmp_path, f"execution {id_}")).text


async def test_leases_of_a_lost_instance_are_a_warning(tmp_path: Path) -> None:
    await with_paused(tmp_path)
    await change(tmp_path, "UPDATE layover.heads SET owner = 'gone-1', wake_at = 9000000000000")
    left = await examined(tmp_path, "leases")
    assert (left.health, left.text) == ("warning", "1 execution held by gone-1, which is not alive")


async def test_an_execution_that_loses_its_instances_is_a_warning(tmp_path: Path) -> None:
    id_ = await with_paused(tmp_path)
    await change(tmp_path, "UPDATE layover.heads SET takeovers = 3")
    suspect = await examined(tmp_path, f"execution {id_}")
    assert suspect.text.startswith("lost 3 instances in a row")
    assert "layover pause" in suspect.hint


async def test_functions_that_are_missing_on_this_machine_are_a_warning(tmp_path: Path) -> None:
    await with_paused(tmp_path, source=CALLING, nodes=(double,))
    missing = await examined(tmp_path, "functions", nodes=[])
    assert (missing.health, missing.text) == ("warning", "missing here: double (1 open)")
    assert (await examined(tmp_path, "functions", nodes=[double])).health == "ok"


async def test_an_execution_that_waits_for_a_function_is_a_warning(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register("name: lacking\nnodes: [{id: x, type: double}]", allow_unknown=True)
        started = await engine.start("lacking", until="rest", timeout="30s")
    waits = await examined(tmp_path, f"execution {started.id}")
    assert waits.text.startswith("no instance has a function and a free call slot for double")
    assert "--nodes" in waits.hint


async def test_messages_that_are_not_delivered_are_a_warning(tmp_path: Path) -> None:
    await with_paused(tmp_path)
    columns = "sender, destination, n, kind, body, due_at"
    row = f"execution_id, 'other', 1, 'Stop', CAST('x' AS BLOB), {LONG_AGO}"
    await change(tmp_path, f"INSERT INTO layover.outbox ({columns}) SELECT {row} FROM layover.heads")  # noqa: S608 - ours
    stuck = await examined(tmp_path, "outbox")
    assert stuck.health == "warning"
    assert stuck.text.startswith("1 messages of 1 executions not delivered, the oldest for ")


async def test_a_database_that_only_grows_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("layover.runtime.examination.executions._MANY_CLOSED", 1)
    assert _MANY_CLOSED > 1
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register("name: plain\nnodes: [{id: a, type: end}]")
        await engine.run("plain")
    grows = await examined(tmp_path, "retention")
    assert (grows.health, grows.text) == ("warning", "1 closed executions")
    monkeypatch.setenv("LAYOVER_RETENTION", "30d")
    kept = await examined(tmp_path, "retention")
    assert (kept.health, kept.text) == ("ok", "1 closed executions; deleted after 30d")


@pytest.mark.parametrize(
    ("vitals", "told"),
    [
        (Vitals(), ["ok durability: commits survive a crash"]),
        (Vitals(journal_mode="wal"), ["ok durability: commits survive a crash"]),
        (Vitals(journal_mode="delete"), ["warning durability: journal_mode=delete"]),
        (Vitals(fsync=False, full_page_writes=False), ["warning durability: fsync=off, full_page_writes=off"]),
        (Vitals(synchronous_commit=False), ["warning durability: synchronous_commit=off"]),
        (Vitals(pooled=True, jit=True), ["ok durability: commits survive a crash", "warning pooler: jit is on"]),
        (Vitals(pooled=True), ["ok durability: commits survive a crash", "ok pooler: jit is off"]),
        (Vitals(jit=True), ["ok durability: commits survive a crash"]),
        (
            Vitals(journal_mode="wal", log_bytes=2_000_000_000),
            ["ok durability: commits survive a crash", "warning write-ahead log: 2.0 GB"],
        ),
    ],
)
def test_careless_settings_of_a_database_are_warnings(vitals: Vitals, told: list[str]) -> None:
    found = list(judge_vitals(vitals))
    assert [f"{one.health} {one.what}: {one.text}" for one in found] == told
    assert all(one.hint for one in found if one.health != "ok")


async def test_the_durability_of_the_database_itself_is_asked(tmp_path: Path) -> None:
    await admin.migrate(address_in(tmp_path))
    durability = await examined(tmp_path, "durability")
    if address_in(tmp_path).startswith("sqlite"):
        assert durability.health == "ok"
        db = apsw.Connection(str(tmp_path / "layover.db"))
        db.pragma("journal_mode", "delete")
        db.close()
        assert (await examined(tmp_path, "durability")).text == "journal_mode=delete"
    else:
        assert durability.text == "fsync=off, full_page_writes=off"  # as servers for tests are
        assert abs(int((await examined(tmp_path, "clock of the database")).text.split()[0].replace(",", ""))) < 60_000
        pooled = await admin.doctor(f"{address_in(tmp_path)}&pooler=transaction")
        assert finding(pooled, "pooler").text.startswith("jit is ")


def test_a_clock_that_differs_from_the_databases_is_a_warning() -> None:
    assert judge_clock(20).health == "ok"
    assert judge_clock(-60_000).health == "warning"
    assert "NTP" in judge_clock(60_000).hint


async def test_a_database_that_cannot_be_reached_is_a_problem() -> None:
    for address in ("postgresql://me:s3cret@127.0.0.1:1/app", "nowhere/app.db", "mysql://x/y"):
        found = await admin.doctor(address)
        assert not found.ok
        assert all(one.hint for one in found.findings if one.health != "ok")
        assert "s3cret" not in repr(found)
