"""Occasions: of each event that is to be told, its append writes one message, and of no other."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover import NodeContext  # noqa: TC001 - the engine reads the annotations of functions
from layover.core.engine import events as ev
from layover.core.notifications import EXECUTION_OCCASIONS, NOTIFY, POINT_OCCASIONS, Occasion
from layover.core.notify_rules import load_notify
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Scripted,
    approval,
    call,
    child,
    delay,
    end,
    engine_at,
    engine_on,
    flow,
    form,
    until_seq,
    until_status,
)

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

ALL = [{"on": [*POINT_OCCASIONS, *EXECUTION_OCCASIONS], "via": "ops-chat"}]
APPROVERS = {"users": ["ann", "bob"]}


def leave_in_outbox(engine: Runtime) -> None:
    """Leave whatever an engine writes from here on in the outbox."""
    engine.instance.outbox_relay.stop()


async def occasions(engine: Runtime, id_: str) -> list[tuple[str, type[ev.DomainEvent]]]:
    """Return the occasions that wait in the outbox, each with the event that has its number."""
    messages = await engine.instance.store.outbox.list_undelivered(id_)
    log = {entry.seq: entry.event for entry in await engine.queries.history(id_)}
    found: list[tuple[str, type[ev.DomainEvent]]] = []
    for message in messages:
        if message.kind == NOTIFY:
            occasion = msgspec.json.decode(message.body, type=Occasion)
            event = log[message.n]
            assert message.destination == NOTIFY
            assert occasion.point == getattr(event, "point", "")
            assert (occasion.workflow, len(occasion.hash)) == ("flow", 64)
            found.append((occasion.kind, type(event)))
    return found


async def kinds(engine: Runtime, id_: str) -> list[str]:
    return [kind for kind, _ in await occasions(engine, id_)]


async def point_of(engine: Runtime, id_: str) -> str:
    while not (rows := await engine.points.list(id_)):
        pass  # what opens it is under way
    return rows[0].point.id


async def begun(engine: Runtime, definition: dict[str, object]) -> str:
    await engine.workflows.register({"notify": ALL, **definition})
    leave_in_outbox(engine)
    return (await engine.executions.start("flow", wait="rest")).id


async def test_what_people_do_at_a_point(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        id_ = await begun(engine, flow(approval(approvers=APPROVERS, need=2), end("yes")))
        point = await point_of(engine, id_)
        await engine.answers.answer(point, by="ann", approved=True)
        await engine.answers.delegate(point, "cat", by="bob")
        await engine.answers.answer(point, by="cat", approved=True)
        await engine.executions.result(id_)
        assert await occasions(engine, id_) == [
            ("pause.opened", ev.PausePointOpened),
            ("pause.decided", ev.PausePointDecided),
            ("pause.delegated", ev.PausePointDelegated),
            ("pause.decided", ev.PausePointDecided),
            ("pause.answered", ev.PausePointAnswered),
            ("execution.completed", ev.ExecutionCompleted),
        ]


async def test_what_time_does_to_a_point(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        asked = approval(
            approvers=APPROVERS,
            remind=["1h", "2h"],
            escalate={"after": "3h", "to": {"roles": ["lead"]}},
            deadline="4h",
            on_deadline="expired",
        )
        id_ = await begun(engine, flow(asked))
        last = (await engine.queries.history(id_))[-1].seq
        for _ in range(3):
            clock.skip(engine, HOUR)
            last = (await until_seq(engine, id_, last + 1)).last_seq
        clock.skip(engine, HOUR)
        await until_status(engine, id_, "failed")
        assert await occasions(engine, id_) == [
            ("pause.opened", ev.PausePointOpened),
            ("pause.reminded", ev.PausePointReminded),
            ("pause.reminded", ev.PausePointReminded),
            ("pause.escalated", ev.PausePointEscalated),
            ("pause.expired", ev.PausePointExpired),
            ("execution.failed", ev.ExecutionFailed),
        ]


async def test_what_operators_do(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        id_ = await begun(engine, flow(form(), end("yes")))
        await engine.control.pause(id_)
        await engine.control.resume(id_)
        await engine.control.rewind(id_, "ask")
        await engine.control.cancel(id_)
        assert await occasions(engine, id_) == [
            ("pause.opened", ev.PausePointOpened),
            ("execution.paused", ev.ExecutionPaused),
            ("execution.resumed", ev.ExecutionResumed),
            ("pause.cancelled", ev.PausePointCancelled),
            ("pause.reopened", ev.PausePointOpened),
            ("pause.cancelled", ev.PausePointCancelled),
            ("execution.cancelled", ev.ExecutionCancelled),
        ]


async def test_a_point_is_reopened_however_long_after_a_rewind(tmp_path: Path) -> None:
    work = Scripted(None)
    async with engine_at(tmp_path, work) as engine:
        id_ = await begun(engine, flow(call("first"), form(), end("yes")))
        await engine.control.rewind(id_, "first")
        await point_of(engine, id_)
        assert await kinds(engine, id_) == ["pause.opened", "pause.cancelled", "pause.reopened"]


async def test_a_question_that_is_asked_again_after_a_failure_is_reopened(tmp_path: Path) -> None:
    work = Scripted(ValueError("no"))
    async with engine_at(tmp_path, work) as engine:
        settings = {"on_resume_failure": "reopen"}
        id_ = await begun(engine, flow(form(), call("after"), settings=settings))
        await engine.answers.answer(await point_of(engine, id_), {}, by="ann")
        while "pause.reopened" not in await kinds(engine, id_):
            pass
        assert await kinds(engine, id_) == ["pause.opened", "pause.answered", "pause.reopened"]


async def test_each_question_of_a_function_notifies_as_a_pause_of_its_own(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> object:
        return [await context.ask("one", dict), await context.ask("two", dict)]

    async with engine_at(tmp_path, work) as engine:
        id_ = await begun(engine, flow(call("a")))
        for _ in range(2):
            await engine.answers.answer(await point_of(engine, id_), {}, by="ann")
        await engine.executions.result(id_)
        told = ["pause.opened", "pause.answered"] * 2
        assert await kinds(engine, id_) == [*told, "execution.completed"]


async def test_points_that_ask_no_user_notify_of_nothing(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(end("done"), name="quick"))
        id_ = await begun(engine, flow(delay(), end("yes")))
        clock.skip(engine, HOUR)
        await engine.executions.result(id_)
        assert await kinds(engine, id_) == ["execution.completed"]
        await engine.workflows.register(flow(child("a", "quick"), notify=ALL))
        id_ = (await engine.executions.start("flow", wait="rest")).id
        assert await kinds(engine, id_) == []


async def test_a_request_without_a_possible_approver_does_not_notify(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        asked = approval(approvers={"users": ["${input.user}"]}, exclude_requester=True)
        await engine.workflows.register({"notify": ALL, **flow(asked, name="flow")})
        leave_in_outbox(engine)
        started = await engine.executions.start("flow", {"user": "ann"}, options=Options(user="ann"), wait="rest")
        assert "pause.opened" not in await kinds(engine, started.id)


@pytest.mark.parametrize("durability", ["step", "leg"])
async def test_only_kinds_of_the_rules_notify(tmp_path: Path, durability: str) -> None:
    async with engine_at(tmp_path) as engine:
        rules = [{"on": "pause.answered", "via": "mail"}, {"on": "pause.answered", "via": "chat"}]
        id_ = await begun(engine, flow(form(), end("yes"), notify=rules, settings={"durability": durability}))
        await engine.answers.answer(await point_of(engine, id_), {}, by="ann")
        await engine.executions.result(id_)
        assert await kinds(engine, id_) == ["pause.answered"]


async def test_a_workflow_without_notify_writes_no_message(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        id_ = await begun(engine, flow(form(), end("yes"), notify=[]))
        await engine.answers.answer(await point_of(engine, id_), {}, by="ann")
        await engine.executions.result(id_)
        assert await engine.instance.store.outbox.list_undelivered(id_) == []


async def test_the_settings_tell_of_every_workflow(tmp_path: Path) -> None:
    rules = load_notify([{"on": "execution.completed", "via": "ops-chat"}])
    async with engine_at(tmp_path, notify=rules) as engine:
        id_ = await begun(engine, flow(form(), end("yes"), notify=[{"on": "pause.opened", "via": "mail"}]))
        await engine.answers.answer(await point_of(engine, id_), {}, by="ann")
        await engine.executions.result(id_)
        assert await kinds(engine, id_) == ["pause.opened", "execution.completed"]
