"""Leases: who has lost one does no harm, and who takes over goes on from what is durable."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence  # noqa: TC003 - read by pytest
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any, cast

import pytest

from layover.core.engine import commands as cmd
from layover.core.engine.codec import encode_events
from layover.core.engine.command_codec import encode_command
from layover.core.engine.events import NodeCompleted
from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.ports.errors import StoreUnavailable
from layover.ports.records import Append, Claim, Enqueue, LeaseRow, Outcome
from layover.ports.store import Store  # noqa: TC001 - read by pytest
from layover.runtime.runtime import Runtime  # noqa: TC001 - read by pytest
from tests.runtime.harness import (
    Between,
    HandWound,
    Held,
    Scripted,
    address_in,
    call,
    delay,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    form,
    look,
    store_in,
    until,
)
from tests.runtime.tables import Tables

pytestmark = pytest.mark.usefixtures("each_database")

FLOW = flow(call("a"), call("b"), end(["${nodes.a}", "${nodes.b}"]))
FAR = 3_600_000
LEASE = 1_200  # short enough to outlast, and long enough for a server that is busy
NEVER = {"poll": FAR, "command_poll": FAR, "lease_ttl": 30_000}  # nothing but the test moves what it looks at


class Mute(Between):
    """In place of a store: one that can be told not to answer renewals, or what time it is."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.mute = False
        self.times = 0  # requests for the time that are not answered
        self._asked: asyncio.Queue[None] = asyncio.Queue()

    def claims_renewals(self) -> None:
        """Have only the event loop renew."""

    async def claims_renew(self, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
        if self.mute:
            self._asked.put_nowait(None)
            await asyncio.Event().wait()
        return await self.store.claims.renew(instance, leases, until)

    async def now(self) -> int:
        if self.times:
            self.times -= 1
            await asyncio.Event().wait()
        return await self.store.now()

    async def unanswered(self, count: int) -> None:
        """Wait until it was asked so many times in vain."""
        for _ in range(count):
            await self._asked.get()


async def steal(engine: Runtime, execution_id: str, lease_until: int = 10**15) -> LeaseRow:
    """Take an execution away from an engine, as if its lease had run out long ago."""
    row = await engine.instance.store.queries.find_execution(execution_id)
    assert row is not None
    assert row.head.wake_at is not None
    later = row.head.wake_at + 1
    wish = Claim(instance="thief", now=later, lease_until=lease_until, execution_id=execution_id)
    (claimed,) = (await engine.instance.store.claims.claim(wish)).claimed
    assert claimed.taken_over
    return LeaseRow(execution_id=execution_id, epoch=claimed.head.epoch)


async def settle(*engines: Runtime) -> None:
    """Have engines look what is due; from then on they do so only when they are told to."""
    for engine in engines:
        await engine.workflows.register(flow(delay(duration="1ms"), name="nap"))
        await engine.executions.start("nap", wait="end")
        engine.instance.driver.freed.clear()


async def test_what_a_fenced_engine_reports_is_not_heard(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        running = await work.begun()
        before = await engine.queries.history(started.id)
        lease = await steal(engine, started.id)
        running.returns("of no use")
        await engine.instance.driver.freed.wait()
        assert started.id not in engine.instance.driver.active
        assert await engine.queries.history(started.id) == before
        await engine.instance.store.claims.release("thief", [lease], 0)
        look(engine)
        again = await work.begun()
        assert (again.context.context_id, again.context.attempt) == ("a", 2)
        again.returns("counts")
        (await work.begun()).returns("too")
        assert await engine.executions.result(started.id) == ["counts", "too"]


async def test_a_renewal_tells_what_was_lost_and_its_call_is_stopped(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        kept, lost = await engine.executions.start("flow"), await engine.executions.start("flow")
        calls = {one.context.execution_id: one for one in await work.all_begun(2)}
        await steal(engine, lost.id)
        await engine.instance.lease_renewer.renew_once()
        await calls[lost.id].cancelled.wait()
        assert not calls[kept.id].cancelled.is_set()
        assert list(engine.instance.driver.active) == [kept.id]


async def test_renewal_moves_the_lease_on(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        before = await until(engine, started.id, lambda head: head.owner is not None)
        clock.now += 20_000
        await engine.instance.lease_renewer.renew_once()
        after = await until(engine, started.id, lambda head: head.owner is not None)
        assert before.wake_at is not None
        assert after.wake_at is not None
        assert after.wake_at >= before.wake_at + 19_000
        assert engine.instance.driver.active[started.id].lease_until == after.wake_at


async def test_another_engine_takes_over_what_has_run_out_and_the_first_is_fenced(tmp_path: Path) -> None:
    clock, first, second = HandWound(), Held(), Held()
    async with (
        engine_on(clock.store(tmp_path), first, **NEVER) as one,
        engine_on(clock.store(tmp_path), second, **NEVER) as two,
    ):
        await settle(one, two)
        await one.workflows.register(FLOW)
        started = await one.executions.start("flow")
        stale = await first.begun()
        clock.skip(two, 60_000)
        taken = await second.begun()
        assert (taken.context.context_id, taken.context.attempt) == ("a", 2)
        stale.returns("stale")
        taken.returns("fresh")
        (await second.begun()).returns("next")
        assert await two.executions.result(started.id) == ["fresh", "next"]
        assert len(first.calls) == 1
        events = [entry.event for entry in await two.queries.history(started.id)]
        assert [one.node for one in events if isinstance(one, NodeCompleted)] == ["a", "b", "finish"]


def sleep(engine: Runtime, clock: HandWound, milliseconds: int) -> None:
    """Let time pass as if the machine had slept: nothing was renewed meanwhile."""
    clock.now += milliseconds
    engine.instance.clock.set(clock.now)


async def test_no_call_is_begun_without_a_lease(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(flow(fan_out(call("a")), end("${nodes.each}")))
        started = await engine.executions.start("flow", [1, 2])
        await work.all_begun(2)
        driven = engine.instance.driver.active[started.id]
        lease = await steal(engine, started.id)
        sleep(engine, clock, 60_000)
        assert not await driven.held_lease.regain()
        assert started.id not in engine.instance.driver.active
        await engine.instance.store.claims.release("thief", [lease], 0)
        look(engine)
        for again in await work.all_begun(2):
            assert again.context.attempt == 2
            again.returns(1)
        assert await engine.executions.result(started.id) == [1, 1]


async def test_no_call_is_begun_after_a_pause_that_came_while_its_lease_was_renewed(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    renewing, renew = asyncio.Event(), asyncio.Event()

    class Slow(Between):
        async def claims_renew(self, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
            renewing.set()
            await renew.wait()
            return await self.store.claims.renew(instance, leases, until)

        def claims_renewals(self) -> None:
            """Have only the event loop renew."""

    store = Slow(tmp_path)
    store.store = clock.store(tmp_path)
    async with engine_on(cast("Store", store), work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        running = await work.begun()
        sleep(engine, clock, 60_000)
        running.returns(1)
        await renewing.wait()
        assert (await engine.control.pause(started.id)).status == "pausing"
        renew.set()
        await until(engine, started.id, lambda head: head.owner is None)
        look(engine)
        await until(engine, started.id, lambda head: head.status == "paused")
        assert len(work.calls) == 1
        await engine.control.resume(started.id)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]


async def test_no_call_is_begun_after_its_end_was_written_while_its_lease_was_renewed(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    renewed, renew, written, write = asyncio.Event(), asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Slow(Between):
        async def claims_renew(self, instance: str, leases: Sequence[LeaseRow], until: int) -> list[str]:
            lost = await self.store.claims.renew(instance, leases, until)
            renewed.set()
            await renew.wait()
            return lost

        async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
            outcomes = await self.store.appends.commit(appends)
            if any(append.status == "cancelled" for append in appends):
                written.set()
                await write.wait()
            return outcomes

        def claims_renewals(self) -> None:
            """Have only the event loop renew."""

    store = Slow(tmp_path)
    store.store = clock.store(tmp_path)
    async with engine_on(cast("Store", store), work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        running = await work.begun()
        sleep(engine, clock, 60_000)
        running.returns(1)
        await renewed.wait()
        cancelling = asyncio.create_task(engine.control.cancel(started.id))
        await written.wait()
        renew.set()
        either = [asyncio.create_task(work.begun()), asyncio.create_task(engine.instance.driver.freed.wait())]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        either[0].cancel()
        write.set()
        assert (await cancelling).status == "cancelled"
        assert len(work.calls) == 1


async def test_an_engine_that_slept_past_its_leases_goes_on_with_its_calls(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        running = await work.begun()
        sleep(engine, clock, 60_000)
        look(engine)
        await engine.executions.start("nap", wait="end")  # it has looked what is due
        assert not running.cancelled.is_set()
        sleep(engine, clock, 60_000)
        running.returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]
        assert [(one.context.context_id, one.context.attempt) for one in work.calls] == [("a", 1), ("b", 1)]
        row = await engine.instance.store.queries.find_execution(started.id)
        assert row is not None
        assert (row.head.epoch, row.head.takeovers) == (1, 0)


async def test_what_is_claimed_by_a_reply_that_outlives_its_lease_is_driven_with_another(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()

    class Late(Between):
        async def answers_reserve(self, *args: Any) -> Any:
            taken = await self.store.answers.reserve(*args)
            sleep(engine, clock, 60_000)
            return taken

    store = Late(tmp_path)
    store.store = clock.store(tmp_path)
    async with engine_on(cast("Store", store), work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(flow({"id": "ask", "type": "form"}, call("a"), end("${nodes.a}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        taken = await engine.answers.answer(row.point.id, {}, by="ann")
        assert taken.claimed is not None
        # Another claim may be on its way, and would take over what has no lease.
        assert engine.instance.driver.active[started.id].has_lease()
        (await work.begun()).returns(1)
        assert await engine.executions.result(started.id) == 1
        found = await engine.instance.store.queries.find_execution(started.id)
        assert found is not None
        assert (found.head.epoch, found.head.takeovers) == (2, 0)


async def test_what_takes_long_to_load_is_driven_with_a_lease_that_the_next_renewal_finds(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()

    class Late(Between):
        async def answers_reserve(self, *args: Any) -> Any:
            taken = await self.store.answers.reserve(*args)
            sleep(engine, clock, 20_000)  # of 30: the next renewal may come when the rest is over
            return taken

    store = Late(tmp_path)
    store.store = clock.store(tmp_path)
    async with engine_on(cast("Store", store), work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(flow({"id": "ask", "type": "form"}, call("a"), end("${nodes.a}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {}, by="ann")
        found = await engine.instance.store.queries.find_execution(started.id)
        assert found is not None
        assert found.head.wake_at is not None
        assert found.head.wake_at >= clock.now + 20_000
        (await work.begun()).returns(1)
        assert await engine.executions.result(started.id) == 1


async def test_nothing_is_claimed_while_the_leases_of_what_is_driven_cannot_be_renewed(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    store = Mute(clock.store(tmp_path))
    async with engine_on(store, work, lease_ttl=600, poll=20) as engine:
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        running = await work.begun()
        store.mute = True
        sleep(engine, clock, 60_000)
        await store.unanswered(3)
        store.mute = False
        running.returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]
        assert len(work.calls) == 2


async def test_a_renewal_is_tried_again_if_the_store_gives_no_time(tmp_path: Path) -> None:
    work = Held()
    store = Mute(store_in(tmp_path))
    async with engine_on(store, work, lease_ttl=600, poll=FAR) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        running = await work.begun()
        store.times = 1
        lease_until = engine.instance.driver.active[started.id].lease_until
        with pytest.raises(StoreUnavailable):
            await engine.instance.lease_renewer.renew_once()
        await engine.instance.lease_renewer.renew_once()
        assert engine.instance.driver.active[started.id].lease_until > lease_until
        running.returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]


async def test_leases_are_renewed_while_a_function_holds_up_everything_else(tmp_path: Path) -> None:
    renewed: list[bool] = []

    async def hog(context: NodeContext) -> int:
        driven = engine.instance.driver.active[context.execution_id]
        first, guard = driven.lease_until, time.monotonic() + 60
        while driven.lease_until < first + LEASE and time.monotonic() < guard:
            time.sleep(0.001)  # noqa: ASYNC251 - it holds on to the loop for longer than its lease
        renewed.append(driven.lease_until >= first + LEASE)
        return context.attempt

    async with engine_at(tmp_path, hog, lease_ttl=LEASE) as engine:
        await engine.workflows.register(flow(call("a", "hog")))
        assert (await engine.executions.start("flow", wait="end")).output == 1
        assert renewed == [True]


async def test_leases_are_not_renewed_for_ever_while_a_function_holds_up_everything_else(tmp_path: Path) -> None:
    seen: list[bool] = []

    async def hog(context: NodeContext) -> int:
        guard = time.monotonic() + 60
        driven = engine.instance.driver.active[context.execution_id]
        while (engine.is_working or driven.has_lease()) and time.monotonic() < guard:
            time.sleep(0.001)  # noqa: ASYNC251 - it holds on to the loop
        seen.append(engine.is_working or driven.has_lease())
        return context.attempt

    async with engine_at(tmp_path, hog, Scripted("well"), lease_ttl=LEASE, blocked_limit=LEASE) as engine:
        await engine.workflows.register(flow(call("a", "hog"), call("b")))
        assert (await engine.executions.start("flow", wait="end")).output == "well"
        assert seen == [False]
        assert engine.is_working


async def test_an_execution_that_loses_one_instance_after_the_other_is_held(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, max_takeovers=2, recovery_backoff=0, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        for _ in range(3):
            await steal(engine, started.id, lease_until=0)
        look(engine)
        held = await until(engine, started.id, lambda head: head.status == "paused")
        assert held.owner is None
        seen = await engine.queries.get(started.id)
        assert "lost 4 instances" in str(seen.paused_reason)
        assert len(work.calls) == 1
        await engine.control.resume(started.id)
        (await work.begun()).returns(1)
        (await work.begun()).returns(2)
        assert await engine.executions.result(started.id) == [1, 2]


@pytest.mark.parametrize("body", [b"\0", encode_events([NodeCompleted(node="ghost:nowhere.0")])])
async def test_an_unreadable_log_stops_no_other_execution(tmp_path: Path, body: bytes) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(
            flow({"id": "rest", "type": "delay", "duration": "1ms"}, end("well"), name="later")
        )
        await engine.workflows.register(flow({"id": "ask", "type": "form"}, end("well")))
        broken = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(broken.id)
    Tables(address_in(tmp_path)).change("UPDATE events SET body = $1 WHERE seq = 0", body)
    async with engine_at(tmp_path) as engine:
        await engine.answers.answer(row.point.id, {}, by="ann")
        await until(engine, broken.id, lambda head: head.owner is None and head.epoch > 1)
        assert (await engine.executions.start("later", wait="end")).output == "well"


@pytest.mark.parametrize("command", [cmd.Pause(reason="audit"), cmd.Cancel(reason="enough")], ids=["pause", "cancel"])
async def test_a_lost_call_is_not_made_again_behind_a_command_that_was_accepted_meanwhile(
    tmp_path: Path, command: cmd.Pause | cmd.Cancel
) -> None:
    clock, work = HandWound(), Held()
    store = clock.store(tmp_path)
    async with engine_on(store, work, **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(FLOW)
        started = await engine.executions.start("flow")
        await work.begun()
        await steal(engine, started.id, lease_until=0)
        kind, body = encode_command(command)
        await store.commands.enqueue([Enqueue(execution_id=started.id, kind=kind, body=body)], clock.now)
        look(engine)
        status = "paused" if isinstance(command, cmd.Pause) else "cancelled"
        await until(engine, started.id, lambda head: head.status == status)
        assert len(work.calls) == 1
        if status == "paused":
            await engine.control.resume(started.id)
            (await work.begun()).returns(1)
            (await work.begun()).returns(2)
            assert await engine.executions.result(started.id) == [1, 2]


async def test_an_answer_is_driven_although_the_clock_was_set_by_a_slow_reply(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), **NEVER) as engine:
        await settle(engine)
        await engine.workflows.register(flow(form("ask"), end("${nodes.ask.x}")))
        started = await engine.executions.start("flow", wait="rest")
        ours = engine.instance.clock
        clock.now += 600_000
        ours.set(clock.now, asked_at=ours.running() - 60_000)  # it may be a minute later: longer than any lease lasts
        await engine.answers.answer(str(started.waiting_on[0].point), {"x": 1})
        assert started.id in engine.instance.driver.active or await engine.executions.result(started.id) == 1
