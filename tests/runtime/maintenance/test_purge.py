"""What has ended is deleted some time later, all of it and nothing else; what is open never is."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.errors import NotFound, WrongState
from layover.ports.records import Message
from layover.ports.view_records import ExecutionFilter
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    Refused,
    Scripted,
    address_in,
    call,
    delay,
    end,
    engine_on,
    flow,
    form,
    until,
    until_status,
)
from tests.runtime.tables import Tables

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

DAY = 24 * HOUR
SETTINGS = {"outbox_poll": 10, "purge_every": 10 * DAY}  # only when a test says so
# What is about workflows, signals, limits, people, instances and the file itself, and not about one execution.
KEPT = {"versions", "standings", "signals", "rates", "keys", "audit", "replies", "locks", "instances", "migrations"}


async def _clean(engine: Runtime) -> int:
    """Purge at the time that the store has."""
    instance = engine.instance
    instance.clock.set(await instance.store.now())
    return await instance.purger.clean()


async def _delivered(engine: Runtime) -> None:
    """Wait until no execution has anything left to send."""
    store = engine.instance.store
    for row in await store.queries.list_executions(ExecutionFilter(limit=1_000)):
        while await store.outbox.list_undelivered(row.head.execution_id):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)


async def _ids(engine: Runtime) -> set[str]:
    return {row.head.execution_id for row in await engine.lists.list(limit=1_000)}


async def test_without_a_retention_everything_is_kept(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), **SETTINGS) as engine:
        await engine.workflows.register(flow(end(1)))
        done = await engine.executions.start("flow", wait="end")
        clock.now += 10_000 * DAY
        assert await _clean(engine) == 0
        assert await _ids(engine) == {done.id}


async def test_each_workflow_is_kept_for_as_long_as_it_says_or_else_for_as_long_as_all(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), retention=3 * DAY, **SETTINGS) as engine:
        found = {}
        for name, own in (("short", "1d"), ("common", None), ("long", "9d")):
            await engine.workflows.register(flow(end(1), name=name, settings={"retention": own} if own else {}))
            found[name] = (await engine.executions.start(name, wait="end")).id
        for day, left in ((0.5, 3), (2, 2), (4, 1), (8, 1), (10, 0)):
            clock.now = int(1_800_000_000_000 + day * DAY)
            await _clean(engine)
            names = ("short", "common", "long")[3 - left :]
            assert await _ids(engine) == {found[name] for name in names}, day


async def test_the_newest_version_says_how_long(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), **SETTINGS) as engine:
        await engine.workflows.register(flow(end(1)))
        done = await engine.executions.start("flow", wait="end")
        await engine.workflows.register(flow(end(1), settings={"retention": "1d"}))
        clock.now += 2 * DAY
        assert await _clean(engine) == 1
        with pytest.raises(NotFound):
            await engine.queries.get(done.id)


async def test_what_is_open_is_never_deleted(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, lease_ttl=10 * DAY, retention=0, **SETTINGS) as engine:
        kinds = {
            "asking": flow(form(), name="asking", settings={"max_pause": "none"}),
            "resting": flow(delay(duration="99d"), name="resting"),
            "running": flow(call("a"), name="running"),
            "missing": flow(call("a", "nowhere"), name="missing"),
            "limited": flow(call("a"), name="limited", settings={"rate": {"limit": 1, "per": "99d"}}),
        }
        for definition in kinds.values():
            await engine.workflows.register(definition)
        opened = {(await engine.executions.start(name)).id for name in kinds} | {
            (await engine.executions.start("limited")).id
        }
        held = await engine.executions.start("resting", wait="rest")
        await engine.control.pause(held.id)
        await work.all_begun(2)
        clock.now += 5 * DAY
        assert await _clean(engine) == 0
        assert await _ids(engine) == {*opened, held.id}


async def test_many_are_deleted_batch_by_batch(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), retention=0, **SETTINGS) as engine:
        await engine.workflows.register(flow(end(1)))
        await asyncio.gather(*(engine.executions.start("flow", wait="end") for _ in range(250)))
        clock.now += DAY
        assert await _clean(engine) == 250
        assert await engine.lists.counts() == {}


async def test_an_engine_purges_by_itself(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), retention=HOUR, purge_every=5) as engine:
        await engine.workflows.register(flow(end(1)))
        done = await engine.executions.start("flow", wait="end")
        clock.skip(engine, 2 * HOUR)
        while await engine.instance.store.queries.find_execution(done.id) is not None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)


# All of it


async def test_nothing_of_it_is_left_in_any_table(tmp_path: Path) -> None:
    async def fetch(token: str) -> None:
        tokens.append(token)

    clock, tokens = HandWound(), list[str]()
    settings = {"rate": {"limit": 9, "per": "1s"}, "concurrency": {"limit": 1}}
    async with engine_on(
        clock.store(tmp_path), fetch, Scripted(1), snapshot_at_rest=1, retention=HOUR, **SETTINGS
    ) as engine:
        await engine.workflows.register(flow(call("a"), name="inner"))
        await engine.workflows.register(
            flow(
                {"id": "sub", "type": "workflow", "workflow": "inner"},
                {"id": "later", "type": "callback", "call": "fetch", "input": {"token": "${callback.token}"}},
                {"id": "paid", "type": "wait_signal", "signal": "paid", "key": "k"},
                form(),
                settings=settings,
            )
        )
        started = await engine.executions.start("flow")
        await until(engine, started.id, lambda head: head.status == "waiting" and bool(tokens))
        await engine.callbacks.reply(tokens[0], {})
        while not await engine.instance.store.signals.list_waits("paid", "k"):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        await engine.signals.deliver("paid", "k")
        (row,) = await engine.points.list(started.id)
        while row.point.kind != "form":
            await asyncio.sleep(0)
            (row,) = await engine.points.list(started.id)
        filled = _filled(tmp_path)
        await engine.answers.answer(row.point.id, {}, by="ann")
        await engine.executions.wait(started.id)
        filled |= _filled(tmp_path)
        await _delivered(engine)
        clock.now += DAY
        assert await _clean(engine) == 2
        everything = {"heads", "executions", "events", "snapshots", "commands", "pause_points", "tokens", "places"}
        assert everything <= filled
        assert _filled(tmp_path) - KEPT == set()
        assert await violations(engine.instance.store) == []


def _filled(folder: Path) -> set[str]:
    """Return the tables that have rows."""
    tables = Tables(address_in(folder))
    return {name for name in tables.names() if tables.count(name)}


async def test_a_key_that_was_purged_begins_another_execution(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted(1)
    async with engine_on(clock.store(tmp_path), work, retention=HOUR, **SETTINGS) as engine:
        await engine.workflows.register(flow(call("a")))
        for _ in range(2):
            done = await engine.executions.start("flow", key="k", wait="end")
            clock.now += DAY
            assert await _clean(engine) == 1
            with pytest.raises(NotFound):
                await engine.control.retry(done.id)
        assert len(work.calls) == 2


# What others still need


async def test_what_has_something_to_send_is_kept_until_it_has_arrived(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), retention=HOUR, **SETTINGS) as engine:
        await engine.workflows.register(flow(end(1)))
        done = await engine.executions.start("flow", wait="end")
    tables = Tables(address_in(tmp_path))
    values = (tables.id(done.id), done.id, b"{}", 10**15)
    tables.change(
        "INSERT INTO outbox (sender, destination, n, kind, body, due_at) VALUES ($1, $2, 9, 'Cancel', $3, $4)", *values
    )
    clock.now += DAY
    async with engine_on(clock.store(tmp_path), retention=HOUR, **SETTINGS) as engine:
        assert await _clean(engine) == 0
        own = Message(sender=done.id, n=9, destination=done.id, kind="Cancel", body=b"", due_at=0)
        await engine.instance.store.outbox.delete_delivered([own])
        assert await _clean(engine) == 1


async def test_a_child_may_go_before_its_parent_and_a_parent_before_its_child(tmp_path: Path) -> None:
    clock = HandWound()
    sub: dict[str, object] = {"id": "sub", "type": "workflow", "workflow": "inner"}
    async with engine_on(clock.store(tmp_path), Scripted("inside"), retention=HOUR, **SETTINGS) as engine:
        await engine.workflows.register(flow(call("a"), name="inner"))
        await engine.workflows.register(flow(sub, form(), end("${nodes.sub}"), settings={"max_pause": "none"}))
        parent = await engine.executions.start("flow")
        await until_status(engine, parent.id, "paused")
        (asked,) = await engine.points.list(parent.id)
        await _delivered(engine)
        clock.skip(engine, DAY)
        assert await _clean(engine) == 1
        assert await violations(engine.instance.store) == []
        await engine.answers.answer(asked.point.id, {}, by="ann")
        assert await engine.executions.result(parent.id) == "inside"

        await engine.workflows.register(flow(form(), name="inner", settings={"max_pause": "none"}))
        await engine.workflows.register(flow({**sub, "detached": True}, name="leaving"))
        leaving = await engine.executions.start("leaving", wait="end")
        await _delivered(engine)
        clock.skip(engine, DAY)
        assert await _clean(engine) == 2
        with pytest.raises(NotFound):
            await engine.queries.get(leaving.id)
        (child,) = await engine.lists.list(workflow="inner")
        (asked,) = await engine.points.list(child.head.execution_id)
        await engine.answers.answer(asked.point.id, {}, by="ann")
        assert (await engine.executions.wait(child.head.execution_id)).status == "completed"
        assert await violations(engine.instance.store) == []


# Who does it


async def test_one_instance_purges_at_a_time(tmp_path: Path) -> None:
    clock = HandWound()
    async with (
        engine_on(clock.store(tmp_path), retention=HOUR, **SETTINGS) as one,
        engine_on(clock.store(tmp_path), retention=HOUR, **SETTINGS) as two,
    ):
        await one.workflows.register(flow(end(1)))
        await asyncio.gather(*(one.executions.start("flow", wait="end") for _ in range(120)))
        clock.now += DAY
        now = await one.instance.store.now()
        assert await one.instance.store.locks.acquire("janitor", "somebody", now, now + HOUR)
        assert [await _clean(one), await _clean(two)] == [0, 0]
        await one.instance.store.locks.release("janitor", "somebody")
        assert sum(await asyncio.gather(_clean(one), _clean(two))) == 120
        assert await _clean(one) == 0  # and the lock was given back


async def test_a_purger_that_lost_the_lock_leaves_the_rest_to_the_other(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), retention=HOUR, lease_ttl=30_000, **SETTINGS) as engine:
        for name in ("one", "two"):
            await engine.workflows.register(flow(end(1), name=name))
            await engine.executions.start(name, wait="end")
        clock.now += DAY
        store, purge = engine.instance.store, engine.instance.store.retention.purge

        async def stopped_for_long(ids: list[str], before: int) -> int:
            deleted = await purge(ids, before)
            now = await store.now() + DAY
            assert await store.locks.acquire("janitor", "somebody", now, now + DAY)
            return deleted

        store.retention.purge = stopped_for_long  # type: ignore[method-assign,assignment]  # the machine slept meanwhile
        assert await _clean(engine) == 1
        assert len(await _ids(engine)) == 1


async def test_one_that_is_taken_up_again_while_it_is_purged_is_gone_or_goes_on(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted(Refused("no"))
    async with engine_on(clock.store(tmp_path), work, retention=HOUR, **SETTINGS) as engine:
        await engine.workflows.register(flow(call("a")))
        for yields in range(12):
            failed = await engine.executions.start("flow", wait="end")
            clock.skip(engine, DAY)
            retried = asyncio.ensure_future(engine.control.retry(failed.id))
            for _ in range(yields):
                await asyncio.sleep(0)
            deleted = await _clean(engine)
            try:
                await retried
            except (NotFound, WrongState):
                assert deleted == 1
            else:
                assert (await engine.executions.wait(failed.id)).status == "failed"
            assert await violations(engine.instance.store) == []
            clock.now += DAY
            await _clean(engine)


async def test_an_unreadable_workflow_does_not_keep_others_from_being_purged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), retention=HOUR, **SETTINGS) as engine:
        await engine.workflows.register(flow(end(1)))
        await engine.executions.start("flow", wait="end")
        store = engine.instance.store
        await store.definitions.save("later", "h-later", b'{"nodes": "of a later release"}', clock.now)
        await store.definitions.save("torn", "h-torn", b'{"nodes', clock.now)
        clock.now += DAY
        with caplog.at_level(logging.WARNING):
            assert await _clean(engine) == 1
        assert {"retention_unknown workflow=later", "retention_unknown workflow=torn"} <= {
            record.message.partition(" error=")[0] for record in caplog.records
        }


async def test_what_is_purged_while_it_is_verified_is_no_violation(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), retention=HOUR, **SETTINGS) as engine:
        await engine.workflows.register(flow(end(1)))
        for _ in range(3):
            await engine.executions.start("flow", wait="end")
        clock.now += DAY
        store, cleaned = engine.instance.store, list[int]()
        load = store.queries.load

        async def purged_first(ids: list[str]) -> object:
            cleaned.append(await _clean(engine))
            return await load(ids)

        store.queries.load = purged_first  # type: ignore[method-assign,assignment]  # it happens to come in between
        assert await violations(store) == []
        assert cleaned[0] == 3
