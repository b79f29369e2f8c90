"""How far a call is can be seen from anywhere, live: no log has it, and no step waits for it."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from layover import Client, Engine, Event, LogLine, Progress, Settings
from layover.errors import BadUse
from layover.nodes.context import NodeContext, SyncNodeContext
from tests.api.harness import ADMIN_KEY, served
from tests.api.test_streams import followed
from tests.runtime.harness import Between, Held, Scripted, address_in, call, engine_at, engine_on, flow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from layover.ports.view_records import NodeProgress
    from layover.runtime.runtime import Runtime

each_database = pytest.mark.usefixtures("each_database")


async def _shown(engine: Runtime, execution_id: str, wanted: Callable[[Progress], bool] = lambda _: True) -> Progress:
    """Return the progress of the only node, once it is as wanted."""
    while True:
        [node] = await engine.queries.nodes(execution_id)
        if node.progress is not None and wanted(node.progress):
            return node.progress
        await asyncio.sleep(0)


@each_database
async def test_the_last_report_is_shown_here_and_by_other_instances_until_the_call_ends(tmp_path: Path) -> None:
    held = Held()
    async with engine_at(tmp_path, held) as engine, engine_at(tmp_path, executions=0) as other:
        await engine.workflows.register(flow(call("a")))
        id_ = (await engine.executions.start("flow")).id
        running = await held.begun()
        running.context.progress(1, 10)
        running.context.progress(3, 10, "three")
        here, there = await _shown(engine, id_), await _shown(other, id_)
        assert (here.context_id, here.attempt, here.done, here.total, here.text) == ("a", 1, 3, 10, "three")
        assert (there.done, there.total, there.text) == (3, 10, "three")
        running.returns(1)
        await engine.executions.result(id_)
        assert [node.progress for node in await engine.queries.nodes(id_)] == [None]
        assert "three" not in repr(await engine.queries.history(id_))
        while await engine.instance.store.node_reports.read_progress([id_]):  # noqa: ASYNC110 - what others write
            await asyncio.sleep(0)


async def test_a_function_in_a_thread_reports_as_well(tmp_path: Path) -> None:
    go_on = threading.Event()

    def work(context: SyncNodeContext) -> None:
        context.progress(0.5, text="half")
        go_on.wait()

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        id_ = (await engine.executions.start("flow")).id
        shown = await _shown(engine, id_)
        go_on.set()
        await engine.executions.result(id_)
    assert (shown.done, shown.total, shown.text) == (0.5, None, "half")


class Counting(Between):
    """A store that counts what is written of progress."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.rows = 0
        self.bodies: list[bytes] = []

    async def node_reports_save_progress(self, latest: list[NodeProgress], ended: list[NodeProgress]) -> None:
        self.rows += len(latest)
        self.bodies += [row.body for row in latest]
        await self.store.node_reports.save_progress(latest, ended)


async def test_however_often_it_is_reported_only_the_last_report_of_a_round_is_written(tmp_path: Path) -> None:
    store, held = Counting(tmp_path), Held()
    async with engine_on(store, held) as engine:
        await engine.workflows.register(flow(call("a")))
        id_ = (await engine.executions.start("flow")).id
        running = await held.begun()
        for n in range(10_000):
            running.context.progress(n, 10_000)
        while not store.rows:  # noqa: ASYNC110 - what a service writes
            await asyncio.sleep(0)
        running.returns(1)
        await engine.executions.result(id_)
    assert store.bodies == [b'{"done":9999,"total":10000}']


async def test_a_call_that_reports_nothing_writes_nothing(tmp_path: Path) -> None:
    store = Counting(tmp_path)
    async with engine_on(store, Scripted(1)) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.executions.start("flow", wait="end")
        assert not engine.instance.progress._wanted.is_set()  # noqa: SLF001 - the service sleeps


async def test_a_store_that_cannot_be_written_holds_up_nothing(tmp_path: Path) -> None:
    class Failing(Counting):
        async def node_reports_save_progress(self, *_: object) -> None:
            self.rows += 1
            raise OSError("no")

    store, held = Failing(tmp_path), Held()
    async with engine_on(store, held) as engine:
        await engine.workflows.register(flow(call("a")))
        id_ = (await engine.executions.start("flow")).id
        running = await held.begun()
        running.context.progress(1, 2)
        while not engine.failing_services["progress"]:  # noqa: ASYNC110 - a service
            await asyncio.sleep(0)
        assert engine.is_working
        running.returns("done")
        assert await engine.executions.result(id_) == "done"


