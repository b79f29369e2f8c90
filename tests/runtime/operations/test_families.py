"""Families under two engines: whatever is asked of them in whatever order, a pause holds all of one, and all end.

What is asked is drawn by a seed. How it falls together differs from run to run; what must hold does not.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.bootstrap import inspectable_store
from layover.errors import LayoverError
from layover.ports.records import CLOSED
from layover.runtime.maintenance.verify import violations
from layover.runtime.runtime import Runtime
from layover.stores.memory import MemoryStore
from tests.runtime.harness import (
    Scripted,
    address_in,
    call,
    child,
    delay,
    end,
    engine_at,
    fan_out,
    flow,
    form,
    settings_with,
    until,
    until_status,
)

pytestmark = pytest.mark.usefixtures("each_database")

WORKFLOWS = [
    flow(call("a"), delay(duration="1ms"), call("b"), name="leaf"),
    flow(call("a"), form(), end("${nodes.ask}"), name="asks"),
    flow(fan_out(child("a", "leaf"), "[1, 2]"), child("b", "asks"), child("c", "leaf"), name="middle"),
    flow(child("a", "middle"), child("b", "asks")),
]
ROOTS = 6
STEPS = 40


class Family:
    """Executions of the outermost workflow, and two engines that drive them with all that belongs to them."""

    def __init__(self, engines: tuple[Runtime, Runtime], ids: list[str], seed: int) -> None:
        self.engines = engines
        self.ids = ids
        self.held = dict.fromkeys(ids, False)
        self.draw = random.Random(seed)  # noqa: S311 - nothing secret depends on it

    async def step(self) -> None:
        """Ask something of one of them."""
        engine, root = self.draw.choice(self.engines), self.draw.choice(self.ids)
        with suppress(LayoverError):  # it is closed, or is just as it should be
            match self.draw.randrange(6):
                case 0 | 1:
                    await engine.control.pause(root, "for a while")
                    self.held[root] = True
                case 2 | 3:
                    await engine.control.resume(root)
                    self.held[root] = False
                case 4:
                    await self.answer(engine, root)
                case _:
                    await self.is_held(engine, root)

    async def answer(self, engine: Runtime, root: str) -> None:
        for row in await engine.points.list(root, children=True):
            if row.point.kind == "form":
                await engine.answers.answer(row.point.id, {"n": 1}, by="ann")

    async def is_held(self, engine: Runtime, root: str) -> None:
        """Make sure that nothing goes on in a family that is paused."""
        if not self.held[root]:
            return
        head = await until(engine, root, lambda head: head.status in (*CLOSED, "paused"))
        if head.status == "paused":
            for row in await engine.points.list(root, children=True):
                found = await engine.queries.get(row.point.child or row.execution_id)
                assert found.status == "paused"
                assert found.paused_reason == "for a while"

    async def end(self) -> None:
        """Let all of them go, and answer what is asked, until they have come to their end."""
        engine = self.engines[0]
        for root in self.ids:
            with suppress(LayoverError):
                await engine.control.resume(root)
            while (await engine.queries.get(root)).status not in CLOSED:
                with suppress(LayoverError):
                    await self.answer(engine, root)
            assert await engine.executions.result(root) == {"n": 1}


@pytest.mark.parametrize("seed", range(4))
async def test_a_pause_holds_all_of_a_family_and_all_of_it_ends(tmp_path: Path, seed: int) -> None:
    work = Scripted("done")
    async with engine_at(tmp_path, work, outbox_poll=20) as one, engine_at(tmp_path, work, outbox_poll=20) as two:
        for definition in WORKFLOWS:
            await one.workflows.register(definition)
        ids = [(await engine.executions.start("flow")).id for engine in (one, two) * (ROOTS // 2)]
        family = Family((one, two), ids, seed)
        for _ in range(STEPS):
            await family.step()
        await family.end()
        counts = await one.lists.counts()
    assert counts == {"completed": ROOTS * 7}
    assert len({(call.execution_id, call.context_id) for call in work.calls}) == len(work.calls)
    store = inspectable_store(address_in(tmp_path))
    await store.open_to_read()
    assert await violations(store) == []
    await store.close()


async def test_a_family_lives_in_any_store() -> None:
    store = MemoryStore()
    async with Runtime(store, nodes=[Scripted("done")], settings=settings_with()) as engine:
        for definition in WORKFLOWS:
            await engine.workflows.register(definition)
        started = await engine.executions.start("flow")
        await engine.control.pause(started.id, "for a while")
        await until_status(engine, started.id, "paused")
        await Family((engine, engine), [started.id], 0).end()
        assert await engine.lists.counts() == {"completed": 7}
        assert await violations(store) == []


async def test_many_families_at_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted("done"), executions=20) as engine:
        await engine.workflows.register(WORKFLOWS[0])
        await engine.workflows.register(flow(fan_out(child("a", "leaf"), "[1, 2, 3]"), name="three"))
        found = await asyncio.gather(*(engine.executions.start("three", wait="end") for _ in range(30)))
        assert [one.output for one in found] == [["done"] * 3] * 30
