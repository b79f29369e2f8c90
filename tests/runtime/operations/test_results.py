"""What executions come to: outputs, failures, and what whoever asks for the result is told."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.errors import ExecutionCancelled, ExecutionFailed
from layover.nodes.context import NodeContext  # noqa: TC001 - a registry reads the annotations of functions
from tests.runtime.harness import Held, Refused, Scripted, call, end, engine_at, fan_out, flow, form


async def test_the_result_is_the_output_of_the_end(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted({"n": 2})) as engine:
        await engine.workflows.register(flow(call("a"), end({"twice": "${nodes.a.n * 2}"})))
        started = await engine.executions.start("flow")
        assert await engine.executions.result(started.id) == {"twice": 4}


async def test_functions_get_the_fields_of_their_input_and_the_context_if_they_ask(tmp_path: Path) -> None:
    async def greet(name: str, context: NodeContext, times: int = 1) -> str:
        assert context.idempotency_key == f"{context.execution_id}/{context.context_id}"
        return f"{context.context_id} {context.attempt} {name * times}"

    def shout(text: str) -> str:
        return text.upper()

    async with engine_at(tmp_path, greet, shout) as engine:
        await engine.workflows.register(
            flow(
                call("a", "greet", input={"name": "${input}", "times": 2}),
                call("b", "shout", input="${nodes.a}"),
            )
        )
        assert (await engine.executions.start("flow", "ann", wait="end")).output == "A 1 ANNANN"


async def test_a_failure_is_raised_with_its_error(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(Refused("no money"))) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(started.id)
        error = failed.value.error
        assert (error.type, error.message, error.context_id, error.attempt) == ("Refused", "no money", "a", 1)
        seen = await engine.queries.get(started.id)
        assert (seen.status, seen.error, seen.closed) == ("failed", error, True)
        assert seen.finished_at is not None


async def test_a_cancelled_execution_has_no_result(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.cancel(started.id, "not needed")
        with pytest.raises(ExecutionCancelled, match="not needed"):
            await engine.executions.result(started.id)


async def test_an_error_port_takes_care_of_a_failure(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(Refused("no"))) as engine:
        await engine.workflows.register(
            flow(
                call("a", next={"done": "well", "error": "badly"}),
                {**end("fine", "well"), "next": None},
                end("${errors.a.type}: ${errors.a.message}", "badly"),
            )
        )
        assert (await engine.executions.start("flow", wait="end")).output == "Refused: no"


async def test_one_failed_branch_stops_the_others(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(fan_out(call("a", input={"n": "${item}"}))))
        started = await engine.executions.start("flow", [1, 2, 3])
        first, second, third = await work.all_begun(3)
        second.raises(Refused("two"))
        await first.cancelled.wait()
        await third.cancelled.wait()
        with pytest.raises(ExecutionFailed, match="two"):
            await engine.executions.result(started.id)


async def test_an_end_stops_what_is_still_running(tmp_path: Path) -> None:
    quick, slow = Held("quick"), Held("slow")
    branches = [
        {"id": "one", "body": flow(call("a", "quick"), end("first"))["nodes"]},
        {"id": "two", "body": [call("b", "slow")]},
    ]
    async with engine_at(tmp_path, quick, slow) as engine:
        await engine.workflows.register(flow({"id": "both", "type": "parallel", "branches": branches}))
        started = await engine.executions.start("flow")
        running = await slow.begun()
        (await quick.begun()).returns()
        assert await engine.executions.result(started.id) == "first"
        await running.cancelled.wait()


async def test_many_can_wait_for_one_execution(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        waiting = [asyncio.create_task(engine.executions.result(started.id)) for _ in range(10)]
        (await work.begun()).returns("for all")
        assert await asyncio.gather(*waiting) == ["for all"] * 10
