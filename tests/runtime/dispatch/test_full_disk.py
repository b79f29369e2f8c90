"""A full disk: who asks for something is told so and leaves nothing behind; what runs is kept until there is room."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable  # noqa: TC003 - read by pytest
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.ports.errors import StoreUnavailable
from layover.ports.store import Store  # noqa: TC001 - as above
from layover.runtime.execution.outbox_messages import OWN_FOR
from layover.runtime.operations.start_options import Options
from layover.stores.postgres import PostgresStore
from layover.stores.sqlite import SqliteStore
from tests.runtime.harness import YEAR, Between, HandWound, Held, approval, call, engine_on, flow, form, until_status
from tests.stores.small_disk import SmallDisk, cannot_mount

if TYPE_CHECKING:
    from layover.ports.limit_records import Admission, AdmissionRequest

# There may be room for something small; nothing compresses this.
LARGE = random.Random(1).randbytes(100_000).hex()  # noqa: S311 - no secret


class Disk:
    """A store, and its disk, which a test fills and empties."""

    def __init__(
        self, store: Store, fill: Callable[[], Awaitable[object]], make_room: Callable[[], Awaitable[object]]
    ) -> None:
        self.store = store
        self.fill = fill
        self.make_room = make_room


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.skipif(cannot_mount(), reason="it may not mount"))]
)
async def disk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Disk]:
    if request.param == "postgres":
        with SmallDisk() as small:
            yield Disk(PostgresStore(await small.database()), small.fill, small.make_room)
        return
    store = SqliteStore(tmp_path / "layover.db")

    async def bound(most: str) -> None:
        await vars(store)["_session"].write(lambda db: db.execute(f"PRAGMA max_page_count = {most}").get)

    yield Disk(store, lambda: bound("1"), lambda: bound("1000000000"))  # no fewer than there are


async def test_a_start_fails_at_once_and_leaves_nothing_while_what_runs_is_kept(disk: Disk) -> None:
    work = Held()
    async with engine_on(disk.store, work) as engine:
        await engine.workflows.register(flow(call("a")))
        running = await engine.executions.start("flow")
        one = await work.begun()
        await disk.fill()
        one.returns(LARGE)  # it cannot be written, and is tried again and again
        for _ in range(3):
            with pytest.raises(StoreUnavailable) as refused:
                await engine.executions.start("flow", {"text": LARGE}, key="k")
            assert refused.value.code == "full"
        assert list(engine.instance.driver.active) == [running.id]
        assert len(await engine.lists.list()) == 1
        await disk.make_room()
        assert await engine.executions.result(running.id) == LARGE
        again = await engine.executions.start("flow", {"text": LARGE}, key="k")
        (await work.begun()).returns("well")
        assert await engine.executions.result(again.id) == "well"
        assert len(work.calls) == 2


async def test_whatever_is_asked_fails_at_once_and_can_be_asked_again(disk: Disk) -> None:
    async with engine_on(disk.store) as engine:
        await engine.workflows.register(flow(form()))
        await engine.workflows.register(flow(approval(), name="other"))
        asked, other = (
            await engine.executions.start("flow", wait="rest"),
            await engine.executions.start("other", wait="rest"),
        )
        (row,) = await engine.points.list(asked.id)
        await disk.fill()
        acts: list[Callable[[], Awaitable[object]]] = [
            lambda: engine.answers.answer(row.point.id, {"text": LARGE}, by="ann"),
            lambda: engine.control.pause(other.id, LARGE),
            lambda: engine.control.cancel(other.id, LARGE),
            lambda: engine.signals.deliver("paid", data=LARGE),
        ]
        for act in acts:
            with pytest.raises(StoreUnavailable) as refused:
                await act()
            assert refused.value.code == "full"
        assert (await engine.queries.get(asked.id)).status == "paused"
        await disk.make_room()
        assert not engine.instance.driver.active
        for act in acts:
            await act()
        assert (await engine.executions.wait(asked.id)).output == {"text": LARGE}
        assert (await engine.queries.get(other.id)).status == "cancelled"
        assert not (await engine.signals.deliver("paid", data=LARGE)).repeated


async def test_many_results_outlast_a_full_disk(disk: Disk) -> None:
    work = Held()
    async with engine_on(disk.store, work) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = [await engine.executions.start("flow") for _ in range(20)]
        running = await work.all_begun(20)
        await disk.fill()
        for one in running:
            one.returns(LARGE)
        with pytest.raises(StoreUnavailable):
            await engine.executions.start("flow", {"text": LARGE})
        await disk.make_room()
        for execution in started:
            assert (await engine.executions.wait(execution.id, "rest")).status == "paused"
        assert len(work.calls) == 20


class Asked(Between):
    """A store with no room for the answer to whoever asks for the first time whether an execution may start."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.asked = 0

    async def limits_admit(self, wish: AdmissionRequest, now: int) -> Admission:
        self.asked += 1
        if self.asked == 1:
            raise StoreUnavailable("The disk is full.", code="full")
        return await self.store.limits.admit(wish, now)


async def test_a_start_that_is_durable_is_reported_although_its_limit_could_not_be_asked(tmp_path: Path) -> None:
    clock = HandWound()
    store = Asked(clock.store(tmp_path))
    async with engine_on(store, lease_ttl=YEAR) as engine:
        await engine.workflows.register(flow(form(), settings={"concurrency": {"limit": 1}}))
        started = await engine.executions.start("flow")
        assert started.status == "pending"
        clock.skip(engine, OWN_FOR)
        engine.instance.outbox_relay.post([])
        await until_status(engine, started.id, "paused")
        assert store.asked == 2


async def test_a_start_under_a_limit_leaves_nothing_either(disk: Disk) -> None:
    async with engine_on(disk.store) as engine:
        await engine.workflows.register(flow(form(), settings={"concurrency": {"limit": 1}}))
        first = await engine.executions.start("flow", wait="rest")
        await disk.fill()
        with pytest.raises(StoreUnavailable):
            await engine.executions.start("flow", {"text": LARGE}, options=Options(tags=("second",)))
        assert len(await engine.lists.list()) == 1
        await disk.make_room()
        await engine.control.cancel(first.id)
        second = await engine.executions.start("flow", {"text": LARGE})
        await until_status(engine, second.id, "paused")
