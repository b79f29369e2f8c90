"""A context that is used in a way that cannot work says so, and fails its node and nothing else."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.nodes.context import NodeContext, SyncNodeContext
from layover.nodes.registry import BadFunction, Registry
from tests.runtime.calls.node_parts import Effect, failure, recorded
from tests.runtime.harness import call, end, engine_at, flow

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("key", ["", "a/b", "x" * 201, "\udc80", 7, None], ids=repr)
async def test_a_key_that_cannot_be_one_fails_the_node_and_says_why(tmp_path: Path, key: str) -> None:
    async def work(context: NodeContext) -> object:
        return await context.once(key, Effect())

    async with engine_at(tmp_path, work) as engine:
        error = await failure(engine)
        assert (error["code"], "A key is a text of 1 to 200 characters" in error["message"]) == ("bad_use", True)


@pytest.mark.parametrize("length", ["soon", "", 5_000, 1.5, True, timedelta(-1), timedelta(days=10**6)], ids=repr)
async def test_a_length_that_is_none_fails_the_node(tmp_path: Path, length: Any) -> None:
    async def work(context: NodeContext) -> None:
        await context.sleep(length)

    async with engine_at(tmp_path, work) as engine:
        assert (await failure(engine))["code"] == "bad_use"


async def test_one_key_for_two_kinds_of_things_fails_the_node(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> object:
        await context.once("size", Effect())
        return await context.ask("size", int)

    async with engine_at(tmp_path, work) as engine:
        error = await failure(engine)
        assert (error["code"], "`once` and for `ask`" in error["message"]) == ("bad_use", True)


@pytest.mark.parametrize("inner", ["ask", "sleep", "same", "other"])
@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_what_is_done_once_does_not_rest_but_may_do_other_things_once(
    tmp_path: Path, inner: str, kind: str
) -> None:
    async def work_async(context: NodeContext) -> object:
        ways: dict[str, Callable[[], object]] = {
            "ask": lambda: context.ask("size", int),
            "sleep": lambda: context.sleep("1h"),
            "same": lambda: context.once("outer", Effect()),
            "other": lambda: context.once("inner", Effect("fine")),
        }
        return await context.once("outer", ways[inner])

    def work_sync(context: SyncNodeContext) -> object:
        ways: dict[str, Callable[[], object]] = {
            "ask": lambda: context.ask("size", int),
            "sleep": lambda: context.sleep("1h"),
            "same": lambda: context.once("outer", Effect()),
            "other": lambda: context.once("inner", Effect("fine")),
        }
        return context.once("outer", ways[inner])

    work: Callable[..., object] = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    async with engine_at(tmp_path, work) as engine:
        well, badly = {**end("${nodes.a}", "well"), "next": None}, end("${errors.a.code}", "badly")
        await engine.workflows.register(flow(call("a", next={"done": "well", "error": "badly"}), well, badly))
        done = await engine.executions.start("flow", wait="end")
        assert done.output == ("fine" if inner == "other" else "bad_use")


@pytest.mark.parametrize("method", ["once", "ask", "sleep", "checkpoint"])
async def test_a_function_in_a_thread_gets_an_error_that_names_the_sync_context(tmp_path: Path, method: str) -> None:
    def work(context: NodeContext) -> object:
        assert context.idempotency_key.endswith("/a")  # to read is fine
        arguments = {"once": ("k", Effect()), "ask": ("k", int), "sleep": ("1h",), "checkpoint": (1,)}
        return getattr(context, method)(*arguments[method])

    async with engine_at(tmp_path, work) as engine:
        error = await failure(engine)
        assert (error["code"], "SyncNodeContext" in error["message"]) == ("bad_use", True)


async def test_a_context_that_blocks_is_not_used_on_the_event_loop(tmp_path: Path) -> None:
    kept = list[SyncNodeContext]()

    def keep(context: SyncNodeContext) -> None:
        kept.append(context)

    async def work() -> None:
        kept[0].sleep("1h")

    async with engine_at(tmp_path, work, keep) as engine:
        await engine.workflows.register(flow(call("k", "keep"), name="keeps"))
        await engine.executions.start("keeps", wait="end")
        assert (await failure(engine))["code"] == "bad_use"


async def test_async_code_in_a_thread_is_refused(tmp_path: Path) -> None:
    async def later() -> None:
        return

    def work(context: SyncNodeContext) -> object:
        return context.once("k", later)

    async with engine_at(tmp_path, work) as engine:
        error = await failure(engine)
        assert (error["code"], "is async" in error["message"]) == ("bad_use", True)


async def test_a_context_is_of_no_use_when_its_call_is_over(tmp_path: Path) -> None:
    kept = list[NodeContext]()

    async def keep(context: NodeContext) -> None:
        kept.append(context)

    async def work() -> object:
        return await kept[0].once("k", Effect())

    async with engine_at(tmp_path, work, keep) as engine:
        await engine.workflows.register(flow(call("k", "keep"), name="keeps"))
        await engine.executions.start("keeps", wait="end")
        error = await failure(engine)
        assert (error["code"], "is over" in error["message"]) == ("bad_use", True)


def test_an_async_function_cannot_take_the_context_that_blocks() -> None:
    async def work(context: SyncNodeContext) -> None:
        context.heartbeat()

    with pytest.raises(BadFunction, match="NodeContext"):
        Registry().add(work)


async def test_a_thread_that_is_left_behind_cannot_record(tmp_path: Path) -> None:
    let_go, over, told = threading.Event(), threading.Event(), list[str]()

    def work(context: SyncNodeContext) -> None:
        let_go.wait(10)
        try:
            context.once("late", Effect())
        except Exception as error:  # noqa: BLE001 - it is looked at below
            told.append(type(error).__name__)
        over.set()

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", timeout="20ms", next={"error": "badly"}), end("late", "badly")))
        done = await engine.executions.start("flow", wait="end")
        let_go.set()
        await asyncio.to_thread(over.wait, 10)
        assert (told, await recorded(engine, done.id)) == (["BadUse"], {})
