"""What people do has an entry in the audit log, written with it; and what is asked again under its key is done once."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.definitions.problems import InvalidDefinition
from layover.core.engine import events as ev
from layover.core.engine.command_codec import encode_command
from layover.core.engine.commands import Resume
from layover.errors import AlreadyExists, AnswerRefused, NotFound, WrongState
from layover.ports.access import AuditFilter
from layover.ports.records import AuditRow, Claim, Claims, Enqueue
from layover.runtime.ids import new_id
from tests.runtime.harness import (
    HOUR,
    Between,
    Held,
    Refused,
    Scripted,
    approval,
    call,
    delay,
    end,
    engine_at,
    engine_on,
    flow,
    form,
    until_status,
)

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

ASKING = flow(form(), call("a"), end("${nodes.ask}"))
ONCE_MORE: dict[str, object] = {"max_attempts": 1, "on_exhausted": "pause"}


def entry(act: str, target: str = "") -> AuditRow:
    """Return what is to be written of an act."""
    return AuditRow(id=new_id(1_800_000_000_000), at=1_800_000_000_000, user="ann", act=act, target=target)


async def acts(engine: Runtime) -> list[str]:
    """Return what is written, in the order of the alphabet."""
    return sorted(one.act for one in await engine.instance.store.audit.list_entries(AuditFilter()))


async def events(engine: Runtime, execution_id: str, kind: type[ev.DomainEvent]) -> list[ev.AnyEvent]:
    return [one.event for one in await engine.queries.history(execution_id) if isinstance(one.event, kind)]


async def test_each_act_is_written_once(tmp_path: Path) -> None:
    work = Scripted(Refused("no"), Refused("no"), 1)
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(ASKING, audit=entry("workflow.save"))
        started = await engine.executions.start("flow", wait="rest", audit=entry("execution.start"))
        await engine.control.pause(started.id, audit=entry("execution.pause"))
        await engine.control.resume(started.id, audit=entry("execution.resume"))
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {}, audit=entry("point.answer"))
        await until_status(engine, started.id, "failed")
        await engine.control.retry(started.id, audit=entry("execution.retry"))
        await until_status(engine, started.id, "failed")
        await engine.control.rewind(started.id, "ask", audit=entry("execution.rewind"))
        (row,) = await engine.points.list(started.id)
        await engine.answers.cancel_point(row.point.id, "no need", by="ann", audit=entry("point.cancel"))
        other = await engine.executions.start("flow", wait="rest")
        await engine.control.cancel(other.id, audit=entry("execution.cancel"))
        await engine.signals.deliver("paid", audit=entry("signal.send"))
        assert await acts(engine) == [
            "execution.cancel",
            "execution.pause",
            "execution.resume",
            "execution.retry",
            "execution.rewind",
            "execution.start",
            "point.answer",
            "point.cancel",
            "signal.send",
            "workflow.save",
        ]


async def test_what_is_refused_was_not_done(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        done = await engine.executions.start("flow", wait="end")
        for command in (engine.control.pause, engine.control.resume, engine.control.cancel, engine.control.retry):
            with pytest.raises(WrongState):
                await command(done.id, audit=entry("x"))
        with pytest.raises(NotFound):
            await engine.control.rewind(done.id, "nowhere", audit=entry("x"))
        with pytest.raises(AlreadyExists):
            await engine.executions.start("flow", id=done.id, audit=entry("x"))
        with pytest.raises(NotFound):
            await engine.executions.start("flow", version=2, audit=entry("x"))
        with pytest.raises(AnswerRefused):
            await engine.answers.answer("nowhere", audit=entry("x"))
        assert await acts(engine) == []


async def test_what_changes_nothing_is_not_written(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ASKING)
        started = await engine.executions.start("flow", key="k", wait="rest")
        await engine.executions.start("flow", key="k", on_conflict="return", audit=entry("execution.start"))
        await engine.control.pause(started.id, "first")
        again = await engine.control.pause(started.id, "second", by="bob", audit=entry("execution.pause"))
        assert (again.status, again.paused_reason) == ("paused", "first")
        await engine.workflows.register(ASKING, audit=entry("workflow.save"))
        await engine.signals.deliver("paid", id="once")
        await engine.signals.deliver("paid", id="once", audit=entry("signal.send"))
        assert await acts(engine) == []


async def test_a_pause_that_is_about_to_be_taken_back_is_no_reason_not_to_pause(tmp_path: Path) -> None:
    async with engine_at(tmp_path, poll=HOUR, command_poll=HOUR) as engine:
        await engine.workflows.register(flow(delay()))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.pause(started.id, "first")
        kind, body = encode_command(Resume())
        await engine.instance.store.commands.enqueue([Enqueue(execution_id=started.id, kind=kind, body=body)], 0)
        again = await engine.control.pause(started.id, "second")
        assert (again.status, again.paused_reason, again.resume_count) == ("paused", "second", 1)


# Keys


async def test_a_pause_is_asked_for_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay()))
        started = await engine.executions.start("flow", wait="rest")
        for _ in range(2):
            await engine.control.pause(started.id, "audit", by="ann", key="k", audit=entry("execution.pause"))
        await engine.control.resume(started.id)
        late = await engine.control.pause(started.id, "audit", by="ann", key="k", audit=entry("execution.pause"))
        assert (late.status, late.paused_reason) == ("waiting", None)
        assert len(await events(engine, started.id, ev.ExecutionPausing)) == 1
        assert await acts(engine) == ["execution.pause"]


async def test_a_resume_is_asked_for_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay()))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.pause(started.id)
        for _ in range(2):
            resumed = await engine.control.resume(started.id, {"n": 1}, key="k", audit=entry("execution.resume"))
            assert (resumed.status, resumed.variables) == ("waiting", {"n": 1})
        await engine.control.pause(started.id)
        assert (await engine.control.resume(started.id, {"n": 1}, key="k")).status == "paused"
        assert (await engine.control.resume(started.id, {"n": 2}, key="another")).variables == {"n": 2}
        assert await acts(engine) == ["execution.resume"]


async def test_an_end_is_asked_for_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ASKING)
        started = await engine.executions.start("flow", wait="rest")
        for _ in range(2):
            assert (await engine.control.cancel(started.id, "enough", key="k", audit=entry("x"))).status == "cancelled"
        with pytest.raises(WrongState):
            await engine.control.cancel(started.id, "enough", key="another")
        assert await acts(engine) == ["x"]


async def test_a_retry_of_what_is_closed_is_asked_for_once(tmp_path: Path) -> None:
    work = Scripted(Refused("no"))
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a")))
        started = await engine.executions.start("flow", wait="end")
        for _ in range(3):
            await engine.control.retry(started.id, by="ann", key="k", audit=entry("execution.retry"))
            await until_status(engine, started.id, "failed")
        assert len(work.calls) == 2
        await engine.control.retry(started.id, by="ann", key="another", audit=entry("execution.retry"))
        await until_status(engine, started.id, "failed")
        assert len(work.calls) == 3
        assert await acts(engine) == ["execution.retry"] * 2


async def test_a_retry_that_another_caller_did_first_is_not_repeated(tmp_path: Path) -> None:
    class Slower(Between):
        async def claims_claim(self, claim: Claim) -> Claims:
            if claim.execution_id is not None:
                await faster.control.retry(claim.execution_id, by="ann", key="k", audit=entry("execution.retry"))
                await until_status(faster, claim.execution_id, "failed")
            return await self.store.claims.claim(claim)

    work = Scripted(Refused("no"))
    async with engine_at(tmp_path, work) as faster, engine_on(Slower(tmp_path), work) as slower:
        await faster.workflows.register(flow(call("a")))
        started = await faster.executions.start("flow", wait="end")
        found = await slower.control.retry(started.id, by="ann", key="k", audit=entry("execution.retry"))
        assert (found.status, len(work.calls)) == ("failed", 2)
        assert await acts(faster) == ["execution.retry"]


async def test_a_rewind_is_asked_for_once_open_or_closed(tmp_path: Path) -> None:
    work = Scripted(1)
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = await engine.executions.start("flow", wait="rest")
        for _ in range(2):
            await engine.control.rewind(started.id, "a", key="open", audit=entry("x"))
            await until_status(engine, started.id, "paused")
        assert len(work.calls) == 2
        await engine.control.cancel(started.id)
        for _ in range(2):
            await engine.control.rewind(started.id, "a", key="closed", audit=entry("x"))
            await until_status(engine, started.id, "paused")
        assert len(work.calls) == 3
        assert await acts(engine) == ["x"] * 2


async def test_a_retry_of_what_waits_for_an_operator_is_asked_for_once(tmp_path: Path) -> None:
    work = Scripted(Refused("no"))
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=ONCE_MORE)))
        started = await engine.executions.start("flow", wait="rest")
        for _ in range(2):
            await engine.control.retry(started.id, key="k")
            await until_status(engine, started.id, "paused")
        assert len(work.calls) == 2
        await engine.control.resume(started.id)
        await until_status(engine, started.id, "paused")
        assert len(work.calls) == 3


async def test_a_point_is_given_up_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(next={"error": "sorry"}), end("sorry", "sorry")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        for _ in range(2):
            done = await engine.answers.cancel_point(
                row.point.id, "no need", by="ann", key="k", audit=entry("point.cancel")
            )
            assert done.id == started.id
        assert await engine.executions.result(started.id) == "sorry"
        (given_up,) = await events(engine, started.id, ev.PausePointCancelled)
        assert isinstance(given_up, ev.PausePointCancelled)
        assert (given_up.reason, given_up.by) == ("no need", "ann")
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.cancel_point(row.point.id, key="another")
        assert refused.value.code == "point_closed"
        assert await acts(engine) == ["point.cancel"]


async def test_an_answer_is_given_once_by_each_person(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(approval(need=2), end("${nodes.review.decisions.map(one, one.by)}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        for _ in range(2):
            await engine.answers.answer(row.point.id, approved=True, by="ann", key="k", audit=entry("approval.approve"))
        assert not (await engine.answers.answer(row.point.id, approved=True, by="bob", key="k")).repeated
        assert await engine.executions.result(started.id) == ["ann", "bob"]
        assert await acts(engine) == ["approval.approve"]


async def test_the_other_decision_under_the_same_key_is_not_the_same_answer(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(approval(need=2)))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, approved=True, by="ann", key="k")
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.answer(row.point.id, approved=False, by="ann", key="k")
        assert refused.value.code == "already_decided"


async def test_what_two_people_ask_under_the_same_key_are_two_things(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay()))
        started = await engine.executions.start("flow", wait="rest")
        for by in ("ann", "bob"):
            await engine.control.pause(started.id, by=by, key="k")
            await engine.control.resume(started.id, by=by, key="k")
        assert len(await events(engine, started.id, ev.ExecutionPausing)) == 2


# Delegates


async def test_an_approver_delegates_the_decision(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(approval(approvers={"users": ["ann"]}), end("${nodes.review.by}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        for _ in range(2):
            await engine.answers.delegate(row.point.id, "cho", by="ann", key="k", audit=entry("approval.delegate"))
        assert len(await events(engine, started.id, ev.PausePointDelegated)) == 1
        await engine.answers.answer(row.point.id, approved=True, by="cho")
        assert await engine.executions.result(started.id) == "cho"
        assert await acts(engine) == ["approval.delegate"]


async def test_a_user_who_may_not_decide_cannot_delegate(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(
            flow(approval(approvers={"users": ["ann", "bob"]}, next={"approved": "ask"}), form())
        )
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        for by, to in (("eve", "cho"), ("ann", "bob")):
            with pytest.raises(AnswerRefused) as refused:
                await engine.answers.delegate(row.point.id, to, by=by, audit=entry("x"))
            assert refused.value.code == "not_allowed"
        await engine.answers.answer(row.point.id, approved=True, by="ann")
        await engine.executions.wait(started.id, "rest")
        (asked,) = await engine.points.list(started.id)
        for point, code in ((row, "point_closed"), (asked, "not_answerable")):
            with pytest.raises(AnswerRefused) as refused:
                await engine.answers.delegate(point.point.id, "cho", by="ann", audit=entry("x"))
            assert refused.value.code == code
        assert await acts(engine) == []


# Versions and node types


async def test_an_older_version_can_be_started(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("one")))
        await engine.workflows.register(flow(end("two")))
        found = [await engine.executions.start("flow", version=n, wait="end") for n in (1, 2, None)]
        assert [(one.version, one.output) for one in found] == [(1, "one"), (2, "two"), (2, "two")]
        with pytest.raises(NotFound) as refused:
            await engine.executions.start("flow", version=3)
        assert refused.value.code == "unknown_version"
        with pytest.raises(NotFound):
            await engine.executions.start("nowhere", version=1)


async def test_unknown_node_types_are_refused_if_functions_are_given(tmp_path: Path) -> None:
    async with engine_at(tmp_path, Scripted(1)) as engine:
        known = engine.workflows.known_types()
        assert {"work", "http", "form", "loop"} <= known
        await engine.workflows.register(flow(call("a"), form()), functions=known)
        with pytest.raises(InvalidDefinition):
            await engine.workflows.register(flow(call("a", "other")), functions=known)
        await engine.workflows.register(flow(call("a", "other")))


async def test_an_approval_that_is_decided_is_no_reason_to_ask_for_a_decision(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(
            {
                "name": "flow",
                "nodes": [
                    {"id": "first", "type": "compute", "output": 1, "next": ["a", "review"]},
                    call("a"),
                    approval(next={"approved": "fine"}),
                    {"id": "fine", "type": "compute", "output": 1},
                ],
            }
        )
        started = await engine.executions.start("flow")
        running = await work.begun()
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, approved=True, by="ann")
        await engine.instance.listeners.until(started.id, lambda head: head.commands_done == head.commands_seq)
        with pytest.raises(WrongState) as refused:
            await engine.control.resume(started.id)
        assert refused.value.code == "wrong_state"
        running.returns()
        assert (await engine.executions.wait(started.id)).status == "completed"
