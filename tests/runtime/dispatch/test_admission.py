"""Limits: who may begin when only so many may, what waits for that rests, and `why` says for whom."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.errors import AlreadyExists, ExecutionCancelled, InvalidInput, LimitReached
from layover.ports.records import CLOSED
from layover.runtime.ids import id_from_key
from layover.runtime.maintenance.verify import violations
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import (
    Held,
    Refused,
    Scripted,
    a_moment_later,
    call,
    end,
    engine_at,
    flow,
    form,
    until,
)

if TYPE_CHECKING:
    from layover.ports.records import Head
    from layover.runtime.runtime import Runtime


def limited(limit: int = 1, name: str = "flow", **fields: object) -> dict[str, object]:
    """Return a workflow of one call, of which only so many run at once."""
    return flow(call("a", input={"n": "${input}"}), name=name, settings={"concurrency": {"limit": limit, **fields}})


# In line


async def test_one_more_waits_in_line_and_starts_when_another_has_ended(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited(2))
        first, second, third = [await engine.executions.start("flow", n) for n in range(3)]
        running = await work.all_begun(2)
        assert (await engine.queries.get(third.id)).status == "pending"
        assert sorted(one.context.execution_id for one in running) == sorted([first.id, second.id])
        running[0].returns("well")
        begun = await work.begun()
        assert begun.context.execution_id == third.id
        begun.returns()
        running[1].returns()
        for one in (first, second, third):
            assert (await engine.executions.wait(one.id)).status == "completed"


async def test_a_waiting_execution_rests_and_why_names_the_limit_and_its_holder(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited(key="${input}"))
        holder = await engine.executions.start("flow", "ann")
        running = await work.begun()
        first = await engine.executions.start("flow", "ann")
        a_moment_later(engine)
        waiting = [first, await engine.executions.start("flow", "ann")]
        for position, one in enumerate(waiting, start=1):
            head = await until(engine, one.id, lambda head: head.owner is None)
            assert (head.status, head.wake_at) == ("pending", None)
            assert one.id not in engine.instance.driver.active
            (reason,) = (await engine.queries.why(one.id)).reasons
            assert reason.kind == "limit"
            assert reason.text == f"It is number {position} in line for the limit `flow/ann`, held by {holder.id}."
            assert (reason.execution, reason.since) == (holder.id, one.created_at)
        running.returns()
        for _ in waiting:
            (await work.begun()).returns()
        for one in waiting:
            await engine.executions.wait(one.id)


async def test_each_key_has_a_line_of_its_own(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited(key="${input.who}"))
        for who in ("ann", "bob", "ann"):
            await engine.executions.start("flow", {"who": who})
        running = await work.all_begun(2)
        assert sorted(str(one.given["n"]) for one in running) == ["{'who': 'ann'}", "{'who': 'bob'}"]
        assert (await engine.lists.counts())["pending"] == 1


async def test_the_more_urgent_goes_first_but_none_waits_for_ever(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited())
        await engine.executions.start("flow", "holder")
        running = await work.begun()
        for n, priority in enumerate([0, 0, 3600, -3600]):
            await engine.executions.start("flow", n, options=Options(priority=priority))
            a_moment_later(engine)
        order = []
        for _ in range(4):
            running.returns()
            running = await work.begun()
            order.append(running.given["n"])
        assert order == [2, 0, 1, 3]


async def test_a_key_begins_one_execution_while_it_waits_in_line(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as one, engine_at(tmp_path, work) as two:
        await one.workflows.register(limited())
        await one.executions.start("flow", 1)
        running = await work.begun()
        waiting = await one.executions.start("flow", 2, key="k")
        for engine in (one, two):
            with pytest.raises(AlreadyExists):
                await engine.executions.start("flow", 2, key="k")
            again = await engine.executions.start("flow", 2, key="k", on_conflict="return")
            assert (again.id, again.status) == (waiting.id, "pending")
        assert "number 1 in line" in (await two.queries.why(waiting.id)).summary
        running.returns()
        (await work.begun()).returns()
        assert (await two.executions.wait(waiting.id)).status == "completed"
        assert len(work.calls) == 2


async def test_a_start_may_wait_for_the_rest_or_the_end(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), form(), settings={"concurrency": {"limit": 1}}))
        first = await engine.executions.start("flow")
        running = await work.begun()
        rest = asyncio.ensure_future(engine.executions.start("flow", key="rest", wait="rest"))
        waiting = await _until_begun(engine, id_from_key("flow", "rest"))
        assert not rest.done()
        running.returns()
        await engine.executions.wait(first.id, "rest")
        assert (waiting.status, rest.done()) == ("pending", False), "one that has not started has come to no rest"
        await engine.control.cancel(first.id)
        (await work.begun()).returns()
        assert (await rest).status == "paused"


async def test_many_starts_at_once_are_admitted_one_by_one(tmp_path: Path) -> None:
    at_once, most = 0, 0

    async def work() -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), settings={"concurrency": {"limit": 3}}))
        started = await asyncio.gather(*(engine.executions.start("flow") for _ in range(40)))
        for one in started:
            assert (await engine.executions.wait(one.id)).status == "completed"
        assert 1 <= most <= 3
    await _nothing_is_left(tmp_path)


# Leaving


@pytest.mark.parametrize("how", ["fails", "is cancelled", "is cancelled in line"])
async def test_a_slot_is_given_back_however_its_holder_ends(tmp_path: Path, how: str) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited())
        holder = await engine.executions.start("flow", 1)
        running = await work.begun()
        between = await engine.executions.start("flow", 2)
        a_moment_later(engine)
        last = await engine.executions.start("flow", 3)
        if how == "is cancelled in line":
            assert (await engine.control.cancel(between.id, "never mind")).status == "cancelled"
            await until(engine, between.id, lambda head: head.owner is None)
            running.returns()
        elif how == "fails":
            running.raises(Refused("no"))
        else:
            await engine.control.cancel(holder.id)
        following = await work.begun()
        expected = last.id if how == "is cancelled in line" else between.id
        assert following.context.execution_id == expected
        following.returns()
        if how != "is cancelled in line":
            (await work.begun()).returns()
        assert (await engine.executions.wait(last.id)).status == "completed"
    await _nothing_is_left(tmp_path)


async def test_an_execution_paused_in_line_keeps_its_place_and_starts_when_resumed(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited())
        await engine.executions.start("flow", 1)
        running = await work.begun()
        waiting = await engine.executions.start("flow", 2)
        assert (await engine.control.pause(waiting.id, "audit")).status == "paused"
        assert [one.kind for one in (await engine.queries.why(waiting.id)).reasons] == ["operator", "limit"]
        running.returns()
        await until(engine, waiting.id, lambda head: head.commands_done == 2)  # it is admitted
        assert (await engine.queries.get(waiting.id)).status == "paused"
        later = await engine.executions.start("flow", 3)
        assert (await engine.queries.why(later.id)).reasons[0].execution == waiting.id
        await engine.control.resume(waiting.id)
        begun = await work.begun()
        assert begun.given == {"n": 2}
        begun.returns()
        (await work.begun()).returns()
        await engine.executions.wait(later.id)


async def test_what_an_operator_takes_up_again_does_not_wait(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited())
        failed = await engine.executions.start("flow", 1)
        (await work.begun()).raises(Refused("no"))
        await engine.executions.wait(failed.id)
        holder = await engine.executions.start("flow", 2)
        running = await work.begun()
        await engine.control.retry(failed.id)
        again = await work.begun()
        assert again.context.execution_id == failed.id
        waiting = await engine.executions.start("flow", 3)
        again.returns()
        await engine.executions.wait(failed.id)
        await _delivered(engine, failed.id)
        (reason,) = (await engine.queries.why(waiting.id)).reasons
        assert reason.execution == holder.id, "who had no slot has given one back"
        running.returns()
        (await work.begun()).returns()
        await engine.executions.wait(waiting.id)
    await _nothing_is_left(tmp_path)


async def test_the_line_survives_a_restart(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited())
        first = await engine.executions.start("flow", 1)
        await work.begun()
        second = await engine.executions.start("flow", 2)
        await engine.stop(grace=0)
    async with engine_at(tmp_path, work) as engine:
        again = await work.begun()
        assert again.context.execution_id == first.id
        assert "number 1 in line" in (await engine.queries.why(second.id)).summary
        again.returns()
        (await work.begun()).returns()
        assert (await engine.executions.wait(second.id)).status == "completed"


# What else can become of one more


async def test_one_more_can_be_rejected_and_leaves_nothing_behind(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited(on_conflict="reject"))
        holder = await engine.executions.start("flow", 1)
        running = await work.begun()
        with pytest.raises(LimitReached, match="`flow`") as refused:
            await engine.executions.start("flow", 2, key="second")
        assert refused.value.holders == (holder.id,)
        rejected = await engine.executions.wait(id_from_key("flow", "second"))
        assert (rejected.status, rejected.started_at) == ("cancelled", None)
        assert rejected.outcome_reason == "Only 1 may run at once as `flow`."
        with pytest.raises(ExecutionCancelled, match="Only 1"):
            await engine.executions.result(rejected.id)
        await _delivered(engine, rejected.id)
        assert await engine.instance.store.limits.find_admission(rejected.id) is None
        running.returns()
        await engine.executions.wait(holder.id)
        await _delivered(engine, holder.id)
        await engine.executions.start("flow", 3)
        (await work.begun()).returns()
    await _nothing_is_left(tmp_path)


async def test_one_more_can_end_those_that_run_and_wait(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited(on_conflict="cancel_running"))
        first = await engine.executions.start("flow", 1)
        running = await work.begun()
        second = await engine.executions.start("flow", 2)
        third = await engine.executions.start("flow", 3)
        await running.cancelled.wait()
        for one, by in ((first, second), (second, third)):
            ended = await engine.executions.wait(one.id)
            assert (ended.status, ended.outcome_reason) == ("cancelled", f"The execution {by.id} takes its place.")
        while (begun := await work.begun()).given != {"n": 3}:
            pass  # the second had its turn before the third came, or not
        begun.returns()
        assert (await engine.executions.wait(third.id)).status == "completed"
    await _nothing_is_left(tmp_path)


@pytest.mark.parametrize("limit", ["concurrency", "rate"])
async def test_a_key_that_cannot_be_worked_out_is_an_invalid_input(tmp_path: Path, limit: str) -> None:
    settings = {limit: {"limit": 1, "key": "${input.customer}", **({"per": "1s"} if limit == "rate" else {})}}
    async with engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(call("a"), settings=settings))
        with pytest.raises(InvalidInput, match="customer") as refused:
            await engine.executions.start("flow", {"client": "ann"})
        assert [place for place, _ in refused.value.errors] == [""]
        assert await engine.lists.counts() == {}
        assert not engine.instance.driver.active


# Children


async def test_a_child_waits_in_line_and_its_parent_names_the_holder(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited(name="inner"))
        await engine.workflows.register(
            flow({"id": "sub", "type": "workflow", "workflow": "inner", "input": 2}, end("${nodes.sub}"), name="outer")
        )
        holder = await engine.executions.start("inner", 1)
        running = await work.begun()
        parent = await engine.executions.start("outer", wait="rest")
        (point,) = await engine.points.list(parent.id)
        child = point.point.child
        await _until_begun(engine, child)
        while (told := (await engine.queries.why(parent.id)).reasons[0].because[0]).execution != holder.id:  # noqa: ASYNC110 - it asks after it is durable
            await asyncio.sleep(0)
        assert told.kind == "limit"
        running.returns()
        (await work.begun()).returns("inside")
        assert await engine.executions.result(parent.id) == "inside"
    await _nothing_is_left(tmp_path)


async def test_a_child_that_is_rejected_fails_its_node(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(limited(name="inner", on_conflict="reject"))
        sub: dict[str, object] = {"id": "sub", "type": "workflow", "workflow": "inner", "next": {"error": "badly"}}
        await engine.workflows.register(flow(sub, end("${errors.sub.message}", "badly"), name="outer"))
        await engine.executions.start("inner", 1)
        running = await work.begun()
        assert "Only 1 may run at once" in str((await engine.executions.start("outer", wait="end")).output)
        running.returns()
    await _nothing_is_left(tmp_path)


async def test_a_child_whose_key_cannot_be_worked_out_fails_its_node(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(limited(name="inner", key="${input.customer}"))
        sub: dict[str, object] = {
            "id": "sub",
            "type": "workflow",
            "workflow": "inner",
            "input": {},
            "next": {"error": "badly"},
        }
        await engine.workflows.register(flow(sub, end("${errors.sub.code}", "badly"), name="outer"))
        assert (await engine.executions.start("outer", wait="end")).output == "invalid_input"


# What must hold in the end


async def _until_begun(engine: Runtime, execution_id: str) -> Head:
    """Return the head of an execution once it exists, and nobody drives it."""
    while (head := await engine.instance.listeners.until(execution_id, lambda head: head.owner is None)) is None:  # noqa: ASYNC110
        await asyncio.sleep(0)
    return head


async def _delivered(engine: Runtime, execution_id: str) -> None:
    """Wait until an execution has nothing more to send."""
    while await engine.instance.store.outbox.list_undelivered(execution_id):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)


async def _nothing_is_left(folder: Path) -> None:
    """Hold a database against everything that must be true of it, once all has been delivered."""
    async with engine_at(folder, executions=0) as engine:
        for row in await engine.lists.list(limit=1000):
            await _delivered(engine, row.head.execution_id)
            if row.head.status in CLOSED:
                assert await engine.instance.store.limits.find_admission(row.head.execution_id) is None
        assert await violations(engine.instance.store) == []
