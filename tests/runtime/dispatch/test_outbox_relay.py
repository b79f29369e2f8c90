"""Messages between executions: each arrives in its turn and counts once, whoever brings it and however often."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import apsw
import msgspec

from layover.core.ids import child_id
from layover.ports.records import Outbox, Signal
from layover.runtime.execution.outbox_messages import ChildStart
from layover.stores.sqlite import SqliteStore
from tests.runtime.harness import (
    HOUR,
    Between,
    HandWound,
    Scripted,
    call,
    child,
    delay,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    until,
    until_child,
    until_status,
)
from tests.runtime.maintenance.verify_scene import Damage

if TYPE_CHECKING:
    import pytest

    from layover.runtime.runtime import Runtime

LATER = 2_000
NAPS = flow(delay(), name="naps")
PARENT = flow(child("a", "naps"), end("${nodes.a}"))


def deliver_nothing(engine: Runtime) -> None:
    """Leave whatever an engine writes from here on in the outbox, as if it had died at once."""
    engine.instance.outbox_relay.stop()


async def all_arrived(engine: Runtime, *ids: str) -> None:
    """Wait until nothing that executions want of each other is on its way or unread."""
    store = engine.instance.store
    for id_ in ids:
        while await store.outbox.list_undelivered(id_):
            pass
    for id_ in ids:
        await until(engine, id_, lambda head: head.commands_done == head.commands_seq and head.owner is None)


async def told(engine: Runtime, id_: str) -> list[str]:
    """Return the kinds of the commands that an execution was sent."""
    return [command.kind for command in await engine.instance.store.commands.list_after(id_, 0)]


async def begun_and_left(tmp_path: Path, clock: HandWound, *definitions: dict[str, object]) -> str:
    """Return a parent whose instance is gone before the start of its child has arrived."""
    async with engine_on(clock.store(tmp_path)) as gone:
        for definition in definitions:
            await gone.workflows.register(definition)
        deliver_nothing(gone)
        return (await gone.executions.start("flow", wait="rest")).id


async def test_what_an_instance_leaves_behind_another_delivers(tmp_path: Path) -> None:
    clock = HandWound()
    parent = await begun_and_left(tmp_path, clock, flow(end("done"), name="quick"), flow(child("a", "quick")))
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as engine:
        clock.skip(engine, LATER)
        assert await engine.executions.result(parent) == "done"
        assert await told(engine, parent) == ["Report"]


async def test_two_engines_share_one_file_and_one_of_them_delivers(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as other:
        parent = await begun_and_left(tmp_path, clock, flow(end("done"), name="quick"), flow(child("a", "quick")))
        clock.skip(other, LATER)
        assert await other.executions.result(parent) == "done"


async def test_a_cancel_does_not_overtake_the_start(tmp_path: Path) -> None:
    clock = HandWound()
    parent = await begun_and_left(tmp_path, clock, NAPS, PARENT)
    inner = child_id(parent, "a", 1)
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as engine:
        await engine.control.cancel(parent, "enough")
        clock.skip(engine, LATER)
        await until_child(engine, inner, "cancelled")
        await all_arrived(engine, parent, inner)


async def test_a_pause_does_not_overtake_the_start(tmp_path: Path) -> None:
    clock = HandWound()
    parent = await begun_and_left(tmp_path, clock, NAPS, PARENT)
    inner = child_id(parent, "a", 1)
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as engine:
        await engine.control.pause(parent, "audit")
        clock.skip(engine, LATER)
        await until_status(engine, parent, "paused")
        await until_child(engine, inner, "paused")


async def test_going_on_does_not_overtake_the_pause(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as gone:
        await gone.workflows.register(NAPS)
        await gone.workflows.register(PARENT)
        parent = (await gone.executions.start("flow", wait="rest")).id
        inner = await until_child(gone, child_id(parent, "a", 1), "waiting")
        await all_arrived(gone, parent, inner)
        deliver_nothing(gone)
        assert (await gone.control.pause(parent)).status == "pausing"
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as engine:
        assert (await engine.control.resume(parent)).status == "waiting"
        clock.skip(engine, LATER)
        await all_arrived(engine, parent, inner)
        assert await told(engine, inner) == ["Pause", "Resume"]
        assert (await engine.queries.get(inner)).status == "waiting"


async def test_a_child_that_goes_on_does_not_overtake_its_word_that_it_is_paused(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as gone:
        await gone.workflows.register(NAPS)
        await gone.workflows.register(PARENT)
        parent = (await gone.executions.start("flow", wait="rest")).id
        inner = await until_child(gone, child_id(parent, "a", 1), "waiting")
        await all_arrived(gone, parent, inner)
        deliver_nothing(gone)
        assert (await gone.control.pause(inner)).status == "paused"
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as engine:
        await engine.control.resume(inner)
        clock.skip(engine, LATER)
        await all_arrived(engine, inner, parent)
        assert await told(engine, parent) == ["ChildPaused", "ChildResumed"]


async def test_a_child_is_one_although_its_start_arrives_twice_at_once(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted("done")
    parent = await begun_and_left(tmp_path, clock, flow(call("a"), name="works"), flow(child("a", "works")))
    one, two = engine_on(clock.store(tmp_path), work), engine_on(clock.store(tmp_path), work)
    async with one, two:
        starts = await one.instance.store.outbox.list_undelivered(parent)
        assert [message.kind for message in starts] == ["start"]
        for engine in (one, two, one):
            engine.instance.outbox_relay.post(starts)
        assert await one.executions.result(parent) == "done"
        assert len(await one.lists.list(workflow="works")) == 1
    assert len(work.calls) == 1


async def test_a_start_that_arrives_again_begins_nothing(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted("done")
    parent = await begun_and_left(tmp_path, clock, flow(call("a"), name="works"), flow(child("a", "works")))
    async with engine_on(clock.store(tmp_path), work) as engine:
        starts = await engine.instance.store.outbox.list_undelivered(parent)
        engine.instance.outbox_relay.post(starts)
        assert await engine.executions.result(parent) == "done"
        engine.instance.outbox_relay.post(starts)  # before it stops, it delivers what is at hand
    assert len(work.calls) == 1


async def test_a_start_that_arrives_again_is_not_refused_by_a_later_version(tmp_path: Path) -> None:
    clock = HandWound()
    parent = await begun_and_left(tmp_path, clock, NAPS, PARENT)
    async with engine_on(clock.store(tmp_path)) as engine:
        starts = await engine.instance.store.outbox.list_undelivered(parent)
        engine.instance.outbox_relay.post(starts)
        inner = await until_child(engine, child_id(parent, "a", 1), "waiting")
        await engine.workflows.register({**NAPS, "input": {"type": "object"}})
        engine.instance.outbox_relay.post(starts)
    async with engine_on(clock.store(tmp_path)) as engine:
        assert await told(engine, parent) == []
        assert (await engine.queries.get(inner)).status == "waiting"


async def test_a_parent_hears_once_although_two_bring_it_the_same(tmp_path: Path) -> None:
    clock = HandWound()
    parent = await begun_and_left(tmp_path, clock, flow(end("done"), name="quick"), flow(child("a", "quick"), delay()))
    inner = child_id(parent, "a", 1)
    async with engine_on(clock.store(tmp_path)) as gone:
        await gone.workflows.register(flow(end("done"), name="quick"))
        deliver_nothing(gone)
        (start,) = await gone.instance.store.outbox.list_undelivered(parent)
        await gone.instance.starter.begin_child(parent, inner, msgspec.json.decode(start.body, type=ChildStart))
        await until_child(gone, inner, "completed")
    one, two = engine_on(clock.store(tmp_path)), engine_on(clock.store(tmp_path))
    async with one, two:
        reports = await one.instance.store.outbox.list_undelivered(inner)
        assert [message.kind for message in reports] == ["Report"]
        for engine in (one, two, one, two):
            engine.instance.outbox_relay.post(reports)
        await all_arrived(one, inner)
        await until(one, parent, lambda head: head.commands_done == 1 and head.owner is None)
    async with engine_on(clock.store(tmp_path)) as engine:
        assert await told(engine, parent) == ["Report"]
        assert [row.point.kind for row in await engine.points.list(parent)] == ["timer"]


async def test_what_cannot_be_delivered_keeps_nothing_else_back_but_what_would_overtake_it(tmp_path: Path) -> None:
    clock = HandWound()
    parent = await begun_and_left(tmp_path, clock, NAPS, PARENT)
    damage = Damage(tmp_path / "layover.db")
    damage("UPDATE outbox SET body = 'no JSON' WHERE sender = :id", of=parent)
    damage.close()
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as engine:
        store = engine.instance.store
        await engine.control.cancel(parent)
        await engine.workflows.register(flow(child("a", "quick"), name="other"))
        await engine.workflows.register(flow(end("done"), name="quick"))
        assert (await engine.executions.start("other", wait="end")).output == "done"
        assert [message.kind for message in await store.outbox.list_undelivered(parent)] == ["start", "Cancel"]
        assert await store.queries.find_execution(child_id(parent, "a", 1)) is None


async def test_much_that_was_left_behind_is_delivered_in_one_go(tmp_path: Path) -> None:
    clock = HandWound()
    each = fan_out(child("a", "quick"))
    async with engine_on(clock.store(tmp_path)) as gone:
        await gone.workflows.register(flow(end("done"), name="quick"))
        await gone.workflows.register(flow(each))
        deliver_nothing(gone)
        parent = (await gone.executions.start("flow", list(range(450)), wait="rest")).id
    clock.now += LATER
    async with engine_on(clock.store(tmp_path), outbox_poll=HOUR) as engine:
        assert await engine.executions.result(parent) == ["done"] * 450


ENDLESS = flow(child("a", "endless", detached=True), name="endless")


async def test_messages_left_behind_are_delivered_although_all_relays_are_busy(tmp_path: Path) -> None:
    clock = HandWound()
    parent = await begun_and_left(tmp_path, clock, flow(end("done"), name="quick"), flow(child("a", "quick")))
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as engine:
        await engine.workflows.register(ENDLESS)
        for _ in range(4):
            await engine.executions.start("endless")
        clock.skip(engine, LATER)
        assert await engine.executions.result(parent) == "done"


async def test_an_engine_stops_although_there_is_always_more_to_deliver(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ENDLESS)
        await engine.executions.start("endless")
        while len(await engine.lists.list()) < 5:
            pass  # each begins the next


async def test_a_store_that_cannot_be_written_delays_what_is_to_be_delivered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = HandWound()
    parent = await begun_and_left(tmp_path, clock, flow(end("done"), name="quick"), flow(child("a", "quick")))
    path = tmp_path / "layover.db"
    store = SqliteStore(path, clock=clock, between_looks=0, busy_ms=10)
    async with engine_on(store, outbox_poll=20) as engine:
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        clock.skip(engine, LATER)
        while "service_failed service=outbox_relay" not in caplog.text:
            await store.queries.find_execution(parent)
        other.execute("ROLLBACK")
        other.close()
        assert await engine.executions.result(parent) == "done"
        assert await told(engine, parent) == ["Report"]


async def test_an_instance_without_the_functions_of_a_child_creates_it_for_others(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted("done")
    parent = await begun_and_left(tmp_path, clock, flow(call("a"), name="works"), flow(child("a", "works")))
    async with engine_on(clock.store(tmp_path)) as without:
        without.instance.outbox_relay.post(await without.instance.store.outbox.list_undelivered(parent))
        inner = child_id(parent, "a", 1)
        await until_child(without, inner, "waiting")
        assert [one.kind for one in (await without.queries.why(parent)).reasons[0].because] == ["function"]
        async with engine_on(clock.store(tmp_path), work) as having:
            assert await having.executions.result(parent) == "done"


async def test_a_command_that_cannot_be_delivered_keeps_nothing_else_back(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as gone:
        await gone.workflows.register(NAPS)
        await gone.workflows.register(PARENT)
        parents = [(await gone.executions.start("flow", wait="rest")).id for _ in range(2)]
        inner = [await until_child(gone, child_id(parent, "a", 1), "waiting") for parent in parents]
        await all_arrived(gone, *parents)
        deliver_nothing(gone)
        for parent in parents:
            await gone.control.cancel(parent)
    damage = Damage(tmp_path / "layover.db")
    damage("UPDATE outbox SET destination = 'nobody' WHERE sender = :id", of=parents[0])
    damage.close()
    clock.now += LATER
    async with engine_on(clock.store(tmp_path), outbox_poll=20) as engine:
        await until_status(engine, inner[1], "cancelled")
        assert (await engine.queries.get(inner[0])).status == "waiting"


class Asked(Between):
    """A store that tells what an outbox relay looks for."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked: asyncio.Queue[str] = asyncio.Queue()

    async def outbox_read_due(self, now: int, most: int) -> Outbox:
        self.asked.put_nowait("messages")
        return await self.store.outbox.read_due(now, most)

    async def signals_list_undispatched(self, before: int, most: int) -> list[Signal]:
        self.asked.put_nowait("signals")
        return await self.store.signals.list_undispatched(before, most)


async def test_signals_are_looked_for_only_if_one_was_left(tmp_path: Path) -> None:
    store = Asked(tmp_path)
    async with engine_on(store, outbox_poll=10) as engine:
        now = engine.instance.clock.now()
        await store.signals.add(Signal(id="fresh", name="paid", key="k", at=now + HOUR, data=b"{}"))
        looks = [await store.asked.get() for _ in range(store.asked.qsize() + 2)]
        assert set(looks) == {"messages"}
        await store.signals.add(Signal(id="left", name="paid", key="k", at=now - HOUR, data=b"{}"))
        while await store.asked.get() != "signals":
            pass
        while (await store.outbox.read_due(now, 1)).undispatched_since != now + HOUR:
            pass
