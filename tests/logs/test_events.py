"""The lines that an engine writes: an execution from its start to its end, claims, takeovers, queues."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import TYPE_CHECKING

import pytest

from layover.logs.context import REQUEST_ID
from layover.ports.records import Claim
from tests.runtime.harness import (
    HandWound,
    Held,
    Scripted,
    approval,
    call,
    engine_at,
    engine_on,
    flow,
    look,
)

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from tests.logs.conftest import Written

_LIFE = (
    *("execution_started", "pause_created", "execution_paused"),
    *("pause_answered", "execution_resumed", "execution_completed"),
)


@pytest.mark.usefixtures("each_database")
async def test_a_life_is_logged_in_order_with_its_ids(tmp_path: Path, written: Written) -> None:
    written.configure()
    async with engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(call("a"), approval("review"), call("b")))
        started = await engine.executions.start("flow", {"card": "4111-1111"}, wait="rest")
        [point] = await engine.points.list(started.id)
        await engine.answers.answer(point.point.id, approved=True, by="ann")
        await engine.executions.result(started.id)
    lines = [line for line in written.lines if line["event"] in _LIFE]
    assert [line["event"] for line in lines] == list(_LIFE)
    assert {line["execution"] for line in lines} == {started.id}
    assert {line["workflow"] for line in lines} == {"flow"}
    assert {line["level"] for line in lines} == {"info"}
    by_event = {line["event"]: line for line in lines}
    assert by_event["pause_created"]["kind"] == by_event["execution_paused"]["cause"] == "approval"
    assert by_event["pause_answered"]["by"] == "ann"
    assert written.of("resume_claimed")[0]["execution"] == started.id
    assert "4111" not in written.text


async def test_an_operators_pause_and_cancel_are_logged_with_user_and_reason(tmp_path: Path, written: Written) -> None:
    written.configure()
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(approval()))
        id_ = (await engine.executions.start("flow", wait="rest")).id
        await engine.control.pause(id_, "look first", by="ann")
        await engine.control.resume(id_, by="bob")
        await engine.control.cancel(id_, "no more", by="cat")
    [pausing], [cancelled] = written.of("execution_pausing"), written.of("execution_cancelled")
    assert (pausing["by"], pausing["reason"]) == ("ann", "look first")
    assert (cancelled["by"], cancelled["reason"]) == ("cat", "no more")
    assert [line["by"] for line in written.of("execution_resumed")] == ["bob"]


async def test_a_failure_is_an_error_and_is_logged_where_nothing_else_is(tmp_path: Path, written: Written) -> None:
    written.configure("error")
    async with engine_at(tmp_path, Scripted(KeyError("x"))) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="end")
    [line] = written.of("execution_failed")
    assert (line["level"], line["execution"], line["node"], line["code"]) == ("error", started.id, "a", "failed")
    assert {line["level"] for line in written.lines} == {"error"}


async def test_calls_are_logged_for_debugging(tmp_path: Path, written: Written) -> None:
    written.configure("info,layover.execution=debug")
    async with engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(call("a"), call("b")))
        await engine.executions.start("flow", wait="end")
    calls = [(line["event"], line["node"]) for line in written.lines if line["event"].startswith("node_")]
    assert calls == [("node_started", "a"), ("node_completed", "a"), ("node_started", "b"), ("node_completed", "b")]


async def test_a_takeover_is_a_warning(tmp_path: Path, written: Written) -> None:
    written.configure("warning")
    clock, held = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), held) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow")
        await held.begun()
        row = await engine.instance.store.queries.find_execution(started.id)
        assert row is not None
        assert row.head.wake_at is not None
        later = row.head.wake_at + 1
        lost = Claim(instance="lost", now=later, lease_until=clock.now + 1, execution_id=started.id)
        engine.instance.driver.active[started.id].drop()  # which it would do when it renews its lease
        await engine.instance.store.claims.claim(lost)
        clock.skip(engine, 1_000)
        (await held.begun()).returns(1)
        await engine.executions.result(started.id)
    [line] = written.of("lease_taken_over")
    assert (line["level"], line["execution"], line["epoch"]) == ("warning", started.id, 3)


async def test_a_cycle_says_what_it_did_and_an_idle_one_only_for_debugging(tmp_path: Path, written: Written) -> None:
    written.configure("debug")
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow({"id": "rest", "type": "delay", "duration": "1ms"}))
        await engine.executions.start("flow", wait="end")
        look(engine)
        while not [line for line in written.of("claim_cycle") if line["resumed"] == 0]:  # noqa: ASYNC110 - a log line
            await asyncio.sleep(0)
    cycles = written.of("claim_cycle")
    done = [line for line in cycles if line["level"] == "info"]
    assert {(line["resumed"], line["skipped"], line["errors"]) for line in done} <= {(1, 0, 0)}
    assert {line["level"] for line in cycles if line["resumed"] == 0} == {"debug"}


async def test_a_long_queue_is_a_warning_once_until_it_is_short_again(tmp_path: Path, written: Written) -> None:
    written.configure()
    held = Held()
    async with engine_at(tmp_path, held, calls=1, queue_warning=3, give_back_after=3_600_000) as engine:
        await engine.workflows.register(flow(call("a")))
        started = [await engine.executions.start("flow") for _ in range(6)]
        for event in ("queue_long", "queue_short"):
            while not written.of(event):
                look(engine)
                await asyncio.sleep(0)
            if event == "queue_long":
                for _ in range(3):  # more looks at the same queue
                    look(engine)
                    await asyncio.sleep(0)
            for _ in started if event == "queue_long" else ():
                (await held.begun()).returns(1)
        await asyncio.gather(*(engine.executions.result(one.id) for one in started))
    [line] = written.of("queue_long")
    assert (line["level"], line["waiting"], line["threshold"]) == ("warning", 5, 3)
    assert len(written.of("queue_short")) == 1


async def test_lines_of_a_request_have_its_id(written: Written) -> None:
    written.configure()
    token = REQUEST_ID.set("r-1")
    try:
        logging.getLogger("shop").info("hello")
    finally:
        REQUEST_ID.reset(token)
    assert written.of("hello")[0]["request"] == "r-1"


async def test_a_leg_asks_once_whether_it_is_logged_however_many_steps_it_has(tmp_path: Path, written: Written) -> None:
    written.configure("warning")
    entered: list[str] = []

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.endswith("leg_log.py"):
            entered.append(frame.f_code.co_name)

    async with engine_at(tmp_path, Scripted(1)) as engine:
        await engine.workflows.register(flow(*(call(f"n{n}") for n in range(30))))
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            await engine.executions.start("flow", wait="end")
        finally:
            sys.setprofile(before)
    assert entered == ["log_level"]
    assert written.lines == []
