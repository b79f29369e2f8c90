"""The history checker looks between executions: a child that is lost on either way is found, and a busy one is not."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.ids import child_id
from layover.errors import WrongState
from layover.ports.records import Enqueue
from layover.runtime.maintenance.verify import verify, violations
from layover.stores.sqlite import SqliteStore
from tests.runtime.harness import (
    Scripted,
    call,
    child,
    delay,
    engine_at,
    fan_out,
    flow,
    until,
    until_child,
    until_status,
)
from tests.runtime.maintenance.verify_scene import Damage


async def resting(folder: Path) -> tuple[str, str]:
    """Leave a parent and its child, which both rest, in a database; return their ids."""
    async with engine_at(folder) as engine:
        await engine.workflows.register(flow(delay(), name="naps"))
        await engine.workflows.register(flow(child("a", "naps")))
        started = await engine.executions.start("flow", wait="rest")
        return started.id, await until_child(engine, child_id(started.id, "a", 1), "waiting")


def damaged(folder: Path, statement: str, of: str) -> None:
    damage = Damage(folder / "layover.db")
    damage(statement, of=of)
    damage.close()


async def found(folder: Path) -> list[tuple[str, str]]:
    store = SqliteStore(folder / "layover.db")
    await store.open_to_read()
    try:
        return [(one.code, one.execution_id) for one in await violations(store)]
    finally:
        await store.close()


async def test_a_parent_and_its_child_that_rest_are_sound(tmp_path: Path) -> None:
    await resting(tmp_path)
    assert await found(tmp_path) == []


async def test_a_child_that_is_gone_is_missing(tmp_path: Path) -> None:
    parent, inner = await resting(tmp_path)
    for table in ("events", "pause_points", "heads", "executions"):
        damaged(tmp_path, f"DELETE FROM {table} WHERE execution_id = :id", of=inner)  # noqa: S608 - names of ours
    assert await found(tmp_path) == [("child_missing", parent)]


async def left_behind(folder: Path, *, paused: bool = False) -> tuple[str, str]:
    """Leave a parent whose child is to be started, or to be paused, and nobody has brought it the message."""
    async with engine_at(folder) as engine:
        await engine.workflows.register(flow(delay(), name="naps"))
        await engine.workflows.register(flow(child("a", "naps")))
        if paused:
            started = await engine.executions.start("flow", wait="rest")
            await until_child(engine, child_id(started.id, "a", 1), "waiting")
            engine.instance.outbox_relay.stop()
            await engine.control.pause(started.id)
        else:
            engine.instance.outbox_relay.stop()
            started = await engine.executions.start("flow", wait="rest")
        return started.id, child_id(started.id, "a", 1)


@pytest.mark.parametrize(("paused", "code"), [(False, "child_missing"), (True, "child_unpaused")])
async def test_a_message_to_a_child_that_is_lost_is_found(tmp_path: Path, *, paused: bool, code: str) -> None:
    parent, _ = await left_behind(tmp_path, paused=paused)
    assert await found(tmp_path) == []
    damaged(tmp_path, "DELETE FROM outbox WHERE sender = :id", of=parent)
    assert await found(tmp_path) == [(code, parent)]


async def test_word_of_the_end_that_is_lost_is_found(tmp_path: Path) -> None:
    parent, inner = await resting(tmp_path)
    async with engine_at(tmp_path) as engine:
        engine.instance.outbox_relay.stop()
        await engine.control.cancel(inner)
    assert await found(tmp_path) == []
    damaged(tmp_path, "DELETE FROM outbox WHERE sender = :id", of=inner)
    assert await found(tmp_path) == [("child_unheard", parent)]


async def test_word_of_a_pause_that_is_lost_is_found(tmp_path: Path) -> None:
    parent, inner = await left_behind(tmp_path, paused=True)
    async with engine_at(tmp_path) as engine:
        engine.instance.outbox_relay.stop()
        (pause,) = await engine.instance.store.outbox.list_undelivered(parent)
        wanted = Enqueue(execution_id=inner, kind=pause.kind, body=pause.body, source=parent, source_n=pause.n)
        await engine.instance.driver.send([wanted])
        await engine.instance.store.outbox.delete_delivered([pause])
        await until_status(engine, inner, "paused")
    assert await found(tmp_path) == []
    damaged(tmp_path, "DELETE FROM outbox WHERE sender = :id", of=inner)
    assert await found(tmp_path) == [("child_unpaused", parent)]


async def test_families_that_are_at_work_raise_no_alarm(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted("done")) as one, engine_at(tmp_path, Scripted("done")) as two:
        await one.workflows.register(flow(call("a"), delay(duration="1ms"), call("b"), name="works"))
        await one.workflows.register(flow(fan_out(child("a", "works")), child("b", "works")))
        began = [(await (one if n % 2 else two).executions.start("flow", list(range(4)))).id for n in range(30)]
        verifying = asyncio.create_task(no_alarm(tmp_path))
        for parent in began[::3]:
            with suppress(WrongState):  # it is done already
                await one.control.pause(parent)
        await verifying
        for parent in began:
            head = await until(one, parent, lambda head: head.status in ("completed", "paused"))
            if head.status == "paused":
                await one.control.resume(parent)
            assert (await one.executions.wait(parent)).status == "completed"
    assert await found(tmp_path) == []


async def no_alarm(folder: Path) -> None:
    store = SqliteStore(folder / "layover.db")
    await store.open_to_read()
    for _ in range(5):
        async for violation in verify(store):
            pytest.fail(str(violation))
    await store.close()
