"""Lines that node functions write carry the ids of their call, however they are written."""

from __future__ import annotations

import asyncio
import logging
from contextvars import copy_context
from threading import Thread
from typing import TYPE_CHECKING

import pytest
import structlog

from layover.logs import structlog_processor
from layover.logs.context import current_ids
from tests.api.harness import served
from tests.runtime.harness import call, engine_at, flow, form

if TYPE_CHECKING:
    from pathlib import Path

    from tests.logs.conftest import Written

_log = logging.getLogger("shop")
_KINDS = ("async", "task", "to_thread", "thread")
_TIMES = 7


async def in_coroutine(n: int) -> int:
    _log.info("async %d", n)
    await asyncio.sleep(0)
    _log.info("async %d", n)
    return n


async def in_task(n: int) -> int:
    async def inner() -> None:
        await asyncio.sleep(0)
        _log.info("task %d", n)

    async with asyncio.TaskGroup() as group:
        group.create_task(inner())
        group.create_task(inner())
    return n


async def in_to_thread(n: int) -> int:
    await asyncio.gather(*(asyncio.to_thread(_log.info, "to_thread %d", n) for _ in range(2)))
    return n


def in_thread(n: int) -> int:
    _log.info("thread %d", n)
    own = Thread(target=copy_context().run, args=(_log.info, "thread %d", n))
    own.start()
    own.join()
    return n


_FUNCTIONS = (in_coroutine, in_task, in_to_thread, in_thread)


def _flow() -> dict[str, object]:
    return flow(*(call(f"n_{one.__name__}", one.__name__, input={"n": "${input.n}"}) for one in _FUNCTIONS))


@pytest.mark.usefixtures("each_database")
async def test_every_line_of_a_call_has_its_ids(tmp_path: Path, written: Written) -> None:
    written.configure()
    async with engine_at(tmp_path, *_FUNCTIONS) as engine:
        await engine.workflows.register(_flow())
        started = await asyncio.gather(*(engine.executions.start("flow", {"n": n}, wait="end") for n in range(_TIMES)))
        assert current_ids() == {}
    lines = [line for line in written.lines if line["logger"] == "shop"]
    assert len(lines) == _TIMES * len(_KINDS) * 2
    for line in lines:
        kind, n = line["event"].split()
        assert line["execution"] == started[int(n)].id
        assert line["workflow"] == "flow"
        assert line["node"] == f"n_in_{kind}".replace("async", "coroutine")
        assert line["attempt"] == 1


async def test_structlog_as_it_is_by_default_has_the_ids_of_the_call(tmp_path: Path) -> None:
    async def say() -> None:
        structlog.get_logger().info("hello")
        await asyncio.to_thread(structlog.get_logger().info, "from a thread")

    def shout() -> None:
        structlog.get_logger().info("from a function that is not async", node="mine")

    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as events:
        async with engine_at(tmp_path, say, shout) as engine:
            await engine.workflows.register(flow(call("a", "say"), call("b", "shout")))
            started = await engine.executions.start("flow", wait="end")
        structlog.get_logger().info("outside")
    ids = {"execution": started.id, "workflow": "flow", "attempt": 1, "log_level": "info"}
    assert events == [
        {"event": "hello", "node": "a", **ids},
        {"event": "from a thread", "node": "a", **ids},
        {"event": "from a function that is not async", "node": "mine", **ids},
        {"event": "outside", "log_level": "info"},
    ]


async def test_a_processor_gives_structlog_the_ids_of_the_call(tmp_path: Path) -> None:
    seen: list[dict[str, object]] = []

    async def say() -> None:
        event = structlog_processor(None, "info", {"event": "hello", "node": "mine"})
        seen.append(dict(event))

    async with engine_at(tmp_path, say) as engine:
        await engine.workflows.register(flow(call("a", "say")))
        started = await engine.executions.start("flow", wait="end")
    expected = {"event": "hello", "node": "mine", "execution": started.id, "workflow": "flow", "attempt": 1}
    assert seen == [expected]
    assert structlog_processor(None, "info", {"event": "outside"}) == {"event": "outside"}


async def test_the_attempt_is_that_of_the_call(tmp_path: Path, written: Written) -> None:
    written.configure("info,layover.execution=debug")
    tried: list[int] = []

    async def flaky() -> None:
        tried.append(1)
        _log.info("trying")
        if len(tried) < 3:
            raise OSError("again")

    async with engine_at(tmp_path, flaky) as engine:
        policy = {"max_attempts": 3, "delay": "1ms", "jitter": 0}
        await engine.workflows.register(flow({**call("a", "flaky"), "retry": policy}))
        await engine.executions.start("flow", wait="end")
    assert [line["attempt"] for line in written.of("trying")] == [1, 2, 3]
    for event in ("attempt_failed", "retry_scheduled"):
        assert [line["attempt"] for line in written.of(event)] == [1, 2]


@pytest.mark.usefixtures("each_database")
async def test_the_request_that_began_a_leg_is_in_the_lines_of_its_calls(tmp_path: Path, written: Written) -> None:
    written.configure()

    async def before() -> None:
        _log.info("before")

    def after() -> None:
        _log.info("after")

    steps = flow(call("a", "before"), form(), call("b", "after"))
    async with served(tmp_path, before, after) as api:
        await api.put("/workflows/flow", steps)
        made = await api.post("/executions", {"workflow": "flow", "wait": "5s"}, headers={"x-request-id": "the-start"})
        id_ = made.json["id"]
        [point] = (await api.get(f"/pause-points?execution_id={id_}")).json["items"]
        answer = await api.post(
            f"/pause-points/{point['id']}/answer", {"data": {}}, headers={"x-request-id": "the-answer"}
        )
        assert answer.status < 300, answer.body
        await api.engine.executions.result(id_)
    lines = [line for line in written.lines if line["logger"] == "shop"]
    assert [(line["event"], line.get("request"), line["execution"]) for line in lines] == [
        ("before", "the-start", id_),
        ("after", "the-answer", id_),
    ]


async def test_a_command_that_the_claimer_takes_up_brings_its_request(tmp_path: Path, written: Written) -> None:
    written.configure()

    async def work() -> None:
        _log.info("worked")

    async with served(tmp_path, work) as api:
        await api.put("/workflows/flow", flow(call("a", "work")))
        id_ = (await api.post("/executions", {"workflow": "flow", "wait": "5s"})).json["id"]
        again = await api.post(f"/executions/{id_}/rewind", {"to": "a"}, headers={"x-request-id": "again"})
        assert again.status < 300, again.body
        await api.engine.executions.result(id_)
    first, second = written.of("worked")
    assert first["request"] != second["request"] == "again"
