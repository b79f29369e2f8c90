"""What is kept beside executions goes in its time: what requests were answered, and what people did if that is set."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.ports.access import AuditFilter, IdempotentReply, WorkflowStatus
from layover.ports.records import AuditRow
from tests.runtime.harness import HOUR, HandWound, engine_on

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

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


async def test_what_people_did_is_kept_for_ever(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), **SETTINGS) as engine:
        await _act(engine, 1, clock.now)
        clock.now += 100_000 * HOUR
        await _clean(engine)
        assert await _acts(engine) == {1}


async def test_what_people_did_is_kept_for_as_long_as_is_set(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), audit_retention=HOUR, **SETTINGS) as engine:
        for n in range(250):
            await _act(engine, n, clock.now if n < 200 else clock.now + HOUR)
        clock.now += 3 * HOUR // 2
        await _clean(engine)
        assert await _acts(engine) == set(range(200, 250))
