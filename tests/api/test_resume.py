"""Resuming by where a point stands, and what is paused in a workflow: the paths that speak camelCase."""

from __future__ import annotations

import itertools
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.core.ids import uuid8
from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotations
from tests.api.acting import acts, ended, points_of, resting
from tests.api.harness import listening, served
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Held,
    Scripted,
    a_moment_later,
    approval,
    call,
    child,
    delay,
    end,
    engine_on,
    flow,
    form,
    until,
    until_status,
)

if TYPE_CHECKING:
    from tests.api.harness import Api

pytestmark = pytest.mark.usefixtures("each_database")

UNKNOWN = "0195f2a6-7c00-7000-8000-5d1e0f3a9b42"


def branches(**bodies: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "all", "type": "parallel", "branches": [{"id": id_, "body": body} for id_, body in bodies.items()]}


def path_of(execution: str, context: str, workflow: str = "flow") -> str:
    return f"/api/resume/{workflow}/{execution}/{context}"


async def paused(api: Api, query: str = "", workflow: str = "flow") -> list[dict[str, Any]]:
    answered = await api.get(f"/api/workflows/{workflow}/paused{query}", as_="viewer")
    assert answered.status == 200, answered.body
    found: list[dict[str, Any]] = answered.json["executions"]
    return found


# Resuming


async def test_a_resume_is_started_when_nothing_is_ahead_of_it(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={}), end("${nodes.ask}")))
        resumed = await api.post(path_of(execution["id"], "ask"), {"input": {"size": "L"}}, as_="mia:operator")

        told = resumed.json
        assert resumed.status == 202
        assert (told["status"], told["queuePosition"]) == ("started", None)
        assert (told["executionId"], told["contextId"]) == (execution["id"], "ask")
        assert told["legId"] == uuid8(f"{execution['id']}\0leg\0{execution['points']['ask']}")
        assert await ended(api, execution["id"]) == {"size": "L"}
        assert await acts(api, execution["id"]) == [("mia", "point.answer", execution["points"]["ask"])]


async def test_the_leg_of_a_resume_is_one_of_the_legs(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        execution = await resting(api, flow(form(schema={}), call("a")))
        resumed = await api.post(path_of(execution["id"], "ask"))
        begun = await work.begun()
        legs = await api.engine.queries.legs(execution["id"])
        begun.returns()

        assert resumed.json["legId"] == legs[-1].id
        assert legs[-1].parent == legs[0].id


async def test_resumes_wait_in_line_while_something_runs(tmp_path: Path) -> None:
    work = Held()
    all_ = branches(a=[form("one", schema={})], b=[form("two", schema={})], c=[call("slow")])
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(all_, end("${nodes.all}")))
        started = await api.engine.executions.start("flow")
        slow = await work.begun()
        first = await api.post(path_of(started.id, "two:all.b"), {"input": 2})
        second = await api.post(path_of(started.id, "one:all.a"), {"input": 1})
        again = await api.post(path_of(started.id, "two:all.b"), {"input": 2})
        (listed,) = await paused(api)

        assert [(one.status, one.json["status"], one.json["queuePosition"]) for one in (first, second, again)] == [
            (202, "queued", 1),
            (202, "queued", 2),
            (202, "queued", 1),
        ]
        places = {one["contextId"]: (one["resumeStatus"], one["queuePosition"]) for one in listed["pausePoints"]}
        assert places == {"two:all.b": ("queued", 1), "one:all.a": ("queued", 2)}
        slow.returns(3)
        assert await ended(api, started.id) == {"a": 1, "b": 2, "c": 3}


async def test_what_an_operator_holds_is_not_started(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={}), end("${nodes.ask}")))
        await api.engine.control.pause(execution["id"])
        resumed = await api.post(path_of(execution["id"], "ask"), {"input": 1})
        assert (resumed.status, resumed.json["status"], resumed.json["queuePosition"]) == (202, "queued", 1)
        await api.engine.control.resume(execution["id"])
        assert await ended(api, execution["id"]) == 1


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
async def test_branches_are_resumed_in_any_order(tmp_path: Path, order: tuple[str, ...]) -> None:
    bodies = {name: [form(f"ask_{name}", schema={}, next=f"work_{name}"), call(f"work_{name}")] for name in "abc"}
    work = Scripted("worked")
    async with served(tmp_path, work) as api:
        execution = await resting(api, flow(branches(**bodies), call("join"), end("${nodes.all}")))
        for count, name in enumerate(order):
            (listed,) = await paused(api)
            assert (listed["totalPauseCount"], listed["resumedCount"]) == (3, count)
            assert listed["status"] == ("partially_resumed" if count else "paused")
            resumed = await api.post(path_of(execution["id"], f"ask_{name}:all.{name}"), {"input": name})
            assert (resumed.status, resumed.json["status"]) == (202, "started"), resumed.body
            await api.engine.executions.wait(execution["id"], "rest")

        assert await ended(api, execution["id"]) == dict.fromkeys("abc", "worked")
        assert await paused(api) == []
        assert len(work.calls) == 4  # what comes after the branches ran once


