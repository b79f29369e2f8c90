"""What a function has recorded is found when it is run again, whatever became of it in between."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from tests.runtime.calls.node_parts import Effect, failure, recorded
from tests.runtime.harness import call, end, engine_at, flow, until_status

if TYPE_CHECKING:
    from collections.abc import Callable


TWICE = {"max_attempts": 2, "delay": "1ms"}


@pytest.mark.parametrize("durability", ["step", "leg"])
async def test_what_is_done_once_is_durable_when_the_function_has_it(tmp_path: Path, durability: str) -> None:
    seen = dict[str, object]()

    async def work(context: NodeContext) -> object:
        value = await context.once("reserve", Effect({"seat": 4}))
        seen.update(await recorded(engine, context.execution_id))
        return value

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), settings={"durability": durability}))
        assert (await engine.executions.start("flow", wait="end")).output == {"seat": 4}
        assert seen == {"reserve": {"seat": 4}}


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_what_was_done_once_is_not_done_again_by_the_next_attempt(tmp_path: Path, kind: str) -> None:
    effect, attempts = Effect((1, 2)), list[int]()

    def go_on(context: NodeContext | SyncNodeContext, value: list[int]) -> list[int]:
        attempts.append(context.fencing_token)
        assert value == [1, 2]  # as JSON has it, in the first attempt as well
        value.append(3)  # it is the function's own
        if len(attempts) == 1:
            raise ConnectionError("not yet")
        return value

    async def work_async(context: NodeContext) -> list[int]:
        return go_on(context, await context.once("reserve", effect))

    def work_sync(context: SyncNodeContext) -> list[int]:
        return go_on(context, context.once("reserve", effect))

    work: Callable[..., object] = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=TWICE)))
        assert (await engine.executions.start("flow", wait="end")).output == [1, 2, 3]
    assert (effect.count, attempts) == (1, [1, 2])


async def test_a_value_that_is_changed_by_its_holder_stays_as_it_was_for_the_next(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> object:
        first = await context.once("box", dict)
        first["spoiled"] = True
        return await context.once("box", dict)

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        assert (await engine.executions.start("flow", wait="end")).output == {}


async def test_arguments_are_passed_on_and_async_functions_awaited(tmp_path: Path) -> None:
    async def add(one: int, *, key: int) -> int:
        await asyncio.sleep(0)
        return one + key

    async def work(context: NodeContext) -> object:
        return await context.once("sum", add, 1, key=2)

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        assert (await engine.executions.start("flow", wait="end")).output == 3


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_a_value_that_is_no_json_is_a_clear_error_and_not_tried_again(tmp_path: Path, kind: str) -> None:
    async def work_async(context: NodeContext) -> object:
        return await context.once("reserve", object)

    def work_sync(context: SyncNodeContext) -> object:
        return context.once("reserve", object)

    work: Callable[..., object] = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    async with engine_at(tmp_path, work) as engine:
        error = await failure(engine)
        assert (error["code"], error["retryable"]) == ("payload_not_json", False)
        assert "`reserve`" in error["message"]


async def test_what_fails_is_not_recorded(tmp_path: Path) -> None:
    attempts = list[int]()

    async def reserve() -> str:
        if len(attempts) == 1:
            raise ConnectionError("not yet")
        return "seat"

    async def work(context: NodeContext) -> object:
        attempts.append(context.attempt)
        return await context.once("reserve", reserve)

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=TWICE)))
        assert (await engine.executions.start("flow", wait="end")).output == "seat"
        assert attempts == [1, 2]


async def test_several_things_are_done_side_by_side_and_one_key_is_done_once(tmp_path: Path) -> None:
    begun, effect = asyncio.Barrier(2), Effect()

    async def meet(name: str) -> str:
        await begun.wait()  # neither goes on alone
        return name

    async def count() -> object:
        await asyncio.sleep(0)
        return effect()

    async def work(context: NodeContext) -> object:
        names = await asyncio.gather(context.once("l", meet, "left"), context.once("r", meet, "right"))
        return [*names, *await asyncio.gather(*(context.once("same", count) for _ in range(3)))]

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        assert (await engine.executions.start("flow", wait="end")).output == ["left", "right", 1, 1, 1]


async def test_an_operators_pause_does_not_keep_a_function_from_recording(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def work(context: NodeContext) -> object:
        begun.set()
        await go_on.wait()
        return await context.once("late", Effect("recorded"))

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        started = await engine.executions.start("flow")
        await begun.wait()
        await engine.control.pause(started.id, "lunch")
        await until_status(engine, started.id, "pausing")
        go_on.set()
        await until_status(engine, started.id, "paused")
        await engine.control.resume(started.id)
        assert await engine.executions.result(started.id) == "recorded"


# Checkpoints


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_the_next_attempt_finds_the_last_checkpoint(tmp_path: Path, kind: str) -> None:
    restored = list[object]()

    def go_on(context: NodeContext | SyncNodeContext) -> list[int]:
        if context.restored is None:
            raise ConnectionError("not yet")
        found: list[int] = context.restored["done"]
        return found

    async def work_async(context: NodeContext) -> list[int]:
        restored.append(context.restored)
        if context.restored is None:
            await context.checkpoint({"done": [1]})
            await context.checkpoint({"done": [1, 2]})
        return go_on(context)

    def work_sync(context: SyncNodeContext) -> list[int]:
        restored.append(context.restored)
        if context.restored is None:
            context.checkpoint({"done": [1]})
            context.checkpoint({"done": [1, 2]})
        return go_on(context)

    work: Callable[..., object] = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=TWICE)))
        assert (await engine.executions.start("flow", wait="end")).output == [1, 2]
        assert restored == [None, {"done": [1, 2]}]


async def test_what_was_restored_is_the_functions_own(tmp_path: Path) -> None:
    restored = list[object]()

    async def work(context: NodeContext) -> object:
        if context.restored is None:
            await context.checkpoint({"done": []})
        else:
            restored.append(list(context.restored["done"]))
            context.restored["done"].append("spoiled")
        if context.attempt < 3:
            raise ConnectionError("not yet")
        return restored

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry={"max_attempts": 3, "delay": "1ms"})))
        assert (await engine.executions.start("flow", wait="end")).output == [[], []]


async def test_another_instance_finds_checkpoint_and_records_and_has_a_higher_number(tmp_path: Path) -> None:
    effect, numbers, waiting = Effect(), list[int](), asyncio.Event()

    async def work(context: NodeContext) -> object:
        numbers.append(context.fencing_token)
        await context.once("pay", effect)
        await context.checkpoint("paid")
        if context.restored is None:
            waiting.set()
            await asyncio.Event().wait()
        return [context.restored, effect.count, context.idempotency_key]

    async with engine_at(tmp_path, work, grace=0) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await waiting.wait()
    async with engine_at(tmp_path, work) as engine:
        assert await engine.executions.result(started.id) == ["paid", 1, f"{started.id}/a"]
    assert numbers == [1, 2]


async def test_a_function_that_is_stopped_with_its_instance_may_put_down_how_far_it_has_come(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def work(context: NodeContext) -> object:
        if context.restored is not None:
            return context.restored
        try:
            begun.set()
            return await asyncio.Event().wait()
        finally:
            await context.checkpoint("as far as this")

    async with engine_at(tmp_path, work, grace=0) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await begun.wait()
    async with engine_at(tmp_path, work) as engine:
        assert await engine.executions.result(started.id) == "as far as this"


async def test_a_call_whose_result_is_not_awaited_records_nothing(tmp_path: Path) -> None:
    told = asyncio.get_running_loop().create_future()

    async def work(context: NodeContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await context.once("late", Effect())
            except Exception as error:  # noqa: BLE001 - it is looked at below
                told.set_result(error)

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", timeout="20ms", next={"error": "badly"}), end("late", "badly")))
        done = await engine.executions.start("flow", wait="end")
        assert (await told).code == "superseded"
        assert await recorded(engine, done.id) == {}
