"""A trace for each leg, and links between them: across pauses, instances, children, callbacks and signals."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.ids import child_id
from layover.runtime.execution.pause_cause import PAUSE_CAUSES
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import (
    HOUR,
    YEAR,
    HandWound,
    Held,
    Refused,
    Scripted,
    approval,
    call,
    child,
    delay,
    end,
    engine_at,
    flow,
    form,
    until_child,
    until_status,
)
from tests.tracing.recording import (
    Recording,
    context_of,
    events_of,
    links_of,
    of,
    stored,
    traceparent_of,
)

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

PAUSES = flow(call("before"), approval(), call("after"), end("done"))
WAITS: dict[str, object] = {"id": "paid", "type": "wait_signal", "signal": "paid"}
CALLS_BACK: dict[str, object] = {
    "id": "pick",
    "type": "callback",
    "call": "work",
    "input": {"token": "${callback.token}"},
}


async def the_point(engine: Runtime, execution_id: str) -> str:
    (row,) = await engine.points.list(execution_id)
    return row.point.id


async def test_a_pause_ends_a_trace_and_the_next_leg_links_to_it(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(PAUSES)
        started = await engine.executions.start("flow", wait="rest")
        (first,) = spans.legs()  # nothing is open while it rests
        await engine.answers.answer(await the_point(engine, started.id), approved=True, by="ann")
        assert await engine.executions.result(started.id) == "done"
        kept = await stored(engine, started.id)
    first, second = spans.legs(started.id)
    assert kept == [traceparent_of(first), traceparent_of(second)]
    assert first.parent is second.parent is None
    assert context_of(first).trace_id != context_of(second).trace_id
    assert links_of(first) == []
    assert links_of(second) == [("previous_leg", context_of(first).span_id)]
    assert events_of(first) == [("paused", {"layover.pause.cause": "approval"})]
    assert events_of(second) == [("resumed", {"layover.leg.cause": "commands"})]
    assert [of(first, "layover.outcome"), of(second, "layover.outcome")] == ["paused", "completed"]


async def test_a_leg_says_what_it_is_by_ids_and_numbers_only(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted("an output")) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}"), name="secretive"))
        started = await engine.executions.start(
            "secretive", "an input", wait="end", options=Options(user="ann", tags=("t",))
        )
        instance = engine.instance.id
    (leg,) = spans.legs()
    assert leg.name == "leg secretive"
    assert leg.attributes == {
        "layover.execution.id": started.id,
        "layover.execution.depth": 0,
        "layover.workflow": "secretive",
        "layover.workflow.version": 1,
        "layover.instance": instance,
        "layover.leg.number": 1,
        "layover.leg.depth": 0,
        "layover.leg.cause": "created",
        "layover.outcome": "completed",
    }


async def test_the_answer_links_to_the_span_in_which_it_was_given(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(PAUSES)
        with spans.tracer.start_as_current_span("a shop") as shop:
            started = await engine.executions.start("flow", wait="rest")
        with spans.tracer.start_as_current_span("a manager") as manager:
            await engine.answers.answer(await the_point(engine, started.id), approved=True, by="ann")
        await engine.executions.result(started.id)
    first, second = spans.legs()
    assert links_of(first) == [("started_by", shop.get_span_context().span_id)]
    assert links_of(second) == [
        ("previous_leg", context_of(first).span_id),
        ("resumed_by", manager.get_span_context().span_id),
    ]
    assert first.parent is second.parent is None


async def test_the_next_leg_links_on_another_instance(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted(1)) as one:
        await one.workflows.register(PAUSES)
        started = await one.executions.start("flow", wait="rest")
        before = one.instance.id
    async with spans.engine_at(tmp_path, Scripted(1)) as two:
        await two.answers.answer(await the_point(two, started.id), approved=True, by="ann")
        await two.executions.result(started.id)
        after = two.instance.id
    first, second = spans.legs()
    assert [of(first, "layover.instance"), of(second, "layover.instance")] == [before, after]
    assert links_of(second) == [("previous_leg", context_of(first).span_id)]


async def test_a_leg_that_was_not_traced_leaves_no_link(tmp_path: Path) -> None:
    """An instance without a provider drives a leg between two that are traced."""
    spans, twice = Recording(), flow(form("one"), form("two"), end("done"))
    async with spans.engine_at(tmp_path) as engine:
        await engine.workflows.register(twice)
        started = await engine.executions.start("flow", wait="rest")
    async with engine_at(tmp_path) as untraced:
        await untraced.answers.answer(await the_point(untraced, started.id), {}, by="ann")
        await untraced.executions.wait(started.id, "rest")
    async with spans.engine_at(tmp_path) as engine:
        await engine.answers.answer(await the_point(engine, started.id), {}, by="ann")
        await engine.executions.result(started.id)
    first, third = spans.legs()
    assert [of(first, "layover.leg.number"), of(third, "layover.leg.number")] == [1, 3]
    assert links_of(third) == []


async def test_a_child_links_to_its_parent_and_the_parent_to_its_child(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask}"), name="asks"))
        await engine.workflows.register(flow(child("a", "asks"), end("${nodes.a}")))
        started = await engine.executions.start("flow", wait="rest")
        inner = await until_child(engine, child_id(started.id, "a", 1), "paused")
        await engine.answers.answer(await the_point(engine, inner), {"n": 3}, by="ann")
        assert await engine.executions.result(started.id) == {"n": 3}
    parent, parent_after = spans.legs(started.id)
    inside, inside_after = spans.legs(inner)
    assert [of(inside, "layover.execution.depth"), of(parent, "layover.execution.depth")] == [1, 0]
    assert links_of(inside) == [("started_by", context_of(parent).span_id)]
    assert of(parent, "layover.pause.cause") == "child"
    assert links_of(inside_after) == [("previous_leg", context_of(inside).span_id)]
    assert ("previous_leg", context_of(parent).span_id) in links_of(parent_after)
    assert ("resumed_by", context_of(inside_after).span_id) in links_of(parent_after)


async def test_a_callback_links_to_the_span_that_called_back(tmp_path: Path) -> None:
    spans, work = Recording(), Held()
    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(CALLS_BACK, end("${nodes.pick}")))
        started = await engine.executions.start("flow")
        made = await work.begun()
        made.returns()
        await until_status(engine, started.id, "waiting")
        with spans.tracer.start_as_current_span("a robot") as robot:
            await engine.callbacks.reply(str(made.given["token"]), "picked")
        assert await engine.executions.result(started.id) == "picked"
    first, second = spans.legs()
    assert [of(first, "layover.pause.cause"), of(spans.attempts()[0], "layover.outcome")] == ["callback", "handed_over"]
    assert links_of(second)[1:] == [("resumed_by", robot.get_span_context().span_id)]


async def test_a_signal_links_to_the_span_that_sent_it(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(WAITS, end("paid")))
        started = await engine.executions.start("flow", wait="rest")
        with spans.tracer.start_as_current_span("a bank") as bank:
            await engine.signals.deliver("paid")
        await engine.executions.result(started.id)
    assert links_of(spans.legs()[1])[1:] == [("resumed_by", bank.get_span_context().span_id)]


async def test_what_is_sent_while_a_leg_runs_is_linked_when_it_ends(tmp_path: Path) -> None:
    spans, work = Recording(), Held()
    branches = [{"id": "a", "body": [call("a")]}, {"id": "b", "body": [WAITS]}]
    beside: dict[str, object] = {"id": "both", "type": "parallel", "branches": branches}
    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(beside, end("done")))
        started = await engine.executions.start("flow")
        made = await work.begun()
        with spans.tracer.start_as_current_span("a bank") as bank:
            await engine.signals.deliver("paid")
        made.returns()
        await engine.executions.result(started.id)
    (leg,) = spans.legs()
    assert links_of(leg) == [("resumed_by", bank.get_span_context().span_id)]


async def test_an_operator_pauses_and_resumes(tmp_path: Path) -> None:
    spans, work = Recording(), Held()
    async with spans.engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), call("b"), end("done")))
        started = await engine.executions.start("flow")
        made = await work.begun()
        pausing = await engine.control.pause(started.id, "wait")
        assert pausing.status == "pausing"
        made.returns()
        await until_status(engine, started.id, "paused")
        with spans.tracer.start_as_current_span("an operator") as operator:
            await engine.control.resume(started.id)
        (await work.begun()).returns()
        await engine.executions.result(started.id)
    first, second = spans.legs()
    assert of(first, "layover.pause.cause") == "operator"
    assert ("resumed_by", operator.get_span_context().span_id) in links_of(second)


async def test_a_retry_of_a_failed_execution_is_a_leg_that_links(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted(Refused("no"), "yes")) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        started = await engine.executions.start("flow", wait="end")
        assert started.status == "failed"
        with spans.tracer.start_as_current_span("an operator") as operator:
            await engine.control.retry(started.id)
        assert await engine.executions.result(started.id) == "yes"
        kept = await stored(engine, started.id)
    first, second = spans.legs()
    assert kept == [traceparent_of(first), traceparent_of(second)]
    assert [of(first, "layover.outcome"), of(first, "error.type")] == ["failed", "Refused"]
    assert of(second, "layover.leg.cause") == "retry"
    assert links_of(second) == [
        ("previous_leg", context_of(first).span_id),
        ("resumed_by", operator.get_span_context().span_id),
    ]


async def test_an_execution_that_starts_later_has_a_leg_when_it_starts(tmp_path: Path) -> None:
    spans, clock = Recording(), HandWound()
    async with spans.engine_on(clock.store(tmp_path), lease_ttl=YEAR) as engine:
        await engine.workflows.register(flow(end("done")))
        with spans.tracer.start_as_current_span("a shop") as shop:
            started = await engine.executions.start("flow", options=Options(delay=HOUR))
        assert spans.legs() == []
        clock.skip(engine, 2 * HOUR)
        await engine.executions.result(started.id)
    (leg,) = spans.legs()
    assert [of(leg, "layover.leg.number"), of(leg, "layover.leg.cause")] == [1, "woken"]
    assert links_of(leg) == [("started_by", shop.get_span_context().span_id)]


async def test_a_start_that_is_refused_has_no_span(tmp_path: Path) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("done")))
        await engine.executions.start("flow", key="k", wait="end")
        await engine.executions.start("flow", key="k", on_conflict="return", wait="end")
    assert len(spans.legs()) == 1


async def test_the_span_in_which_an_engine_is_opened_is_no_part_of_its_legs(tmp_path: Path) -> None:
    spans = Recording()
    with spans.tracer.start_as_current_span("main"):
        async with spans.engine_at(tmp_path, Scripted(1)) as engine:
            await engine.workflows.register(flow(delay(duration="1ms"), child("a", "inner"), end("done")))
            await engine.workflows.register(flow(call("b"), delay(duration="1ms"), name="inner"))
            started = await engine.executions.start("flow")
            await engine.executions.result(started.id)
    main = next(context_of(span).span_id for span in spans.spans if span.name == "main")
    (start, *others) = spans.legs(started.id)
    assert links_of(start) == [("started_by", main)]
    linked = [link for leg in [*others, *spans.legs(child_id(started.id, "a", 1))] for link in links_of(leg)]
    assert linked
    assert main not in {span_id for _, span_id in linked}


@pytest.mark.parametrize(
    ("node", "cause"),
    [
        (approval(), "approval"),
        (form(), "form"),
        (WAITS, "signal"),
        (delay(), "timer"),
        (call("a", "unheard_of"), "function"),
        (call("a", retry={"max_attempts": 2, "delay": "1h"}), "retry"),
    ],
)
async def test_the_cause_of_a_pause_is_one_word(tmp_path: Path, node: dict[str, object], cause: str) -> None:
    spans = Recording()
    async with spans.engine_at(tmp_path, Scripted(Refused("no"))) as engine:
        await engine.workflows.register(flow(node, end("done")))
        await engine.executions.start("flow", wait="rest")
    assert of(spans.legs()[0], "layover.pause.cause") == cause
    assert cause in PAUSE_CAUSES