@pytest.mark.parametrize("wrong", [("x",), (1, "x"), (1, 2, 3), (True,), (float("nan"), 1), (1, float("inf"))])
def test_what_is_no_progress_is_refused(wrong: tuple[Any, ...]) -> None:
    context = NodeContext(execution_id="e", context_id="a", attempt=1)
    context.progress(1, 2, "outside an engine it does nothing")
    with pytest.raises(BadUse, match="two numbers and a text"):
        context.progress(*wrong)


@each_database
async def test_watching_an_execution_tells_events_and_progress_of_another_instance(tmp_path: Path) -> None:
    held = Held()
    async with (
        engine_at(tmp_path, held) as engine,
        Engine(address_in(tmp_path), settings=Settings(executions=0)) as door,
    ):
        await engine.workflows.register(flow(call("a")))
        id_ = (await engine.executions.start("flow")).id
        running = await held.begun()
        seen: list[Event | Progress | LogLine] = []
        async for one in (await door.execution(id_)).watch():
            seen.append(one)
            if isinstance(one, Event) and one.type == "NodeStarted":
                running.context.progress(7, 9, "seven")
            elif isinstance(one, Progress):
                running.returns(1)
    assert [one.type for one in seen if isinstance(one, Event)][-1] == "ExecutionCompleted"
    assert [(one.done, one.total, one.text) for one in seen if isinstance(one, Progress)] == [(7, 9, "seven")]


async def test_over_http_progress_has_a_name_of_its_own_and_no_number(tmp_path: Path) -> None:
    held = Held()
    async with served(tmp_path, held) as api:
        await api.put("/workflows/flow", flow(call("a")))
        id_ = (await api.post("/executions", {"workflow": "flow"})).json["id"]
        running = await held.begun()
        running.context.progress(7, 9, "seven")
        told = []
        async for one in followed(api, f"/executions/{id_}/stream"):
            told.append(one)
            if one.kind == "progress":
                running.returns(1)
        nodes = (await api.get(f"/executions/{id_}/nodes")).json["items"]
    [progress] = [one for one in told if one.kind == "progress"]
    assert progress.id is None
    assert (progress.data["context_id"], progress.data["done"], progress.data["text"]) == ("a", 7, "seven")
    assert nodes[0]["progress"] is None
    numbers = [one.id for one in told if one.id is not None]
    assert numbers == list(range(len(numbers)))


async def test_a_client_watches_progress_and_its_events_have_none(tmp_path: Path) -> None:
    held = Held()
    async with served(tmp_path, held) as api, Client(api.url, api_key=ADMIN_KEY) as client:
        await client.register(flow(call("a")))
        execution = await client.start("flow")
        running = await held.begun()
        running.context.progress(7, 9)
        seen: list[Event | Progress | LogLine] = []
        async for one in execution.watch():
            seen.append(one)
            if isinstance(one, Progress):
                running.returns(1)
        events = [one async for one in execution.events()]
    assert [one for one in seen if isinstance(one, Event)] == events
    assert [one.done for one in seen if isinstance(one, Progress)] == [7]


async def test_what_an_abandoned_function_reports_is_not_shown(tmp_path: Path) -> None:
    go_on, reported = threading.Event(), threading.Event()

    def work(context: SyncNodeContext) -> None:
        context.progress(1, 2)
        go_on.wait()
        context.progress(2, 2)
        reported.set()

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow({**call("a"), "timeout": "50ms"}))
        id_ = (await engine.executions.start("flow", wait="end")).id
        go_on.set()
        await asyncio.to_thread(reported.wait)
        await engine.instance.progress._write()  # noqa: SLF001 - the round that would show it
        assert [node.progress for node in await engine.queries.nodes(id_)] == [None]
        rows = await engine.instance.store.node_reports.read_progress([id_])
        assert [row.body for row in rows if b'"done":2' in row.body] == []
