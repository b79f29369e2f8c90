"""People: what is asked, who may answer, and what becomes of answers."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.core.engine.commands import Answer
from layover.core.engine.events import PausePointApplied
from layover.core.payloads import PayloadNotJson
from layover.errors import AnswerRefused
from layover.runtime.maintenance.verify import violations
from layover.runtime.operations.start_options import Options
from layover.runtime.runtime import Runtime  # noqa: TC001 - read by pytest
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    approval,
    call,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    form,
    until,
    until_status,
)

if TYPE_CHECKING:
    from layover.core.engine.state import Point
    from layover.ports.store import Store

pytestmark = pytest.mark.usefixtures("each_database")

SIZE = {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}
ANN, BOB, CAT = "ann", "bob", "cat"


async def point_of(engine: Runtime, execution_id: str) -> str:
    (row,) = await engine.points.list(execution_id)
    return row.point.id


async def test_an_answer_to_a_form_is_its_output(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(schema=SIZE), end("${nodes.ask.size + 1}")))
        asked = await engine.executions.start("flow", wait="rest")
        taken = await engine.answers.answer(await point_of(engine, asked.id), {"size": 4}, by=ANN)
        assert (taken.execution_id, taken.point.status, taken.repeated) == (asked.id, "answered", False)
        assert await engine.executions.result(asked.id) == 5
        (row,) = await engine.points.list(asked.id, status=["applied"])
        assert row.closed_at is not None


async def test_an_answer_that_does_not_fit_is_refused_with_the_places_and_the_point_stays_open(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(schema=SIZE), end("${nodes.ask.size}")))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.answer(point, {"size": "large"}, by=ANN)
        assert refused.value.code == "invalid_answer"
        assert [path for path, _ in refused.value.errors] == ["size"]
        with pytest.raises(PayloadNotJson):
            await engine.answers.answer(point, object(), by=ANN)
        assert await engine.queries.get(asked.id) == asked
        await engine.answers.answer(point, {"size": 1}, by=ANN)
        assert await engine.executions.result(asked.id) == 1


async def test_a_user_who_is_not_asked_may_not_answer(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(approvers={"users": [ANN], "roles": ["boss"]}), end("${nodes.ask}")))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.answer(point, {}, by=BOB, roles=("clerk",))
        assert refused.value.code == "not_allowed"
        await engine.answers.answer(point, {"by": "boss"}, by=BOB, roles=("boss",))
        assert await engine.executions.result(asked.id) == {"by": "boss"}


async def test_the_first_answer_counts_and_a_second_one_is_refused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}")))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
        await engine.answers.answer(point, {"n": 1}, by=ANN)
        for _ in range(2):  # at once, and after it was applied
            with pytest.raises(AnswerRefused) as refused:
                await engine.answers.answer(point, {"n": 2}, by=BOB)
            assert refused.value.code == "already_answered"
            assert await engine.executions.result(asked.id) == 1


async def test_the_same_key_again_is_the_same_answer(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}")))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
        first = await engine.answers.answer(point, {"n": 1}, by=ANN, key="k")
        again = await engine.answers.answer(point, {"n": 1}, by=ANN, key="k")
        assert (again.n, again.repeated) == (first.n, True)
        assert await engine.executions.result(asked.id) == 1
        late = await engine.answers.answer(point, {"n": 1}, by=ANN, key="k")
        assert (late.n, late.repeated) == (first.n, True)


async def test_one_key_can_be_used_for_several_points(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form("one"), form("two"), end(["${nodes.one.n}", "${nodes.two.n}"])))
        asked = await engine.executions.start("flow", wait="rest")
        await engine.answers.answer(await point_of(engine, asked.id), {"n": 1}, by=ANN, key="k")
        await engine.executions.wait(asked.id, "rest")
        second = await engine.answers.answer(await point_of(engine, asked.id), {"n": 2}, by=ANN, key="k")
        assert not second.repeated
        assert await engine.executions.result(asked.id) == [1, 2]


async def test_a_point_that_does_not_exist_or_waits_for_no_person_cannot_be_answered(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow({"id": "rest", "type": "delay", "duration": "1h"}))
        started = await engine.executions.start("flow", wait="rest")
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.answer(await point_of(engine, started.id), {}, by=ANN)
        assert refused.value.code == "not_answerable"
        for ask in (engine.answers.answer, engine.answers.cancel_point):
            with pytest.raises(AnswerRefused) as refused:
                await ask("nothing")
            assert refused.value.code == "unknown_point"


async def test_a_quorum_decides_an_approval(tmp_path: Path) -> None:
    asked_for = approval(approvers={"users": [ANN, BOB, CAT]}, need=2)
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(asked_for, end("${nodes.review}")))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.answer(point, by=ANN)
        assert refused.value.code == "decision_required"
        first = await engine.answers.answer(point, by=ANN, approved=True, comment="fine")
        assert first.point.status == "open"
        again = await engine.answers.answer(point, by=ANN, approved=True)
        assert again.repeated
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.answer(point, by=ANN, approved=False)
        assert refused.value.code == "already_decided"
        assert (await engine.executions.wait(asked.id, "rest")).status == "paused"
        assert [len(row.point.decisions) for row in await engine.points.list(asked.id)] == [1]
        await engine.answers.answer(point, {"limit": 3}, by=CAT, approved=True)
        output = await engine.executions.result(asked.id)
        assert isinstance(output, dict)
        assert (output["approved"], output["by"], len(output["decisions"])) == (True, CAT, 2)


async def test_a_rejection_leaves_by_its_port_or_fails(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        wired = flow(approval(next={"rejected": "no"}), end("${nodes.review.comment}", "no"))
        await engine.workflows.register(wired)
        await engine.workflows.register(flow(approval(), name="unwired"))
        for workflow in ("flow", "unwired"):
            asked = await engine.executions.start(workflow, wait="rest")
            await engine.answers.answer(await point_of(engine, asked.id), by=ANN, approved=False, comment="too dear")
            done = await engine.executions.wait(asked.id)
            assert (done.output, done.error.code if done.error else "") in {("too dear", ""), (None, "rejected")}
            assert done.status == ("completed" if workflow == "flow" else "failed")


async def test_the_requester_may_be_excluded_from_deciding(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(approval(exclude_requester=True), end(1)))
        asked = await engine.executions.start("flow", wait="rest", options=Options(user=ANN))
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.answer(await point_of(engine, asked.id), by=ANN, approved=True)
        assert refused.value.code == "requester_excluded"


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("resume", ["sequential", "concurrent"])
async def test_answers_are_taken_in_any_order(tmp_path: Path, order: tuple[int, ...], resume: str) -> None:
    asked_for = fan_out(form(), collect="${nodes.ask.n}")
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(asked_for, end("${nodes.each}"), settings={"resume": resume}))
        asked = await engine.executions.start("flow", [0, 1, 2], wait="rest")
        points = {row.point.node: row.point.id for row in await engine.points.list(asked.id)}
        for n in order:
            await engine.answers.answer(points[f"ask:each.{n}"], {"n": n}, by=ANN)
        assert await engine.executions.result(asked.id) == [0, 1, 2]


@pytest.mark.parametrize(("resume", "at_once"), [("sequential", 1), ("concurrent", 3)])
async def test_what_answers_release_runs_one_after_the_other_or_side_by_side(
    tmp_path: Path, resume: str, at_once: int
) -> None:
    work = Held()
    branch = flow(form(), call("a", input={"n": "${nodes.ask.n}"}))["nodes"]
    async with engine_at(tmp_path, work) as engine:
        each = {"id": "each", "type": "parallel", "for_each": "input", "body": branch}
        await engine.workflows.register(flow(each, settings={"resume": resume}))
        asked = await engine.executions.start("flow", [0, 1, 2], wait="rest")
        points = {row.point.node: row.point.id for row in await engine.points.list(asked.id)}
        for n in (2, 0, 1):
            await engine.answers.answer(points[f"ask:each.{n}"], {"n": n}, by=ANN)
        running = await work.all_begun(at_once)
        left = await engine.points.list(asked.id, status=["answered"])
        assert len(left) == 3 - at_once
        while len(work.calls) < 3:
            running.pop().returns()
            running.append(await work.begun())
        for one in running:
            one.returns()
        await engine.executions.wait(asked.id)
        assert [one.given["n"] for one in work.calls] == [2, 0, 1]
        applied = [
            entry for entry in await engine.queries.history(asked.id) if isinstance(entry.event, PausePointApplied)
        ]
        assert len(applied) == 3


async def test_a_point_that_is_given_up_fails_its_node(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(next={"error": "badly"}), end("${errors.ask.code}", "badly")))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
        done = await engine.answers.cancel_point(point, "nobody knows")
        assert done.output == "pause_cancelled"
        for refused_with, ask in (
            ("point_closed", engine.answers.cancel_point),
            ("point_closed", engine.answers.answer),
        ):
            with pytest.raises(AnswerRefused) as refused:
                await ask(point)
            assert refused.value.code == refused_with


async def test_a_deadline_decides_only_when_it_has_passed_without_an_answer(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(form(deadline="1h", on_deadline="continue"), end("${nodes.ask}")))
        ids = [(await engine.executions.start("flow", wait="rest")).id for _ in range(2)]
        await engine.answers.answer(await point_of(engine, ids[0]), {"in": "time"}, by=ANN)
        assert await engine.executions.result(ids[0]) == {"in": "time"}
        point = await point_of(engine, ids[1])
        clock.skip(engine, 2 * HOUR)
        assert await engine.executions.result(ids[1]) is None
        with pytest.raises(AnswerRefused) as refused:
            await engine.answers.answer(point, {}, by=ANN)
        assert refused.value.code == "point_expired"


@pytest.mark.parametrize(
    ("on_deadline", "output", "code"),
    [
        ("approve", True, ""),
        ("reject", None, "rejected"),
        ("expired", None, "pause_expired"),
        ("fail", None, "deadline_passed"),
    ],
)
async def test_a_deadline_of_an_approval_does_what_it_says(
    tmp_path: Path, on_deadline: str, output: object, code: str
) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(
            flow(approval(deadline="1h", on_deadline=on_deadline), end("${nodes.review.approved}"))
        )
        asked = await engine.executions.start("flow", wait="rest")
        clock.skip(engine, 2 * HOUR)
        done = await engine.executions.wait(asked.id)
        assert (done.output, done.error.code if done.error else "") == (output, code)


async def test_an_answer_waits_for_an_engine_that_is_not_there(tmp_path: Path) -> None:
    """Whoever takes an answer need not drive: here only the store takes it, while nobody claims."""
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}")))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
        engine.instance.claimer.stop()
        given = Answer(point=point, data={"n": 7}, by=ANN)
        await engine.instance.store.answers.reserve(given, "s", engine.instance.clock.now())
        assert (await engine.queries.get(asked.id)).status == "paused"
        assert (await engine.queries.why(asked.id)).reasons[0].kind == "commands"
    async with engine_at(tmp_path) as engine:
        assert await engine.executions.result(asked.id) == 7


async def test_waiting_for_rest_after_an_answer_includes_what_it_leads_to(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form("one"), form("two")))
        asked = await engine.executions.start("flow", wait="rest")
        given = Answer(point=await point_of(engine, asked.id), data={}, by=ANN)
        await engine.instance.store.answers.reserve(given, "another process", engine.instance.clock.now())
        resting = await engine.executions.wait(asked.id, "rest")
        assert [one.context_id for one in resting.waiting_on] == ["two"]


async def test_the_time_of_an_answer_is_when_it_was_given(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(approval(need=2), form(), end("${nodes.review}")))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
    taken = await said_where_there_is_no_room(clock.store(tmp_path), point)
    clock.now += HOUR
    async with engine_on(clock.store(tmp_path)) as engine:
        await until(engine, asked.id, lambda head: head.commands_done == head.commands_seq == 1)
        (row,) = await engine.points.list(asked.id)
        assert row.point.decisions == taken.decisions
        assert await violations(engine.instance.store) == []
    taken = await said_where_there_is_no_room(clock.store(tmp_path), point, by=BOB)
    clock.now += HOUR
    async with engine_on(clock.store(tmp_path)) as engine:
        await until(engine, asked.id, lambda head: head.commands_done == head.commands_seq == 2)
        (row,) = await engine.points.list(asked.id, status=["applied"])
        assert (row.point.decisions, row.point.answered_at) == (taken.decisions, taken.answered_at)
        await engine.answers.answer(await point_of(engine, asked.id), {}, by=ANN)
        output = await engine.executions.result(asked.id)
        assert isinstance(output, dict)
        assert (output["at"], [one["at"] for one in output["decisions"]]) == (
            taken.answered_at,
            [one.at for one in taken.decisions],
        )


async def test_an_answer_that_waits_behind_a_pause_was_given_when_it_was(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(form(), end(1)))
        asked = await engine.executions.start("flow", wait="rest")
        point = await point_of(engine, asked.id)
        await engine.control.pause(asked.id)
        await until_status(engine, asked.id, "paused")
    taken = await said_where_there_is_no_room(clock.store(tmp_path), point)
    clock.now += HOUR
    async with engine_on(clock.store(tmp_path)) as engine:
        await until(engine, asked.id, lambda head: head.commands_done == head.commands_seq)
        (row,) = await engine.points.list(asked.id, status=["answered"])
        assert row.point.answered_at == taken.answered_at
        assert await violations(engine.instance.store) == []


async def said_where_there_is_no_room(store: Store, point: str, by: str = ANN) -> Point:
    """Answer in an engine that does not read answers; return the point as it was promised."""
    async with engine_on(store, executions=0) as engine:
        return (await engine.answers.answer(point, {}, approved=True, by=by)).point