async def test_the_error_port_of_a_pause_is_not_taken_when_it_is_resumed(tmp_path: Path) -> None:
    nodes = [form(schema={}, next={"done": "well", "error": "badly"}), end("well", "well"), end("badly", "badly")]
    async with served(tmp_path) as api:
        execution = await resting(api, {"name": "flow", "nodes": nodes})
        assert (await api.post(path_of(execution["id"], "ask"))).status == 202
        assert await ended(api, execution["id"]) == "well"


async def test_a_decision_resumes_an_approval(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(approval(), end("${nodes.review.data}")))
        path = path_of(execution["id"], "review")
        empty = await api.post(path)
        operator = await api.post(path, {"approved": True}, as_="operator")
        decided = await api.post(path, {"approved": True, "comment": "ok", "data": {"a": 1}}, as_="mia:approver")

        assert (empty.status, empty.code) == (409, "decision_required")
        assert (operator.status, operator.code) == (403, "forbidden")
        assert decided.status == 202
        assert await ended(api, execution["id"]) == {"a": 1}
        assert await acts(api, execution["id"]) == [("mia", "approval.approve", execution["points"]["review"])]


async def test_the_same_resume_again_is_one_and_another_names_the_winner(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={}), end("${nodes.ask}")))
        path = path_of(execution["id"], "ask")
        statuses = [(await api.post(path, {"input": 1}, as_="mia:operator")).status for _ in range(2)]
        other = await api.post(path, {"input": 2}, as_="ben:operator")

        assert statuses == [202, 202]
        assert (other.status, other.code) == (409, "already_answered")
        assert (other.json["winner"]["by"], other.json["winner"]["answer"]) == ("mia", 1)


async def test_a_point_that_is_not_reached_yet_has_another_code_than_one_that_cannot_be(tmp_path: Path) -> None:
    loop = {"id": "rounds", "type": "loop", "times": 2, "body": [form("inner", schema={})]}
    nodes = [form(schema={}), approval("later"), branches(left=[form("side")]), loop, delay(), call("work")]
    async with served(tmp_path, Held()) as api:
        execution = await resting(api, flow(*nodes))

        async def refused(context: str) -> tuple[int, str]:
            posted = await api.post(path_of(execution["id"], context))
            deleted = await api.delete(path_of(execution["id"], context))
            assert (posted.status, posted.code) == (deleted.status, deleted.code)
            return posted.status, posted.code

        assert await refused("later") == (409, "snapshot_pending")
        assert await refused("side:all.left") == (409, "snapshot_pending")
        assert await refused("inner:rounds.1") == (409, "snapshot_pending")
        assert await refused("work/size") == (409, "snapshot_pending")
        assert await refused("rest") == (400, "not_answerable")
        for never in ("nothing", "side:all.right", "side:all.0", "inner:rounds.first", "side", "ask:all.left", "work"):
            assert await refused(never) == (404, "unknown_point"), never
        for malformed in ("ask:", "1st", "inner:rounds.01"):
            assert await refused(malformed) == (400, "malformed_context_id"), malformed


async def test_a_place_that_was_left_out_is_none(tmp_path: Path) -> None:
    nodes = [
        {"id": "large", "type": "condition", "if": "input.total > 1000", "next": {"true": "review", "false": "ask"}},
        approval(next="ask"),
        form(schema={}),
    ]
    async with served(tmp_path) as api:
        execution = await resting(api, {"name": "flow", "nodes": nodes}, {"total": 1})
        refused = await api.post(path_of(execution["id"], "review"), {"approved": True})

    assert (refused.status, refused.code) == (404, "unknown_point")


