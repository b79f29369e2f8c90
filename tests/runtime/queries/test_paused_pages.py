"""Pages of what is paused: each is full as long as more is left, also while executions go on as they are read."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from tests.runtime.harness import Between, HandWound, Scripted, call, engine_on, flow, form, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.ports.view_records import ExecutionRow, PausedFilter
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")


class AsItGoesOn(Between):
    """A store beside which something happens once, after a list was read and before its executions are."""

    def __init__(self, clock: HandWound, folder: Path) -> None:
        self.store = clock.store(folder)
        self.meanwhile: Callable[[], Awaitable[None]] | None = None

    async def queries_list_paused(self, wanted: PausedFilter) -> list[ExecutionRow]:
        rows = await self.store.queries.list_paused(wanted)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return rows


class Scene:
    """Executions that are paused until a form is filled in, one a second after the other."""

    def __init__(self, folder: Path) -> None:
        self.clock = HandWound()
        self.store = AsItGoesOn(self.clock, folder)
        self.ids: list[str] = []

    async def begin(self, engine: Runtime, count: int) -> None:
        await engine.workflows.register(flow(form("one"), call("work"), form("two")))
        for _ in range(count):
            self.tick(engine)
            self.ids.append((await engine.executions.start("flow", wait="rest")).id)

    def tick(self, engine: Runtime) -> None:
        self.clock.now += 1_000
        engine.instance.clock.set(self.clock.now)

    def named(self, ids: list[str]) -> list[int]:
        return [self.ids.index(id_) for id_ in ids]

    async def walk(self, engine: Runtime, limit: int) -> list[list[int]]:
        """Turn all pages, each from behind the last one that was seen."""
        pages: list[list[int]] = []
        after = None
        while found := await engine.lists.paused(after=after, limit=limit):
            pages.append(self.named([one.id for one in found]))
            last = found[-1]
            assert last.paused_at is not None
            after = (last.paused_at.milliseconds, last.id)
        return pages


async def test_a_page_is_full_though_some_went_on_while_it_was_read(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    async with engine_on(scene.store, Scripted(None)) as engine:
        await scene.begin(engine, 7)

        async def cancel() -> None:
            for n in (0, 2, 3):
                await engine.control.cancel(scene.ids[n])
                await engine.executions.wait(scene.ids[n])

        scene.store.meanwhile = cancel
        assert await scene.walk(engine, 3) == [[1, 4, 5], [6]]
        assert await engine.lists.paused(limit=0) == []
        assert await engine.lists.paused(limit=-1) == []


async def test_one_that_is_paused_again_meanwhile_stands_where_it_belongs(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    async with engine_on(scene.store, Scripted(None)) as engine:
        await scene.begin(engine, 4)

        async def go_on() -> None:
            scene.tick(engine)
            (row,) = await engine.points.list(scene.ids[0])
            await engine.answers.answer(row.point.id, {}, by="ann")
            await until(engine, scene.ids[0], lambda head: head.status == "paused" and head.commands_done == 1)

        scene.store.meanwhile = go_on
        assert await scene.walk(engine, 2) == [[1, 2], [3, 0]]


async def test_pages_go_on_behind_one_that_an_operator_paused_as_well(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    async with engine_on(scene.store, Scripted(None)) as engine:
        await scene.begin(engine, 3)
        scene.tick(engine)
        await engine.control.pause(scene.ids[0], "stock-taking")
        await until(engine, scene.ids[0], lambda head: head.commands_done == 1)
        assert await scene.walk(engine, 1) == [[1], [2], [0]]  # it is the operator who is awaited since then
        (*_, last) = await engine.lists.paused()
        assert last == await engine.queries.get(scene.ids[0])
        assert last.paused_reason == "stock-taking"
