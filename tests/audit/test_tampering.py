"""Someone edits the audit tables: each edit is found, or is one of the two limits that every verification names.

`LAYOVER_AUDIT_EDITS=1000` makes as many edits; `LAYOVER_AUDIT_SEED` begins elsewhere.
"""

from __future__ import annotations

import base64
import os
import random
import shutil
from contextlib import closing
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from time import time
from typing import TYPE_CHECKING, Final

import apsw
import pytest

from layover.core.audit_proofs import signed_by_purge
from layover.ports.audit_entries import ENGINE, PURGED, audit_row
from layover.runtime.audit.findings import LIMITS
from layover.runtime.audit.signing import signing_key
from layover.runtime.audit.verify import verify_audit
from layover.service.actor import Actor
from layover.stores.sqlite import SqliteStore
from tests.audit.edits import SEALS, WAYS, PostgresTables, SqliteTables, cut, inserting
from tests.audit.signing import NEVER, NEW, OLD, use
from tests.runtime.harness import engine_at

if TYPE_CHECKING:
    from layover.ports.records import AuditRow
    from layover.runtime.audit.findings import AuditVerification
    from tests.audit.edits import Tables

EDITS: Final = int(os.environ.get("LAYOVER_AUDIT_EDITS", "40"))
SEED: Final = int(os.environ.get("LAYOVER_AUDIT_SEED", "1"))
_EACH: Final = 3


