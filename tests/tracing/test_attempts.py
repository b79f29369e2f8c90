"""The span of a call: it is current inside the function, wherever that runs, and says how the call ended."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON
from opentelemetry.trace import StatusCode

from layover.nodes.context import NodeContext  # noqa: TC001 - a registry reads the annotations of functions
from tests.runtime.harness import Held, Refused, Scripted, call, end, engine_at, fan_out, flow, until_status
from tests.tracing.recording import Recording, context_of, of, stored, traceparent_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


def current() -> int:
    return trace.get_current_span().get_span_context().span_id


def the_only(spans: Recording) -> ReadableSpan:
    (found,) = spans.attempts()
    return found


async def test_it_is_a_child_of_its_leg(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted("an output")) as engine:
        await engine.workflows.register(flow(call("a", input={"card": "card-of-mia"}), end("done")))
        await engine.executions.start("flow", wait="end")
    attempt, (leg,) = the_only(spans), spans.legs()
    assert attempt.name == "attempt a"
    assert attempt.parent is not None
    assert attempt.parent.span_id == context_of(leg).span_id
    assert attempt.attributes == {
        "layover.node.id": "a",
        "layover.node.type": "work",
        "layover.node.attempt": 1,
        "layover.outcome": "completed",
    }


async def test_it_is_current_inside_an_async_function_and_its_tasks(tmp_path: Path) -> None:
    spans, seen = Recording(), list[int]()

    async def inner() -> None:
        seen.append(current())

    async def work() -> None:
        seen.append(current())
        async with asyncio.TaskGroup() as group:
            group.create_task(inner())
        seen.append(await asyncio.to_thread(current))

    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.executions.start("flow", wait="end")
    assert seen == [context_of(the_only(spans)).span_id] * 3


async def test_it_is_current_inside_a_function_in_a_thread(tmp_path: Path) -> None:
    spans, seen = Recording(), list[tuple[int, bool]]()

    def work() -> None:
        seen.append((current(), threading.current_thread() is threading.main_thread()))

    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.executions.start("flow", wait="end")
    assert seen == [(context_of(the_only(spans)).span_id, False)]


async def test_a_span_that_a_function_makes_is_its_child(tmp_path: Path) -> None:
    spans = Recording()

    async def work() -> None:
        with spans.tracer.start_as_current_span("a query"):
            pass

    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.executions.start("flow", wait="end")
    query = next(span for span in spans.spans if span.name == "a query")
    assert query.parent is not None
    assert query.parent.span_id == context_of(the_only(spans)).span_id


async def test_each_attempt_has_its_own_span(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted(Refused("the card-of-mia"), "yes")) as engine:
        await engine.workflows.register(flow(call("a", retry={"max_attempts": 2, "delay": "1ms"}), end("${nodes.a}")))
        started = await engine.executions.start("flow")
        assert await engine.executions.result(started.id) == "yes"
    first, second = spans.attempts()
    assert [of(first, "layover.node.attempt"), of(second, "layover.node.attempt")] == [1, 2]
    assert (first.status.status_code, first.status.description) == (StatusCode.ERROR, "Refused")
    assert [of(first, "layover.outcome"), of(first, "error.type")] == ["failed", "Refused"]
    assert (second.status.status_code, of(second, "layover.outcome")) == (StatusCode.UNSET, "completed")
    assert not any("card-of-mia" in span.to_json() for span in spans.spans)


async def test_calls_side_by_side_do_not_see_each_other(tmp_path: Path) -> None:
    spans, seen = Recording(), dict[str, int]()
    ready = asyncio.Barrier(3)

    async def work(context: NodeContext) -> None:
        await ready.wait()  # all of them are out, on workers that were used before
        seen[context.context_id] = current()

    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(
            flow(fan_out(call("a"), "[1, 2, 3]"), fan_out(call("b"), "[1, 2, 3]") | {"id": "more"})
        )
        await engine.executions.start("flow", wait="end")
    known = {of(span, "layover.node.id"): context_of(span).span_id for span in spans.attempts()}
    assert len(known) == 6
    assert seen == known
    assert {span.name for span in spans.attempts()} == {"attempt a", "attempt b"}


async def test_outside_a_call_nothing_of_it_is_left(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(call("a")))
        await engine.executions.start("flow", wait="end")
        assert current() == 0


async def test_a_function_that_asks_ends_its_attempt_and_its_leg(tmp_path: Path) -> None:
    spans = Recording()

    async def work(context: NodeContext) -> object:
        return await context.ask("color", str, title="Which?")

    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, "red", by="ann")
        assert await engine.executions.result(started.id) == "red"
    assert [of(span, "layover.outcome") for span in spans.attempts()] == ["asked", "completed"]
    assert [of(span, "layover.outcome") for span in spans.legs()] == ["paused", "completed"]


async def test_a_call_that_is_stopped_ends_its_span(tmp_path: Path) -> None:
    spans, work = Recording(), Held()
    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        made = await work.begun()
        await engine.control.cancel(started.id)
        await made.cancelled.wait()
        await until_status(engine, started.id, "cancelled")
    assert of(the_only(spans), "layover.outcome") == "stopped"
    assert of(spans.legs()[0], "layover.outcome") == "cancelled"


async def test_without_a_provider_no_span_is_made_and_none_is_stored(tmp_path: Path) -> None:
    seen = list[int]()

    async def work() -> None:
        seen.append(current())

    async with engine_at(tmp_path, work) as engine:
        assert engine.tracer is None
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="end")
        assert "traceparent" not in str(await engine.instance.store.queries.read_history(started.id, 0, 100))
    assert seen == [0]


@pytest.mark.parametrize("sampled", [True, False])
async def test_what_is_sampled_out_is_known_by_its_traceparent_all_the_same(tmp_path: Path, sampled: bool) -> None:
    spans, seen = Recording(ALWAYS_ON if sampled else ALWAYS_OFF), list[int]()

    async def work() -> None:
        seen.append(current())

    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="end")
        (leg,) = await stored(engine, started.id)
    assert seen[0] != 0
    assert bool(int(leg[-2:], 16) & 1) == sampled
    assert [traceparent_of(span) for span in spans.legs()] == ([leg] if sampled else [])
