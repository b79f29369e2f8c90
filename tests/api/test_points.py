"""Pause points over HTTP: listing, answering, cancelling."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotations
from layover.ports.view_records import PointFilter
from tests.api.acting import acts, ended, points_of, resting, served_forgetfully
from tests.api.harness import listening, served
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    call,
    delay,
    end,
    engine_on,
    flow,
    form,
    until,
    until_status,
)

if TYPE_CHECKING:
    from layover.ports.records import Head


pytestmark = pytest.mark.usefixtures("each_database")


SIZE = {"type": "object", "properties": {"size": {"type": "string"}}, "required": ["size"]}


ASK = flow(form(schema=SIZE), end("${nodes.ask}"))


# Answering


async def test_an_answer_is_taken_and_the_execution_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, ASK)
        point = execution["points"]["ask"]
        answered = await api.post(f"/pause-points/{point}/answer", {"data": {"size": "L"}}, as_="mia:operator")

        told = answered.json
        assert (answered.status, told["id"], told["execution_id"]) == (201, point, execution["id"])
        assert told["status"] in ("answered", "applied")
        assert (told["answer"], told["answered_by"]) == ({"size": "L"}, "mia")
        assert await ended(api, execution["id"]) == {"size": "L"}
        assert await acts(api, execution["id"]) == [("mia", "point.answer", point)]
        after = (await api.get(f"/pause-points/{point}", as_="viewer")).json
        assert (after["status"], after["answer"], after["queue_position"]) == ("applied", {"size": "L"}, None)


async def test_the_same_answer_by_the_same_person_is_one_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, ASK)
        path, body = f"/pause-points/{execution['points']['ask']}/answer", {"data": {"size": "L"}}
        first = await api.post(path, body, as_="mia:operator")
        await ended(api, execution["id"])
        again = await api.post(path, body, as_="mia:operator")
        changed = await api.post(path, {"data": {"size": "M"}}, as_="mia:operator")
        other = await api.post(path, body, as_="ben:operator")

        assert (first.status, again.status) == (201, 200)
        assert again.json["answer"] == {"size": "L"}
        for refused in (changed, other):
            assert (refused.status, refused.code) == (409, "already_answered")
            winner = refused.json["winner"]
            assert (winner["by"], winner["answer"]) == ("mia", {"size": "L"})
            assert winner["at"].endswith("Z")
        assert len(await acts(api, execution["id"])) == 1


async def test_true_is_not_one_when_answers_are_compared(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={})))
        path = f"/pause-points/{execution['points']['ask']}/answer"
        assert (await api.post(path, {"data": {"a": 1}})).status == 201
        assert (await api.post(path, {"data": {"a": True}})).status == 409
        assert (await api.post(path, {"data": {"a": 1}})).status == 200


async def test_an_answer_with_a_key_is_answered_the_same_again(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, ASK)
        path, body = f"/pause-points/{execution['points']['ask']}/answer", {"data": {"size": "L"}}
        first = await api.post(path, body, key="k")
        again = await api.post(path, body, key="k")
        other = await api.post(path, {"data": {"size": "M"}}, key="k")

    assert (again.status, again.body) == (201, first.body)
    assert (other.status, other.code) == (409, "idempotency_mismatch")


async def test_a_key_belongs_to_its_caller(tmp_path: Path) -> None:
    async with served_forgetfully(tmp_path) as api:
        execution = await resting(api, ASK)
        path, body = f"/pause-points/{execution['points']['ask']}/answer", {"data": {"size": "L"}}
        first = await api.post(path, body, as_="mia:operator", key="k")
        again = await api.post(path, body, as_="mia:operator", key="k")
        other = await api.post(path, body, as_="ben:operator", key="k")

    assert (first.status, again.status) == (201, 200)
    assert (other.status, other.code) == (409, "already_answered")


async def test_second_of_two_answers_at_once_gets_409_with_the_winner(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(ASK)
        for _ in range(20):
            execution = await resting(api)
            path = f"/pause-points/{execution['points']['ask']}/answer"
            mia, ben = await asyncio.gather(
                api.post(path, {"data": {"size": "L"}}, as_="mia:operator"),
                api.post(path, {"data": {"size": "M"}}, as_="ben:operator"),
            )
            assert sorted([mia.status, ben.status]) == [201, 409]
            won, lost = (mia, ben) if mia.status == 201 else (ben, mia)
            assert lost.code == "already_answered"
            assert lost.json["winner"]["by"] == won.json["answered_by"]
            assert lost.json["winner"]["answer"] == won.json["answer"]
            assert await ended(api, execution["id"]) == won.json["answer"]
            assert len(await acts(api, execution["id"])) == 1


async def test_an_answer_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, ASK)
        path = f"/pause-points/{execution['points']['ask']}/answer"
        misfit = await api.post(path, {"data": {"size": 1}})
        nothing = await api.post(path)
        reserved = await api.post(path, {"data": {"size": "L", "a": {"$secret": "KEY"}}})
        unknown = await api.post(path, {"answer": "L"})
        long = await api.post(path, {"data": {"size": "L"}, "comment": "x" * 10_001})

        assert (misfit.status, misfit.code) == (422, "invalid_answer")
        assert [one["path"] for one in misfit.json["errors"]] == ["size"]
        assert (nothing.status, nothing.code) == (422, "invalid_answer")
        assert (reserved.status, reserved.code) == (422, "payload_reserved")
        assert (unknown.status, unknown.code) == (422, "invalid_body")
        assert (long.status, long.code) == (422, "invalid_body")
        assert await points_of(api, execution["id"]) == execution["points"]
        assert await acts(api, execution["id"]) == []


async def test_what_is_not_answered_by_people_says_so(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(delay()))
        refused = await api.post(f"/pause-points/{execution['points']['rest']}/answer", {"data": 1})

    assert (refused.status, refused.code) == (400, "not_answerable")


@pytest.mark.parametrize("point", ["nothing", "x" * 300, "%F0%9F%98%80", "a%20b"])
async def test_what_is_not_there_is_not_found(tmp_path: Path, point: str) -> None:
    async with served(tmp_path) as api:
        found = [
            await api.get(f"/pause-points/{point}"),
            await api.post(f"/pause-points/{point}/answer", {"data": 1}),
            await api.post(f"/pause-points/{point}/cancel"),
        ]

    assert [(one.status, one.code) for one in found] == [(404, "unknown_point")] * 3


async def test_a_user_who_is_not_asked_is_refused_before_anything_else_is_checked(tmp_path: Path) -> None:
    asked = form(schema=SIZE, approvers={"users": ["mia"]})
    async with served(tmp_path) as api:
        execution = await resting(api, flow(asked))
        path = f"/pause-points/{execution['points']['ask']}/answer"
        assert (await api.post(path, {"data": 1}, as_="")).status == 401
        viewer = await api.post(path, {"data": 1}, as_="viewer")
        outsider = await api.post(path, {"data": 1}, as_="ben:operator")
        admin = await api.post(path, {"data": {"size": "L"}}, as_="admin")
        assert (viewer.status, viewer.code) == (403, "forbidden")
        assert (outsider.status, outsider.code) == (403, "not_allowed")
        assert (admin.status, admin.code) == (403, "not_allowed")

        assert (await api.post(path, {"data": {"size": "L"}}, as_="mia:operator")).status == 201
        late = await api.post(path, {"data": {"size": "L"}}, as_="ben:operator")
        assert (late.status, late.code) == (403, "not_allowed")


async def test_an_answer_after_the_deadline_is_too_late(tmp_path: Path) -> None:
    clock = HandWound()
    late = form(schema=SIZE, deadline="1h", on_deadline="continue", approvers={"users": ["mia"]})
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        execution = await resting(api, flow(late, end("over")))
        point = execution["points"]["ask"]
        clock.skip(engine, 2 * HOUR)
        assert await ended(api, execution["id"]) == "over"
        refused = await api.post(f"/pause-points/{point}/answer", {"data": 1}, as_="mia:operator")
        outsider = await api.post(f"/pause-points/{point}/answer", {"data": 1}, as_="ben:operator")
        cancelled = await api.post(f"/pause-points/{point}/cancel")

        assert (refused.status, refused.code) == (410, "expired")
        assert (outsider.status, outsider.code) == (403, "not_allowed")
        assert (cancelled.status, cancelled.code) == (410, "expired")


async def test_an_answer_to_what_was_cancelled_comes_too_late(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, ASK)
        await api.engine.control.cancel(execution["id"])
        refused = await api.post(f"/pause-points/{execution['points']['ask']}/answer", {"data": {"size": "L"}})

    assert (refused.status, refused.code) == (409, "point_closed")


async def test_answers_wait_in_line_while_something_runs(tmp_path: Path) -> None:
    work = Held()
    branches: list[Any] = [{"id": "a", "body": [form("one", schema={})]}, {"id": "b", "body": [form("two", schema={})]}]
    both: dict[str, Any] = {
        "id": "both",
        "type": "parallel",
        "branches": [*branches, {"id": "c", "body": [call("slow")]}],
    }
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(both, end("${nodes.both}")))
        started = await api.engine.executions.start("flow")
        slow = await work.begun()
        points = await points_of(api, started.id)
        first = await api.post(f"/pause-points/{points['two:both.b']}/answer", {"data": 2})
        second = await api.post(f"/pause-points/{points['one:both.a']}/answer", {"data": 1})
        listed = await api.get(f"/pause-points?execution_id={started.id}&status=answered")

        assert [(one.status, one.json["queue_position"]) for one in (first, second)] == [(201, 1), (201, 2)]
        places = {item["context_id"]: item["queue_position"] for item in listed.json["items"]}
        assert places == {"two:both.b": 1, "one:both.a": 2}
        slow.returns(3)
        assert await ended(api, started.id) == {"a": 1, "b": 2, "c": 3}


# Cancelling


async def test_a_cancelled_point_fails_its_node(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(next={"error": "sorry"}), end("${errors.ask.code}", "sorry")))
        point = execution["points"]["ask"]
        cancelled = await api.post(f"/pause-points/{point}/cancel", {"reason": "Sold out"}, as_="mia:operator")
        again = await api.post(f"/pause-points/{point}/cancel", as_="mia:operator")

        assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")
        assert (again.status, again.code) == (409, "point_closed")
        assert await ended(api, execution["id"]) == "pause_cancelled"
        assert await acts(api, execution["id"]) == [("mia", "point.cancel", point)]


async def test_what_was_answered_cannot_be_cancelled(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, ASK)
        point = execution["points"]["ask"]
        await api.post(f"/pause-points/{point}/answer", {"data": {"size": "L"}}, as_="mia:operator")
        await ended(api, execution["id"])
        refused = await api.post(f"/pause-points/{point}/cancel")

    assert (refused.status, refused.code) == (409, "already_answered")
    assert refused.json["winner"]["by"] == "mia"


async def test_a_cancel_whose_answer_was_lost_is_known_by_its_key(tmp_path: Path) -> None:
    async with served_forgetfully(tmp_path) as api:
        execution = await resting(api, ASK)
        path = f"/pause-points/{execution['points']['ask']}/cancel"
        first = await api.post(path, key="k")
        again = await api.post(path, key="k")

        assert (first.status, again.status) == (200, 200)
        assert len(await acts(api, execution["id"])) == 1


async def test_cancelling_needs_the_permission_and_a_short_reason(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, ASK)
        path = f"/pause-points/{execution['points']['ask']}/cancel"
        approver = await api.post(path, as_="approver")
        long = await api.post(path, {"reason": "x" * 256})

    assert (approver.status, approver.code) == (403, "forbidden")
    assert (long.status, long.code) == (422, "invalid_body")


async def test_a_function_that_asks_is_answered_like_a_form(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> object:
        return await context.ask("size", dict)

    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("charge"), end("${nodes.charge}")))
        started = await api.engine.executions.start("flow")
        await until_status(api.engine, started.id, "paused")
        (item,) = (await api.get("/pause-points")).json["items"]
        assert item["context_id"] == "charge/size"
        assert (await api.post(f"/pause-points/{item['id']}/answer", {"data": {"a": 1}})).status == 201
        assert await ended(api, started.id) == {"a": 1}


# Timers


def _has_moved_on(seen: int, head: Head) -> bool:
    return head.last_seq > seen and head.owner is None


async def test_a_timer_that_fired_is_completed_and_a_missed_deadline_expired(tmp_path: Path) -> None:
    clock = HandWound()
    asked = form(deadline="1h", on_deadline="continue")
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await engine.workflows.register(flow(delay(duration="1h"), asked, form("last")))
        started = await engine.executions.start("flow", wait="rest")
        for _ in range(2):
            seen = (await engine.queries.get(started.id)).last_seq
            clock.skip(engine, HOUR)
            await until(engine, started.id, partial(_has_moved_on, seen))
        path = f"/pause-points?execution_id={started.id}"

        async def listed(*status: str) -> list[tuple[str, str]]:
            query = "".join(f"&status={one}" for one in status)
            return [(one["context_id"], one["status"]) for one in (await api.get(path + query)).json["items"]]

        fired, missed, waiting = ("rest", "completed"), ("ask", "expired"), ("last", "open")
        assert await listed() == [fired, missed, waiting]
        assert await listed("completed") == [fired]
        assert await listed("expired") == [missed]
        assert await listed("expired", "open") == [missed, waiting]
        assert await listed("completed", "open") == [fired, waiting]
        assert await listed("completed", "expired") == [fired, missed]
        stored = await engine.instance.store.queries.list_points(PointFilter(execution_id=started.id))
        assert [row.status for row in stored] == ["expired", "expired", "open"]