async def test_a_place_that_was_never_reached_cannot_be_when_all_is_over(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={}), approval("later")))
        await api.engine.control.cancel(execution["id"])
        path = path_of(execution["id"], "later")
        for later in (await api.post(path, {"approved": True}), await api.delete(path)):
            assert (later.status, later.code, later.json["current_status"]) == (409, "execution_closed", "cancelled")
        gone = await api.post(path_of(execution["id"], "ask"))
        assert (gone.status, gone.code) == (409, "point_closed")


async def test_the_path_names_an_execution_of_the_workflow(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form()))
        await api.engine.workflows.register(flow(form(), name="other"))
        for path, expected in (
            (path_of(execution["id"], "ask", "other"), (404, "unknown_execution")),
            (path_of(UNKNOWN, "ask"), (404, "unknown_execution")),
            (path_of("order-7", "ask"), (400, "malformed_id")),
        ):
            for refused in (await api.post(path), await api.delete(path)):
                assert (refused.status, refused.code) == expected


async def test_a_resume_without_permission_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={}, approvers={"users": ["mia"]})))
        path = path_of(execution["id"], "ask")
        nobody, viewer = await api.post(path, as_=""), await api.post(path, as_="viewer")
        outsider = await api.post(path, as_="ben:approver")
        deleting = await api.delete(path, as_="approver")

        assert [(one.status, one.code) for one in (nobody, viewer, outsider, deleting)] == [
            (401, "unauthenticated"),
            (403, "forbidden"),
            (403, "not_allowed"),
            (403, "forbidden"),
        ]


@pytest.mark.parametrize("node", [delay("it"), child("it", "other")])
async def test_what_waits_for_machines_is_not_answered(tmp_path: Path, node: dict[str, Any]) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form(), name="other"))
        await api.engine.workflows.register(flow(node))
        started = await api.engine.executions.start("flow")
        await until_status(api.engine, started.id, "waiting")
        refused = await api.post(path_of(started.id, "it"))

    assert (refused.status, refused.code) == (400, "not_answerable")


async def test_what_a_function_asks_is_resumed_under_its_key(tmp_path: Path) -> None:
    async def work(context: NodeContext) -> object:
        return await context.ask("how large?", dict)

    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("charge"), end("${nodes.charge}")))
        started = await api.engine.executions.start("flow")
        await until_status(api.engine, started.id, "paused")
        ((point,),) = [one["pausePoints"] for one in await paused(api)]
        assert point["contextId"] == "charge/how%20large%3F"
        resumed = await api.post(path_of(started.id, "charge/how%2520large%253F"), {"input": {"a": 1}})
        assert resumed.status == 202, resumed.body
        assert await ended(api, started.id) == {"a": 1}


async def test_the_newest_point_of_a_place_is_resumed(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={}), form("more", schema={}), end("${nodes.ask}")))
        path = path_of(execution["id"], "ask")
        await api.post(path, {"input": "first"})
        await api.engine.executions.wait(execution["id"], "rest")
        await api.engine.control.rewind(execution["id"], "ask")
        await api.engine.executions.wait(execution["id"], "rest")
        assert (await points_of(api, execution["id"]))["ask"] != execution["points"]["ask"]
        assert (await api.post(path, {"input": "second"})).status == 202
        await until(api.engine, execution["id"], lambda head: head.commands_done >= head.commands_seq)
        await api.post(path_of(execution["id"], "more"))
        assert await ended(api, execution["id"]) == "second"


async def test_a_definition_may_change_meanwhile(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={}), end("old")))
        await api.engine.workflows.register(flow(end("new")))
        await api.engine.workflow_status.set("flow", "deleted")
        (listed,) = await paused(api)
        assert listed["executionId"] == execution["id"]
        assert (await api.post(path_of(execution["id"], "ask"))).status == 202
        assert await ended(api, execution["id"]) == "old"