async def _chain(folder: Path) -> tuple[Path, str]:
    """Make a chain of several seals, the first half by a key that was followed by another; return its file and head."""
    async with engine_at(folder, audit_poll=NEVER) as engine:
        actor = Actor(engine)
        for n in range(SEALS):
            use(engine, OLD if n < SEALS // 2 else NEW)
            for k in range(_EACH):
                entry = actor.entry("workflow.pause", f"w{n}-{k}", reason="because", document=b'{"title":"Pay?"}')
                await engine.signals.deliver("s", id=f"s{n}-{k}", audit=entry)
            await engine.instance.sealer.seal_all()
        last = await engine.instance.store.seals.last_seal()
        assert last is not None
    return folder / "layover.db", last.head.hex()


def insert_now(db: apsw.Connection, row: AuditRow, seal: int | None) -> None:
    statement, values = inserting(row, seal)
    db.execute(statement, values)


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_every_edit_is_found_or_is_a_limit_that_is_named(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    address: str = request.getfixturevalue("on_postgres") if database == "postgres" else ""
    source, head = await _chain(tmp_path)
    current = signing_key(NEW).public
    tables: Tables = await PostgresTables.at(address) if address else SqliteTables(source)
    try:
        for n in range(EDITS):
            dice = random.Random(SEED * 1_000_000 + n)  # noqa: S311 - it can be repeated
            way = WAYS[n % len(WAYS)]
            store = await tables.restore()
            await way(tables, dice)
            found = await verify_audit(store, current=current)
            witnessed = await verify_audit(store, current=current, heads=[head])
            assert not witnessed.ok, f"edit {n} ({way.__name__}) was not found"
            assert not found.ok or way is cut, f"edit {n} ({way.__name__})"
            assert found.limits == LIMITS
        whole = await verify_audit(await tables.restore(), current=current, heads=[head])
        assert whole.findings == ()
    finally:
        await tables.close()


async def _verified(edited: Path, *heads: str) -> AuditVerification:
    store = SqliteStore(edited)
    await store.open_to_read()
    try:
        return await verify_audit(store, current=signing_key(NEW).public, heads=heads)
    finally:
        await store.close()


async def test_whichever_seal_is_deleted_it_is_missed(tmp_path: Path) -> None:
    source, _ = await _chain(tmp_path)
    for n in range(1, SEALS + 1):
        edited = tmp_path / "edited.db"
        shutil.copyfile(source, edited)
        with closing(apsw.Connection(str(edited))) as db:
            db.execute("DELETE FROM audit_seals WHERE n = ?", (n,))
        assert "seal_missing" in {one.code for one in (await _verified(edited)).findings}, n


async def test_an_entry_that_somebody_adds_without_a_seal_waits_for_one_or_is_late(tmp_path: Path) -> None:
    source, head = await _chain(tmp_path)
    now = int(time() * 1000)
    with closing(apsw.Connection(str(source))) as db:
        insert_now(db, audit_row(id="1" * 8, at=now, user="mallory", act="key.add", salt=bytes(16)), None)
    found = await _verified(source, head)
    assert (found.findings, found.waiting) == ((), 1)  # for a second, which is the first limit
    assert "added" in found.limits[0]
    with closing(apsw.Connection(str(source))) as db:
        insert_now(db, audit_row(id="0" * 8, at=now - 10**7, user="mallory", act="key.add", salt=bytes(16)), None)
    (late,) = (await _verified(source, head)).findings
    assert (late.code, late.entry) == ("sealed_late", "0" * 8)


async def test_nobody_can_say_in_the_name_of_retention_that_entries_are_purged(tmp_path: Path) -> None:
    source, head = await _chain(tmp_path)
    told = {"through": SEALS, "before": "2026-01-01T00:00:00.000Z"}
    row = audit_row(id="1" * 8, at=int(time() * 1000), user=ENGINE, act=PURGED, salt=bytes(16), details=told)
    for seal in (None, 3, SEALS + 1):
        edited = tmp_path / "edited.db"
        shutil.copyfile(source, edited)
        with closing(apsw.Connection(str(edited))) as db:
            insert_now(db, row, seal)
            db.execute("DELETE FROM audit WHERE seal = 2")
        found = await _verified(edited, head)
        assert not found.ok, seal
        if seal is None:
            assert (found.purged_through, [one.code for one in found.findings]) == (0, ["entry_missing"])


async def test_nobody_has_a_word_of_retention_sealed_without_the_key(tmp_path: Path) -> None:
    source, head = await _chain(tmp_path)
    for n, told in enumerate(({}, {"key_id": signing_key(OLD).id, "signature": _by(OLD)})):
        details = {"through": SEALS, "before": "2026-01-01T00:00:00.000Z", **told}
        row = audit_row(id=f"{n}" * 8, at=int(time() * 1000), user=ENGINE, act=PURGED, salt=bytes(16), details=details)
        with closing(apsw.Connection(str(source))) as db:
            insert_now(db, row, None)
    with closing(apsw.Connection(str(source))) as db:
        db.execute("DELETE FROM audit WHERE seal = 2")
    async with engine_at(tmp_path, audit_poll=NEVER) as engine:
        use(engine, NEW)
        await engine.instance.sealer.seal_all()  # as it does within a second, whoever has written the entry
    found = await _verified(source, head)
    assert (found.purged_through, [one.code for one in found.findings]) == (0, ["entry_missing"])


def _by(seed: str) -> str:
    return base64.b64encode(signing_key(seed).sign(signed_by_purge("1" * 8, SEALS))).decode()


async def test_an_entry_that_somebody_erased_cannot_say_that_others_are_purged(tmp_path: Path) -> None:
    source, head = await _chain(tmp_path)
    with closing(apsw.Connection(str(source))) as db:
        db.execute("DELETE FROM audit WHERE seal = 2")
        values = (ENGINE, PURGED, f'{{"through":{SEALS}}}', "w5-0")
        db.execute(
            "UPDATE audit SET entry = NULL, salt = NULL, user = ?, act = ?, details = ? WHERE target = ?", values
        )
        assert db.changes() == 1
    found = await _verified(source, head)
    assert found.purged_through == 0
    assert {one.code for one in found.findings} == {"entry_missing", "entry_changed"}


async def test_an_erased_entry_cannot_name_another_user(tmp_path: Path) -> None:
    source, head = await _chain(tmp_path)
    with closing(apsw.Connection(str(source))) as db:
        db.execute("UPDATE audit SET entry = NULL, salt = NULL, details = '{}', user = 'mallory' WHERE target = 'w5-0'")
    (found,) = (await _verified(source, head)).findings
    assert (found.code, found.seal) == ("entry_changed", 6)


async def test_a_chain_that_nobody_edited_is_whole(tmp_path: Path) -> None:
    source, head = await _chain(tmp_path)
    store = SqliteStore(source)
    await store.open_to_read()
    found = await verify_audit(store, current=signing_key(NEW).public, heads=[head])
    await store.close()
    assert found.findings == ()
    assert (found.seals, found.entries, found.head, found.key) == (SEALS, SEALS * _EACH, head, "current")


async def test_what_was_erased_for_a_person_leaves_its_leaf(tmp_path: Path) -> None:
    source, head = await _chain(tmp_path)
    db = apsw.Connection(str(source))
    db.execute("UPDATE audit SET entry = NULL, salt = NULL, details = '{}', user = '' WHERE seal = 2")
    db.close()
    store = SqliteStore(source)
    await store.open_to_read()
    found = await verify_audit(store, current=signing_key(NEW).public, heads=[head])
    await store.close()
    assert (found.findings, found.erased) == ((), _EACH)
