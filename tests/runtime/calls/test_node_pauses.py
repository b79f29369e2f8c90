"""A function that asks or sleeps rests in the middle, and goes on from there."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from tests.runtime.calls.node_parts import Effect, answer, failure, recorded
from tests.runtime.harness import HOUR, HandWound, call, end, engine_at, engine_on, flow, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.model.executions import Execution
    from layover.runtime.runtime import Runtime


class Size(msgspec.Struct):
    width: int
    height: int = 1


@dataclasses.dataclass
class Colour:
    name: str


async def skip_a_sleep(engine: Runtime, clock: HandWound, sleeping: Execution, length: int) -> None:
    """Let time pass until a function that sleeps has slept, and sleeps again."""
    clock.skip(engine, length + HOUR)  # the engine's own clock may be ahead
    await until(engine, sleeping.id, lambda head: head.status == "waiting" and head.last_seq > sleeping.last_seq)


# Asking


@pytest.mark.parametrize(
    ("wanted", "data", "expected"),
    [
        (Size, {"width": 3}, Size(3, 1)),
        (Colour, {"name": "red"}, Colour("red")),
        (list[Size], [{"width": 1}, {"width": 2}], [Size(1), Size(2)]),
        (int, 7, 7),
        ({"type": "object", "required": ["width"]}, {"width": 3}, {"width": 3}),
    ],
    ids=["struct", "dataclass", "list", "int", "schema"],
)
@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_a_function_asks_and_is_run_again_with_the_answer(
    tmp_path: Path, wanted: object, data: object, expected: object, kind: str
) -> None:
    seen, tidied = list[object](), list[int]()

    async def work_async(context: NodeContext) -> str:
        try:
            seen.append(await context.ask("size", wanted, title="How large?"))
        finally:
            tidied.append(context.attempt)
        return "sized"

    def work_sync(context: SyncNodeContext) -> str:
        try:
            seen.append(context.ask("size", wanted, title="How large?"))
        finally:
            tidied.append(context.attempt)
        return "sized"

    work: Callable[..., object] = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        asking = await engine.executions.start("flow", wait="rest")
        assert (asking.status, tidied, seen) == ("paused", [1], [])
        (row,) = await engine.points.list(asking.id)
        assert (row.point.kind, row.point.key, row.point.details["title"]) == ("form", "size", "How large?")
        await engine.answers.answer(row.point.id, data, by="ann")
        assert await engine.executions.result(asking.id) == "sized"
        assert (seen, tidied) == ([expected], [1, 2])


async def test_an_answer_that_does_not_fit_the_type_is_refused(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> int:
        return (await context.ask("size", Size)).width

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        asking = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(asking.id)
        with pytest.raises(Exception, match="does not fit"):
            await engine.answers.answer(row.point.id, {"width": "wide"}, by="ann")
        await engine.answers.answer(row.point.id, {"width": 5}, by="ann")
        assert await engine.executions.result(asking.id) == 5


async def test_a_function_that_swallows_what_ends_it_asks_all_the_same(tmp_path: Path) -> None:
    raised = list[str]()

    async def work(context: NodeContext) -> object:
        steps = (lambda: context.ask("size", int), lambda: context.once("x", Effect()), lambda: context.sleep("1s"))
        for step in steps:
            try:
                return await step()
            except BaseException as error:  # noqa: BLE001 - that is the point
                raised.append(type(error).__name__)
        return "nonsense"

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        asking = await engine.executions.start("flow", wait="rest")
        assert (asking.status, raised) == ("paused", ["Unwinding"] * 3)
        assert await recorded(engine, asking.id) == {}
        await answer(engine, asking.id, 6)
        assert await engine.executions.result(asking.id) == 6


@pytest.mark.parametrize("together", ["gather", "group"])
async def test_what_is_being_done_when_another_branch_asks_is_recorded_first(tmp_path: Path, together: str) -> None:
    begun, asked, effect = asyncio.Event(), asyncio.Event(), Effect("paid")

    async def pay() -> object:
        begun.set()
        await asked.wait()
        return effect()

    async def ask(context: NodeContext) -> int:
        await begun.wait()
        asyncio.get_running_loop().call_soon(asked.set)
        return await context.ask("size", int)

    async def work(context: NodeContext) -> object:
        if together == "gather":
            return await asyncio.gather(context.once("pay", pay), ask(context))
        async with asyncio.TaskGroup() as group:
            paid, size = group.create_task(context.once("pay", pay)), group.create_task(ask(context))
        return [paid.result(), size.result()]

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="rest")
        assert await recorded(engine, started.id) == {"pay": "paid"}
        await answer(engine, started.id, 2)
        assert await engine.executions.result(started.id) == ["paid", 2]
        assert effect.count == 1


async def test_what_is_done_as_a_part_of_it_is_recorded_too(tmp_path: Path) -> None:
    begun, asked = asyncio.Event(), asyncio.Event()

    async def pay(context: NodeContext) -> object:
        begun.set()
        await asked.wait()
        return await context.once("book", Effect("booked"))

    async def ask(context: NodeContext) -> int:
        await begun.wait()
        asyncio.get_running_loop().call_soon(asked.set)
        return await context.ask("size", int)

    async def work(context: NodeContext) -> object:
        return await asyncio.gather(context.once("pay", pay, context), ask(context))

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="rest")
        assert await recorded(engine, started.id) == {"book": "booked", "pay": "booked"}


async def test_an_answer_that_is_changed_by_its_holder_stays_as_it_was(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> object:
        (await context.ask("size", {"type": "object"}))["spoiled"] = True
        return await context.ask("size", {"type": "object"})

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await answer(engine, started.id, {"width": 1})
        assert await engine.executions.result(started.id) == {"width": 1}


async def test_questions_are_asked_one_after_the_other(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> object:
        return await asyncio.gather(context.ask("one", int), context.ask("two", int))

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await answer(engine, started.id, 1)
        await answer(engine, started.id, 2)
        assert await engine.executions.result(started.id) == [1, 2]


async def test_a_question_without_an_answer_in_time_fails_its_node(tmp_path: Path) -> None:
    clock = HandWound()

    async def work(context: NodeContext) -> int:
        return await context.ask("size", int, deadline="2h")

    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a", next={"error": "badly"}), end("${errors.a.code}", "badly")))
        started = await engine.executions.start("flow", wait="rest")
        clock.skip(engine, 3 * HOUR)
        assert await engine.executions.result(started.id) == "deadline_passed"


@pytest.mark.parametrize(
    ("wanted", "code"), [({"type": "no such type"}, "bad_schema"), ("Size", "bad_use"), (object(), "bad_use")]
)
async def test_a_question_that_cannot_be_asked_fails_its_node(tmp_path: Path, wanted: object, code: str) -> None:
    async def work(context: NodeContext) -> object:
        return await context.ask("size", wanted)

    async with engine_at(tmp_path, work) as engine:
        assert (await failure(engine))["code"] == code


# Sleeping


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_a_function_sleeps_and_is_run_again_when_the_time_has_passed(tmp_path: Path, kind: str) -> None:
    clock, effects = HandWound(), [Effect() for _ in range(3)]

    async def work_async(context: NodeContext) -> str:
        await context.once("first", effects[0])
        await context.sleep("1h")
        await context.once("second", effects[1])
        await context.sleep(timedelta(hours=2))
        await context.once("third", effects[2])
        return "awake"

    def work_sync(context: SyncNodeContext) -> str:
        context.once("first", effects[0])
        context.sleep("1h")
        context.once("second", effects[1])
        context.sleep(timedelta(hours=2))
        context.once("third", effects[2])
        return "awake"

    work: Callable[..., object] = work_async if kind == "async" else work_sync
    work.__name__ = "work"
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="rest")
        assert started.status == "waiting"
        await skip_a_sleep(engine, clock, started, HOUR)
        clock.skip(engine, 3 * HOUR)
        assert await engine.executions.result(started.id) == "awake"
        assert [effect.count for effect in effects] == [1, 1, 1]
        assert list(await recorded(engine, started.id)) == ["first", "sleep-1", "second", "sleep-2", "third"]


async def test_sleeps_with_keys_need_no_order(tmp_path: Path) -> None:
    clock, turns = HandWound(), list[str]()

    async def work(context: NodeContext) -> str:
        for key in ("a", "b") if not turns else ("b", "a"):
            turns.append(key)
            await context.sleep("1h", key=key)
        return "awake"

    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="rest")
        await skip_a_sleep(engine, clock, started, HOUR)
        clock.skip(engine, 2 * HOUR)
        assert await engine.executions.result(started.id) == "awake"
        assert turns == ["a", "b", "b", "a"]