async def test_what_has_expired_is_gone(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        late = form(schema={}, deadline="1h", on_deadline="continue")
        execution = await resting(api, flow(branches(a=[late], b=[form("stays", schema={})])))
        (before,) = await paused(api)
        seen = (await engine.queries.get(execution["id"])).last_seq
        clock.skip(engine, 2 * HOUR)
        await until(engine, execution["id"], lambda head: head.last_seq > seen)
        refused = await api.post(path_of(execution["id"], "ask:all.a"))
        deleted = await api.delete(path_of(execution["id"], "ask:all.a"))
        (after,) = await paused(api)

        assert (refused.status, refused.code) == (410, "expired")
        assert (deleted.status, deleted.code) == (410, "expired")
        assert before["expiresAt"] < after["expiresAt"]  # that of the other, which may wait as long as any pause may
        states = {one["contextId"]: one["resumeStatus"] for one in after["pausePoints"]}
        assert states == {"ask:all.a": "expired", "stays:all.b": "paused"}


# Cancelling


async def test_a_point_is_cancelled_where_it_stands(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        nodes = [form(next={"error": "sorry"}), end("${errors.ask.code}", "sorry")]
        execution = await resting(api, {"name": "flow", "nodes": nodes})
        path = path_of(execution["id"], "ask")
        cancelled = await api.delete(path, as_="mia:operator")
        again = await api.delete(path)

        assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")
        assert (again.status, again.code) == (409, "point_closed")
        assert await ended(api, execution["id"]) == "pause_cancelled"
        assert await acts(api, execution["id"]) == [("mia", "point.cancel", execution["points"]["ask"])]


async def test_what_was_answered_is_not_cancelled(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        execution = await resting(api, flow(form(schema={})))
        path = path_of(execution["id"], "ask")
        await api.post(path, as_="mia:operator")
        await ended(api, execution["id"])
        refused = await api.delete(path)

    assert (refused.status, refused.code, refused.json["winner"]["by"]) == (409, "already_answered", "mia")


# What is paused


async def test_a_pause_shows_as_soon_as_it_is_reached(tmp_path: Path) -> None:
    work = Held()
    asks = form("ask", schema={}, response={"see": "here"}, deadline="1h", on_deadline="fail")
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(branches(a=[asks], b=[call("slow")])))
        started = await api.engine.executions.start("flow")
        await work.begun()
        assert (await api.engine.queries.get(started.id)).status == "running"
        (listed,) = await paused(api)
        (point,) = listed["pausePoints"]

    assert (listed["executionId"], listed["status"], listed["pauseScope"]) == (started.id, "paused", "branch")
    assert (listed["totalPauseCount"], listed["resumedCount"]) == (1, 0)
    assert listed["pausedAt"] == point["registeredAt"]
    assert listed["expiresAt"] is not None
    assert (point["contextId"], point["resumeStatus"], point["snapshotReady"]) == ("ask:all.a", "paused", True)
    assert point["parallelScope"] == {"parallelId": "all", "branchIndex": 0, "branchCount": 2}
    assert (point["loopScope"], point["response"]) == (None, {"see": "here"})


async def test_a_pause_in_nested_loops_says_where(tmp_path: Path) -> None:
    inner = {"id": "inner", "type": "loop", "times": 2, "body": [form(schema={})]}
    outer = {"id": "outer", "type": "loop", "times": 2, "body": [inner]}
    async with served(tmp_path) as api:
        execution = await resting(api, flow(outer, end("done")))
        for number in range(4):
            (listed,) = await paused(api)
            point = listed["pausePoints"][-1]
            context = f"ask:outer.{number // 2}:inner.{number % 2}"
            assert point["contextId"] == context
            assert point["loopScope"] == {"loopId": "inner", "iteration": number % 2}
            assert (listed["pauseScope"], listed["resumedCount"]) == ("execution", number)
            assert (await api.post(path_of(execution["id"], context))).status == 202
            await api.engine.executions.wait(execution["id"], "rest")
        assert await ended(api, execution["id"]) == "done"


async def test_the_oldest_comes_first_and_pages_follow(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(branches(a=[form("one")], b=[approval("two")])))
        ids: list[str] = []
        for _ in range(5):
            ids.append((await resting(api))["id"])
            a_moment_later(api.engine)
        await resting(api, flow(form(), name="other"))
        seen: list[str] = []
        query = "?limit=2"
        pages = 0
        while True:
            page = (await api.get(f"/api/workflows/flow/paused{query}")).json
            pages += 1
            seen += [one["executionId"] for one in page["executions"]]
            if page["next"] is None:
                break
            query = f"?limit=2&cursor={page['next']}"

        assert (seen, pages) == (ids, 3)
        for bad, code in (("limit=0", "invalid_parameter"), ("cursor=x", "malformed_cursor")):
            refused = await api.get(f"/api/workflows/flow/paused?{bad}")
            assert (refused.status, refused.code) == (400, code)


@pytest.mark.parametrize("name", ["nothing", "%F0%9F%98%80", "x" * 1_000])
async def test_a_workflow_that_is_not_there_has_nothing_paused(tmp_path: Path, name: str) -> None:
    async with served(tmp_path) as api:
        refused = await api.get(f"/api/workflows/{name}/paused")

    assert (refused.status, refused.code) == (404, "unknown_workflow")
