"""Answers that were stored behind an act that closes their pause point: they never have their turn, and are listed."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover import Engine, Settings
from tests.runtime.harness import address_in, flow, form

pytestmark = pytest.mark.usefixtures("each_database")


async def test_an_answer_behind_a_rewind_has_failed_with_the_reason(tmp_path: Path) -> None:
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(flow(form("ask", schema={}), form("more", schema={})))
        started = await engine.start("flow", until="people", timeout="60s")
        await started.answer("ask", {"n": 1})
        await started.wait("people", timeout="60s")
    async with Engine(address_in(tmp_path), settings=Settings(act_wait="1ms"), drive=False) as operator:
        execution = await operator.execution(started.id)
        await execution.rewind("ask")
        await execution.answer("more", {"n": 2})
        before = await execution.resume_queue().all()
    async with Engine(address_in(tmp_path)) as engine:
        execution = await engine.execution(started.id)
        async for event in execution.events():
            if event.type == "NodeRewound":
                break
        await execution.wait("people", timeout="60s")
        entries = await execution.resume_queue().all()
    asked = ("ask", "completed", None)
    assert [(one.context_id, one.status, one.position) for one in before] == [asked, ("more", "pending", 1)]
    assert [(one.context_id, one.status, one.position) for one in entries] == [asked, ("more", "failed", None)]
    assert [one.answer for one in entries] == [{"n": 1}, {"n": 2}]
    assert entries[-1].failure_reason == "The pause point was closed before the answer was applied."
    assert entries[-1].claimed_at is None
    assert entries[-1].completed_at is not None


async def test_a_decision_behind_a_rewind_has_failed_and_later_answers_come_after_it(tmp_path: Path) -> None:
    approval: dict[str, object] = {"id": "agree", "type": "approval"}
    async with Engine(address_in(tmp_path)) as engine:
        await engine.register(flow(form("ask", schema={}), approval))
        started = await engine.start("flow", until="people", timeout="60s")
        await started.answer("ask", 1)
        await started.wait("people", timeout="60s")
    async with Engine(address_in(tmp_path), settings=Settings(act_wait="1ms"), drive=False) as operator:
        execution = await operator.execution(started.id)
        await execution.rewind("ask")
        (point,) = await execution.points(status=("open",)).all()
        await point.approve()
    async with Engine(address_in(tmp_path)) as engine:
        execution = await engine.execution(started.id)
        async for event in execution.events():
            if event.type == "NodeRewound":
                break
        await execution.wait("people", timeout="60s")
        await execution.answer("ask", 2)
        await execution.wait("people", timeout="60s")
        (point,) = await execution.points(status=("open",)).all()
        await point.reject()
        entries = await execution.resume_queue().all()
    assert [(one.context_id, one.status) for one in entries[:3]] == [
        ("ask", "completed"),
        ("agree", "failed"),
        ("ask", "completed"),
    ]
    assert [one.context_id for one in entries[3:]] == ["agree"]
