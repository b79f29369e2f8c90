"""Leases: who has lost one does no harm, and who takes over goes on from what is durable."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine.codec import encode_events
from layover.core.engine.events import NodeCompleted
from layover.ports.records import Claim, Lease
from layover.runtime.engine import Engine  # noqa: TC001 - read by pytest
from tests.runtime.harness import HandWound, Held, address_in, call, delay, end, engine_at, engine_on, flow, look, until
from tests.runtime.tables import Tables

pytestmark = pytest.mark.usefixtures("each_database")

FLOW = flow(call("a"), call("b"), end(["${nodes.a}", "${nodes.b}"]))
FAR = 3_600_000
NEVER = {"poll": FAR, "command_poll": FAR, "lease_ttl": 30_000}  # nothing but the test moves what it looks at


async def steal(engine: Engine, execution_id: str, lease_until: int = 10**15) -> Lease:
    """Take an execution away from an engine, as if its lease had run out long ago."""
    row = await engine.instance.store.get(execution_id)
    assert row is not None
    assert row.head.wake_at is not None
    later = row.head.wake_at + 1
    wish = Claim(instance="thief", now=later, lease_until=lease_until, execution_id=execution_id)
    (claimed,) = (await engine.instance.store.claim(wish)).claimed
    assert claimed.taken_over
    return Lease(execution_id=execution_id, epoch=claimed.head.epoch)


async def settle(*engines: Engine) -> None:
    """Have engines look what is due; from then on they do so only when they are told to."""
    for engine in engines:
        await engine.register(flow(delay(duration="1ms"), name="nap"))
        await engine.start("nap", wait="end")
        engine.instance.driver.freed.clear()


async def test_what_a_fenced_engine_reports_is_not_heard(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **NEVER) as engine:
        await settle(engine)
        await engine.register(FLOW)
        started = await engine.start("flow")
        running = await work.begun()
        before = await engine.history(started.id)
        lease = await steal(engine, started.id)
        running.returns("of no use")
        await engine.instance.driver.freed.wait()
        assert started.id not in engine.instance.driver.driven
        assert await engine.history(started.id) == before
        await engine.instance.store.release("thief", [lease], 0)
        look(engine)
        again = await work.begun()
        assert (again.context.context_id, again.context.attempt) == ("a", 2)
        again.returns("counts")
        (await work.begun()).returns("too")
        assert await engine.result(started.id) == ["counts", "too"]


async def test_a_renewal_tells_what_was_lost_and_its_call_is_stopped(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **NEVER) as engine:
        await settle(engine)
        await engine.register(FLOW)
        kept, lost = await engine.start("flow"), await engine.start("flow")
        calls = {one.context.execution_id: one for one in await work.all_begun(2)}
        await steal(engine, lost.id)
        await engine.instance.keeper.renew_once()
        await calls[lost.id].cancelled.wait()
        assert not calls[kept.id].cancelled.is_set()
        assert list(engine.instance.driver.driven) == [kept.id]


async def test_renewal_moves_the_lease_on(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **NEVER) as engine:
        await settle(engine)
        await engine.register(FLOW)
        started = await engine.start("flow")
        await work.begun()
        before = await until(engine, started.id, lambda head: head.owner is not None)
        clock.now += 20_000
        await engine.instance.keeper.renew_once()
        after = await until(engine, started.id, lambda head: head.owner is not None)
        assert before.wake_at is not None
        assert after.wake_at is not None
        assert after.wake_at >= before.wake_at + 19_000
        assert engine.instance.driver.driven[started.id].lease_until == after.wake_at


async def test_another_engine_takes_over_what_has_run_out_and_the_first_is_fenced(tmp_path: Path) -> None:
    clock, first, second = HandWound(), Held(), Held()
    async with (
        engine_on(clock.store(tmp_path), first, **NEVER) as one,
        engine_on(clock.store(tmp_path), second, **NEVER) as two,
    ):
        await settle(one, two)
        await one.register(FLOW)
        started = await one.start("flow")
        stale = await first.begun()
        clock.skip(two, 60_000)
        taken = await second.begun()
        assert (taken.context.context_id, taken.context.attempt) == ("a", 2)
        stale.returns("stale")
        taken.returns("fresh")
        (await second.begun()).returns("next")
        assert await two.result(started.id) == ["fresh", "next"]
        assert len(first.calls) == 1
        events = [entry.event for entry in await two.history(started.id)]
        assert [one.node for one in events if isinstance(one, NodeCompleted)] == ["a", "b", "finish"]


async def test_no_call_is_begun_without_a_lease(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **NEVER) as engine:
        await settle(engine)
        await engine.register(FLOW)
        started = await engine.start("flow")
        first = await work.begun()
        clock.now += 60_000
        engine.instance.clock.set(clock.now)  # as if the machine had slept
        first.returns(1)
        await until(engine, started.id, lambda head: head.last_seq > started.last_seq)
        await engine.instance.driver.freed.wait()
        assert len(work.calls) == 1
        look(engine)
        again = await work.begun()
        assert (again.context.context_id, again.context.attempt) == ("b", 2)
        again.returns(2)
        assert await engine.result(started.id) == [1, 2]


async def test_an_execution_that_loses_one_instance_after_the_other_is_held(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, max_takeovers=2, **NEVER) as engine:
        await settle(engine)
        await engine.register(FLOW)
        started = await engine.start("flow")
        await work.begun()
        for _ in range(3):
            await steal(engine, started.id, lease_until=0)
        look(engine)
        held = await until(engine, started.id, lambda head: head.status == "paused")
        assert held.owner is None
        seen = await engine.get(started.id)
        assert "lost 4 instances" in seen.paused_reason
        assert len(work.calls) == 1
        await engine.resume(started.id)
        (await work.begun()).returns(1)
        (await work.begun()).returns(2)
        assert await engine.result(started.id) == [1, 2]


@pytest.mark.parametrize("body", [b"\0", encode_events([NodeCompleted(node="ghost:nowhere.0")])])
async def test_a_log_that_cannot_be_read_stops_nobody_else(tmp_path: Path, body: bytes) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.register(flow({"id": "rest", "type": "delay", "duration": "1ms"}, end("well"), name="later"))
        await engine.register(flow({"id": "ask", "type": "form"}, end("well")))
        broken = await engine.start("flow", wait="rest")
        (row,) = await engine.points(broken.id)
    Tables(address_in(tmp_path)).change("UPDATE events SET body = $1 WHERE seq = 0", body)
    async with engine_at(tmp_path) as engine:
        await engine.answer(row.point.id, {}, by="ann")
        await until(engine, broken.id, lambda head: head.owner is None and head.epoch > 1)
        assert (await engine.start("later", wait="end")).output == "well"
