"""What comes between an instance and the batch on which it works: users who stop it, and other instances."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec.structs import replace

from layover.errors import NotAllowed
from layover.model.batches import BatchBody, BatchOptions, CanaryBody, WhichItems
from layover.ports.batch_records import LIVE_BATCHES, BatchChange, BatchClaim
from layover.runtime.batches.collector import AT_ONCE
from layover.runtime.runtime import Runtime
from layover.service.actor import Actor
from layover.service.batch_acts import UserBatchActs
from layover.service.permissions import caller_of
from layover.service.service import UserService
from tests.runtime.harness import Between, HandWound, flow, form, settings_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.model.batches import BatchInfo
    from layover.ports.batch_records import BatchAdvance, BatchRow
    from layover.ports.records import Head
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionFilter, ExecutionRow
    from layover.service.batches import BatchService

pytestmark = pytest.mark.usefixtures("each_database")

ASKING = flow(form("ask", schema={"type": "object", "required": ["size"]}), name="asking")
ANSWERS = BatchBody(
    act="answer",
    where=WhichItems(workflow="asking", node="ask"),
    options=BatchOptions(data={}),  # it does not fit
    canary=CanaryBody(share="50%", watch="0s"),
)
SECOND = 1_000


def acting_on(store: Between, **settings: object) -> Runtime:
    """Return an engine that does batches."""
    return Runtime(cast("Store", store), settings=settings_with(**settings), batch_acts=UserBatchActs)


async def started(engine: Runtime, count: int) -> None:
    await engine.workflows.register(ASKING)
    await asyncio.gather(*(engine.executions.start("asking", n) for n in range(count)))


def batches_of(engine: Runtime) -> BatchService:
    return UserService(Actor(engine, caller_of("ann", ("operator", "approver"), "test"))).batches


def figures(batch: BatchInfo) -> tuple[str, str | None, int, int, int]:
    return batch.status, batch.code, batch.total, batch.done, batch.failed


class _Stopping(Between):
    """A user stops the batch while the first act of its canary is under way."""

    has_stopped = False

    async def batches_advance(self, advance: BatchAdvance) -> BatchRow | None:
        if advance.settled and not self.has_stopped:
            self.has_stopped = True
            await self.store.batches.change(
                BatchChange(id=advance.row.id, of=LIVE_BATCHES, state="stopped", at=advance.row.due_at, code="stopped")
            )
        return await self.store.batches.advance(advance)


async def test_a_canary_that_failed_while_its_batch_was_stopped_holds_when_that_goes_on(tmp_path: Path) -> None:
    async with acting_on(_Stopping(tmp_path)) as engine:
        await started(engine, 4)
        batches = batches_of(engine)
        made = await batches.create(ANSWERS, None)
        stopped = await batches.wait(str(made.id), 30)
        assert figures(stopped) == ("stopped", "stopped", 4, 0, 2)
        await batches.continue_(str(made.id))
        again = await batches.wait(str(made.id), 30)
        assert figures(again) == ("stopped", "canary_failed", 4, 0, 2)
        assert "failed: " in again.reason
        await batches.continue_(str(made.id))  # the operator has looked
        assert figures(await batches.wait(str(made.id), 30)) == ("completed", None, 4, 0, 4)


class _Slow(Between):
    """Each look at executions takes long; meanwhile another instance tries to claim what is due."""

    engine: Runtime

    def __init__(self, folder: Path) -> None:
        self.clock = HandWound()
        self.store = self.clock.store(folder)
        self.tries: list[BatchRow | None] = []

    def pass_(self, milliseconds: int) -> None:
        self.clock.now += milliseconds
        self.engine.instance.clock.set(self.clock.now)

    async def queries_read_heads(self, ids: Sequence[str]) -> list[Head | None]:
        found = await self.store.queries.read_heads(ids)
        if len(ids) == 100:  # a page of the canary
            self.pass_(10 * SECOND)
            claim = BatchClaim(now=self.clock.now, due_again=self.clock.now + 30 * SECOND)
            self.tries.append(await self.store.batches.claim(claim))
        return found

    async def queries_list_executions(self, wanted: ExecutionFilter) -> list[ExecutionRow]:
        self.pass_(11 * SECOND)
        return await self.store.queries.list_executions(wanted)


async def test_a_canary_that_takes_longer_to_look_at_than_a_claim_lasts_stays_with_its_instance(tmp_path: Path) -> None:
    """Else two instances would take it from each other for ever, and the batch would never go on."""
    store = _Slow(tmp_path)
    async with acting_on(store, lease_ttl=30 * SECOND) as store.engine:
        await started(store.engine, 420)
        pauses = BatchBody(act="pause", where=WhichItems(workflow="asking"), canary=CanaryBody(share="99%", watch="0s"))
        batches = batches_of(store.engine)
        made = await batches.create(pauses, None)
        done = await batches.wait(str(made.id), 30)
        assert figures(done) == ("completed", None, 420, 420, 0)
        assert len(store.tries) >= 4, "it took less than a claim"
        assert not any(store.tries)


async def test_a_dry_run_counts_only_for_so_long(tmp_path: Path) -> None:
    store = _Slow(tmp_path)
    async with acting_on(store) as store.engine:
        await started(store.engine, AT_ONCE + 2)
        pauses = BatchBody(act="pause", where=WhichItems(workflow="asking"))
        planned = await batches_of(store.engine).create(replace(pauses, dry_run=True), None)
        assert (planned.total, planned.more) == (AT_ONCE, True)


async def test_two_who_stop_or_continue_a_batch_at_once_both_do(tmp_path: Path) -> None:
    async with acting_on(Between(tmp_path)) as engine:
        await started(engine, 3)
        batches = batches_of(engine)
        made = await batches.create(BatchBody(act="pause", where=WhichItems(workflow="asking"), rate="1/d"), None)
        for change, status in (("stop", "stopped"), ("continue_", ("pending", "running"))):
            given: tuple[Any, ...] = ("",) if change == "stop" else ()
            both = await asyncio.gather(*(getattr(batches, change)(str(made.id), *given) for _ in range(2)))
            assert {one.status for one in both} <= {*([status] if isinstance(status, str) else status)}


@pytest.mark.parametrize(
    "newer",
    [
        {"act": "explode", "wanted": b"{}", "arguments": b'{"act":"explode"}'},
        {"act": "pause", "wanted": b'{"colour":"red"}', "arguments": b'{"act":"pause"}'},
        {"act": "pause", "wanted": b'{"workflow":"asking"}', "arguments": b'{"act":"pause","with":{"softly":true}}'},
    ],
)
async def test_a_batch_of_a_newer_release_fails_alone_and_is_listed(tmp_path: Path, newer: dict[str, Any]) -> None:
    async with acting_on(Between(tmp_path)) as engine:
        await started(engine, 2)
        batches = batches_of(engine)
        made = await batches.create(BatchBody(act="pause", where=WhichItems(workflow="asking"), rate="1/d"), None)
        row = await engine.instance.store.batches.find(str(made.id))
        assert row is not None
        unknown = replace(
            row, id="11111111-1111-4111-8111-111111111111", state="collecting", due_at=row.created_at, **newer
        )
        await engine.instance.store.batches.create(unknown)
        engine.instance.batch_runner.hint()
        failed = await batches.wait(unknown.id, 30)
        assert (failed.status, failed.code, failed.act) == ("failed", "unreadable", newer["act"])
        assert "newer release" in failed.reason
        page = await batches.list(None, 10, None)
        assert {one.id for one in page.items} == {made.id, unknown.id}
        with pytest.raises(NotAllowed):
            await batches.delete(unknown.id)
        admin = UserService(Actor(engine, caller_of("root", ("admin",), "test"))).batches
        await admin.delete(unknown.id)
