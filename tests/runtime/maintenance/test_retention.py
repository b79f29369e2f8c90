"""What is kept beside executions goes in its time: what requests were answered, and what people did if that is set."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from layover.ports.access import AuditFilter, IdempotentReply, WorkflowStatus
from layover.ports.delivery_records import DeliveryFilter
from layover.ports.moving import CopiedBatch
from layover.ports.records import AuditRow
from layover.runtime.audit.signing import signing_key
from layover.runtime.audit.verify import verify_audit
from tests.audit.signing import OLD, use
from tests.runtime.harness import HOUR, HandWound, engine_on
from tests.stores.conformance import session, uid
from tests.stores.posted import delivery

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

DAY = 24 * HOUR
SETTINGS = {"purge_every": 1_000 * HOUR}  # only when a test says so


async def _clean(engine: Runtime) -> None:
    """Purge at the time that the store has."""
    instance = engine.instance
    instance.clock.set(await instance.store.now())
    await instance.purger.clean()


async def _act(engine: Runtime, n: int, at: int) -> None:
    entry = AuditRow(id=f"{n:08x}-0000-7000-8000-000000000000", at=at, user="ann", act="workflow.pause")
    await engine.instance.store.workflow_status.set_status(
        WorkflowStatus(workflow="flow", state="paused", changed_at=at), entry
    )


async def _acts(engine: Runtime) -> set[int]:
    return {int(entry.id[:8], 16) for entry in await engine.instance.store.audit.list_entries(AuditFilter(limit=1_000))}


async def test_what_requests_were_answered_is_kept_until_its_time(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), **SETTINGS) as engine:
        store = engine.instance.store
        for n in range(250):  # more than are deleted at once
            until = clock.now + (HOUR if n < 200 else 3 * HOUR)
            await store.idempotency.finish(
                IdempotentReply(scope="ann", key=f"k{n}", fingerprint=b"f", until=until, status=200)
            )
        clock.now += 2 * HOUR
        await _clean(engine)
        assert await store.idempotency.delete_expired(10**15, 1_000) == 50


async def test_sessions_are_deleted_when_their_time_is_over(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), **SETTINGS) as engine:
        store = engine.instance.store
        for n in range(250):  # more than are deleted at once
            expires_at = clock.now + (HOUR if n < 200 else 3 * HOUR)
            row = replace(session(1), id=f"s{n}", hash=b"%d" % n, created_at=clock.now + n, expires_at=expires_at)
            await store.sessions.open_session(row, 1_000)
        clock.now += 2 * HOUR
        await _clean(engine)
        assert len(await store.sessions.list_sessions("session", "", 1_000)) == 50


async def test_what_people_did_is_kept_for_ever(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), **SETTINGS) as engine:
        await _act(engine, 1, clock.now)
        clock.now += 100_000 * HOUR
        await _clean(engine)
        assert await _acts(engine) == {1}


async def test_what_people_did_goes_by_whole_seals_and_that_is_written_down(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), audit_retention=HOUR, **SETTINGS) as engine:
        began = clock.now
        for n in range(250):
            await _act(engine, n, began if n < 200 else began + HOUR)
            if n in (199, 249):
                engine.instance.clock.set(clock.now)
                await engine.instance.sealer.seal_all()
                clock.now += HOUR
        await _act(engine, 250, began)  # no seal holds it yet
        clock.now = began + 3 * HOUR // 2
        await _clean(engine)
        left = await _acts(engine)
        assert left > set(range(200, 251))
        assert len(left) == 52  # one is about it
        (purged,) = await engine.instance.store.audit.list_entries(AuditFilter(act="audit.purge"))
        assert (purged.user, purged.credential) == ("engine", "retention")
        assert msgspec.json.decode(purged.details)["through"] == 1
        assert [seal.n for seal in await engine.instance.store.seals.list_seals(0, 9)] == [1, 2]
        await engine.instance.sealer.seal_all()
        found = await verify_audit(engine.instance.store)
        assert (found.purged_through, found.entries) == (1, 52)
        assert {one.code for one in found.findings} == {"sealed_late"}  # the one that came late
        await _clean(engine)  # nothing more goes, and nothing more is said
        assert len(await engine.instance.store.audit.list_entries(AuditFilter(act="audit.purge"))) == 1


async def test_of_a_signed_chain_only_who_has_the_key_deletes(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), audit_retention=HOUR, **SETTINGS) as engine:
        use(engine, OLD)
        await _act(engine, 1, clock.now)
        engine.instance.clock.set(clock.now)
        await engine.instance.sealer.seal_all()
        clock.now += 2 * HOUR
        use(engine, None)
        await _clean(engine)
        assert await _acts(engine) == {1}
        use(engine, OLD)
        await _clean(engine)
        engine.instance.clock.set(clock.now)
        await engine.instance.sealer.seal_all()
        found = await verify_audit(engine.instance.store, current=signing_key(OLD).public)
    assert (found.findings, found.purged_through, found.entries) == ((), 1, 1)


async def test_what_was_sent_is_kept_for_a_week_and_that_it_was_sent_for_a_month(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), **SETTINGS) as engine:
        store = engine.instance.store
        rows = [
            delivery(k, state="sent", settled_at=clock.now + k * DAY, created_at=k, execution_id=None)
            for k in (0, 24, 30)
        ]
        dead = replace(rows[1], id=uid(9), state="dead", created_at=99)
        await store.database_copy.write_batch(CopiedBatch(deliveries=(*rows, dead)))
        clock.now += 32 * DAY
        await _clean(engine)
        kept = await store.deliveries.list_deliveries(DeliveryFilter())
        assert kept == [dead, rows[2], replace(rows[1], body=b"")]
