"""There is no stillness without a reason, and `why` gives it."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.ids import child_id
from layover.core.moments import Moment, moment
from layover.ports.records import Claim
from tests.runtime.harness import (
    HOUR,
    Held,
    Refused,
    Scripted,
    approval,
    call,
    child,
    delay,
    end,
    engine_at,
    fan_out,
    flow,
    form,
    store_in,
    until_child,
    until_status,
)


async def test_what_is_closed_waits_for_nothing(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        done = await engine.executions.start("flow", wait="end")
        told = await engine.queries.why(done.id)
        assert (told.summary, told.reasons) == ("It is completed and waits for nothing.", ())


async def test_people_and_time_are_named(tmp_path: Path) -> None:
    waits: dict[str, tuple[dict[str, object], str]] = {
        "form": (form(), "`ask` waits for an answer by anybody."),
        "approval": (
            approval(approvers={"users": ["ann", "bob"], "roles": ["boss"]}, need=2),
            "`review` waits for a decision by 2 of ann, bob, role boss.",
        ),
        "timer": (delay(), "`rest` waits for time to pass."),
    }
    async with engine_at(tmp_path) as engine:
        for kind, (node, text) in waits.items():
            await engine.workflows.register(flow(node, name=f"for_{kind}"))
            started = await engine.executions.start(f"for_{kind}", wait="rest")
            told = await engine.queries.why(started.id)
            (reason,) = told.reasons
            assert (reason.kind, reason.text, reason.context_id) == (kind, text, node["id"])
            assert told.summary == text
            assert reason.until is not None  # people have as long as a pause may last


async def test_a_running_call_and_those_that_wait_for_a_place_are_named(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, calls=1) as engine:
        await engine.workflows.register(flow(fan_out(call("a", timeout="1h"))))
        started = await engine.executions.start("flow", [1, 2])
        running = await work.begun()
        told = await engine.queries.why(started.id)
        assert [(one.kind, one.context_id) for one in told.reasons] == [("call", "a:each.0"), ("place", "a:each.1")]
        assert engine.instance.id in told.reasons[0].text
        assert told.reasons[0].until is not None
        running.returns()
        (await work.begun()).returns()
        await engine.executions.wait(started.id)


async def test_retries_and_incidents_are_named_with_their_errors(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(Refused("no money"))) as engine:
        for name, retry in (
            ("retry", {"max_attempts": 2, "delay": "1h"}),
            ("incident", {"max_attempts": 1, "on_exhausted": "pause"}),
        ):
            await engine.workflows.register(flow(call("a", retry=retry), name=f"an_{name}"))
            started = await engine.executions.start(f"an_{name}", wait="rest")
            (reason,) = (await engine.queries.why(started.id)).reasons
            assert (reason.kind, reason.context_id) == (name, "a")
            assert "no money" in reason.text
            assert (reason.until is not None) == (name == "retry")


async def test_an_operators_pause_comes_first(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), form(), settings={"max_pause": "2d"}))
        started = await engine.executions.start("flow")
        running = await work.begun()
        await engine.control.pause(started.id, "audit")
        told = await engine.queries.why(started.id)
        assert [one.kind for one in told.reasons] == ["operator", "call"]
        assert told.summary == "It is being paused: audit (and 1 more)"
        running.returns()
        await until_status(engine, started.id, "paused")
        (reason,) = (await engine.queries.why(started.id)).reasons
        assert (reason.kind, reason.text) == ("operator", "It was paused: audit")
        assert reason.until is not None


async def test_an_answer_whose_turn_has_not_come_is_named(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await engine.control.pause(started.id)
        await engine.answers.answer(row.point.id, {}, by="ann")
        await engine.executions.wait(started.id, "rest")
        told = await engine.queries.why(started.id)
        assert [one.kind for one in told.reasons] == ["operator", "form"]
        assert told.reasons[1].text == "The answer to `ask` waits for its turn."


async def test_a_call_whose_engine_is_gone_is_named(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await work.begun()
        await engine.stop(grace=0)
    async with engine_at(tmp_path, executions=0) as engine:
        (reason,) = (await engine.queries.why(started.id)).reasons
        assert (reason.kind, reason.text) == ("recovery", "`a` had started when its instance was lost.")


@pytest.mark.usefixtures("each_database")
async def test_a_call_whose_instance_is_dead_is_not_said_to_be_running(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await work.begun()
        await engine.stop(grace=0)
    store = store_in(tmp_path)
    await store.open("gone")
    now = await store.now()
    await store.claims.claim(Claim(instance="gone", now=now, lease_until=now + HOUR, execution_id=started.id))
    leased = await store.queries.find_execution(started.id)
    assert leased is not None
    assert leased.head.wake_at is not None
    async with engine_at(tmp_path, executions=0) as engine:
        (running,) = (await engine.queries.why(started.id)).reasons
        await store.close()  # which gives nothing back of what it drove
        (lost,) = (await engine.queries.why(started.id)).reasons
    assert (running.kind, running.text) == ("call", "`a` is running on gone (attempt 1).")
    assert (lost.kind, lost.until) == ("recovery", Moment.of(leased.head.wake_at))
    assert lost.text == (
        "`a` was running on gone, which is no longer running. "
        f"Another instance takes it over at {moment(leased.head.wake_at)} at the latest."
    )


async def test_a_function_that_is_nowhere_is_named(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(call("a", "nowhere")))
        started = await engine.executions.start("flow")
        (reason,) = (await engine.queries.why(started.id)).reasons
        assert (reason.kind, reason.context_id) == ("function", "a")
        assert "`nowhere`" in reason.text


async def test_a_child_is_named_with_what_it_waits_for_itself(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), name="asks"))
        await engine.workflows.register(flow(child("b", "asks"), name="middle"))
        await engine.workflows.register(flow(child("a", "middle")))
        started = await engine.executions.start("flow", wait="rest")
        middle = child_id(started.id, "a", 1)
        inner = child_id(middle, "b", 1)
        await until_child(engine, inner, "paused")
        told = await engine.queries.why(started.id)
        (reason,) = told.reasons
        assert (reason.kind, reason.context_id, reason.execution) == ("child", "a", middle)
        (because,) = reason.because
        assert (because.kind, because.context_id, because.execution) == ("child", "b", inner)
        assert [(one.kind, one.text) for one in because.because] == [("form", "`ask` waits for an answer by anybody.")]
        assert told.summary == (
            f"`a` waits for the execution {middle}. `b` waits for the execution {inner}."
            " `ask` waits for an answer by anybody."
        )


async def test_many_children_are_named_each_with_its_own_reason(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), name="asks"))
        await engine.workflows.register(flow(fan_out(child("a", "asks"))))
        started = await engine.executions.start("flow", [1, 2, 3], wait="rest")
        for n in range(3):
            await until_child(engine, child_id(started.id, f"a:each.{n}", 1), "paused")
        told = await engine.queries.why(started.id)
        assert [[one.kind for one in reason.because] for reason in told.reasons] == [["form"]] * 3
        assert told.summary.endswith("`ask` waits for an answer by anybody. (and 2 more)")


async def test_a_child_that_holds_up_a_pause_is_named(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("b"), name="works"))
        await engine.workflows.register(flow(child("a", "works")))
        started = await engine.executions.start("flow", wait="rest")
        running = await work.begun()
        await engine.control.pause(started.id, "audit")
        await until_child(engine, child_id(started.id, "a", 1), "pausing")
        told = await engine.queries.why(started.id)
        assert [one.kind for one in told.reasons] == ["operator", "child"]
        assert [one.kind for one in told.reasons[1].because] == ["operator", "call"]
        running.returns()
        await until_status(engine, started.id, "paused")


async def test_a_child_that_is_not_begun_or_not_heard_of_yet_is_named(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("done"), name="quick"))
        await engine.workflows.register(flow(child("a", "quick")))
        engine.instance.outbox_relay.stop()
        started = await engine.executions.start("flow", wait="rest")
        inner = child_id(started.id, "a", 1)
        told = await engine.queries.why(started.id)
        assert [(one.kind, one.execution, one.because) for one in told.reasons] == [("child", inner, ())]
        await engine.executions.start("quick", id=inner, wait="end")
        told = await engine.queries.why(started.id)
        assert [(one.kind, one.execution, one.because) for one in told.reasons] == [("child", inner, ())]


async def test_the_points_of_children_are_listed_with_those_of_their_parent(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), name="asks"))
        await engine.workflows.register(flow(child("b", "asks"), name="middle"))
        await engine.workflows.register(flow(fan_out(child("a", "middle"))))
        started = await engine.executions.start("flow", [1, 2], wait="rest")
        middle = [child_id(started.id, f"a:each.{n}", 1) for n in range(2)]
        inner = [await until_child(engine, child_id(id_, "b", 1), "paused") for id_ in middle]
        own = await engine.points.list(started.id)
        assert [one.execution_id for one in own] == [started.id] * 2
        found = await engine.points.list(started.id, children=True)
        assert sorted(one.execution_id for one in found) == sorted([started.id, started.id, *middle, *inner])
        asked = [one for one in found if one.point.kind == "form"]
        assert {one.execution_id for one in asked} == set(inner)


async def test_the_points_of_very_many_children_are_listed(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), name="asks"))
        await engine.workflows.register(flow(fan_out(child("a", "asks"))))
        started = await engine.executions.start("flow", list(range(120)), wait="rest")
        for n in range(120):
            await until_child(engine, child_id(started.id, f"a:each.{n}", 1), "paused")
        found = await engine.points.list(started.id, children=True)
        assert sum(one.point.kind == "form" for one in found) == 120
