"""Reading executions over HTTP: one, many, their logs, nodes, legs, graphs, and why they stand still."""

from __future__ import annotations

import json
import re
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
import pytest
from msgspec.structs import replace

from layover.runtime.operations.start_options import Options
from layover.runtime.queries import event_search
from layover.service.cursors import cursor_of
from tests.api.harness import UNLIMITED, listening, served
from tests.runtime.harness import (
    HandWound,
    Held,
    Refused,
    Scripted,
    approval,
    call,
    child,
    delay,
    end,
    engine_on,
    fan_out,
    flow,
    form,
    until_child,
    until_status,
)

if TYPE_CHECKING:
    from tests.api.harness import Answered, Api

pytestmark = pytest.mark.usefixtures("each_database")

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
NOBODY = "00000000-0000-7000-8000-000000000000"


def ids(answered: Answered) -> list[str]:
    return [one["id"] for one in answered.json["items"]]


async def listed(api: Api, **asked: object) -> list[str]:
    """Return the ids of a list, page by page."""
    found: list[str] = []
    query = "&".join(f"{name}={quote(str(value))}" for name, value in asked.items())
    answered = await api.get(f"/executions?{query}", as_="viewer")
    found += ids(answered)
    while (after := answered.json["next"]) is not None:
        answered = await api.get(f"/executions?{query}&cursor={after}", as_="viewer")
        found += ids(answered)
    return found


async def test_an_execution_that_waits_for_a_person_tells_all_there_is_to_know(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        version = await api.engine.workflows.register(
            flow(approval(response={"see": "you"}), end(1), variables={"n": 1})
        )
        options = Options(tags=("x",), priority=3, correlation_id="c-1", user="ann", trigger={"hook": 1})
        started = await api.engine.executions.start("flow", {"a": 1}, wait="rest", options=options)
        answered = await api.get(f"/executions/{started.id}", as_="viewer")

    assert answered.status == 200
    found = answered.json
    moments = ("created_at", "started_at", "paused_at")
    assert all(MOMENT.fullmatch(found.pop(name)) for name in moments)
    (waiting,) = found.pop("waiting_on")
    assert MOMENT.fullmatch(waiting.pop("since"))
    assert MOMENT.fullmatch(waiting.pop("until"))
    assert waiting.pop("for")
    assert waiting == {"context_id": "review", "kind": "approval", "failure": None}
    assert found == {
        "id": started.id,
        "workflow": "flow",
        "version": 1,
        "status": "paused",
        "outcome": "",
        "outcome_reason": "",
        "input": {"a": 1},
        "output": None,
        "error": None,
        "variables": {"n": 1},
        "tags": ["x"],
        "priority": 3,
        "correlation_id": "c-1",
        "parent_id": None,
        "trigger": {"hook": 1},
        "user": "ann",
        "forked_from": None,
        "forked_at": None,
        "breakpoints": {},
        "finished_at": None,
        "duration_ms": None,
        "paused_reason": "`review` waits for a decision by anybody.",
        "paused_node": "review",
        "resume_at": None,
        "resume_on": None,
        "next_nodes": ["finish"],
        "resume_count": 0,
        "last_resumed_at": None,
        "resume_data": None,
        "nodes_executed": 0,
        "trigger_cursors": {},
        "notifications_sent": 0,
        "last_seq": started.last_seq,
        "lease": None,
        "hash": version.hash,
    }


async def test_an_execution_that_has_ended_tells_how(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(Refused("no"))) as api:
        await api.engine.workflows.register(flow(call("a")))
        failed = await api.engine.executions.start("flow", wait="end")
        found = (await api.get(f"/executions/{failed.id}")).json
        summary = (await api.get("/executions")).json["items"][0]

    assert (found["status"], found["next_nodes"], found["waiting_on"]) == ("failed", [], [])
    assert found["error"]["message"] == "no"
    assert found["duration_ms"] == failed.duration_ms
    assert (summary["id"], summary["status"], summary["version"]) == (failed.id, "failed", 1)
    assert summary["error"] == found["error"] | {"traceback": None}
    assert summary["error"]["type"] == "Refused"


async def test_an_execution_shows_the_lease_of_the_instance_that_drives_it(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await api.engine.workflows.register(flow(call("a")))
        started = await api.engine.executions.start("flow")
        begun = await work.begun()
        lease = (await api.get(f"/executions/{started.id}")).json["lease"]
        begun.returns()

        assert (lease["instance"], lease["epoch"]) == (api.engine.instance.id, 1)
        assert MOMENT.fullmatch(lease["expires_at"])


@pytest.mark.parametrize("what", ["", "/history", "/nodes", "/legs", "/resume-queue", "/replay", "/graph", "/why"])
async def test_what_is_not_there_cannot_be_read(tmp_path: Path, what: str) -> None:
    async with served(tmp_path) as api:
        unknown = await api.get(f"/executions/{NOBODY}{what}")
        malformed = await api.get(f"/executions/not-an-id{what}")
        unasked = await api.get(f"/executions/{NOBODY}{what}?colour=red")
        anybody = await api.get(f"/executions/{NOBODY}{what}", as_="")
        stranger = await api.get(f"/executions/{NOBODY}{what}", as_="stranger")

    assert (unknown.status, unknown.code) == (404, "unknown_execution")
    assert (malformed.status, malformed.code) == (400, "malformed_id")
    assert (unasked.status, unasked.code) == (400, "invalid_parameter")
    assert (anybody.status, anybody.code) == (401, "unauthenticated")
    assert (stranger.status, stranger.code) == (403, "forbidden")


async def test_lists_are_narrowed_down_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await engine.workflows.register(flow(end(1)))
        await engine.workflows.register(flow(delay(), name="naps"))
        started: list[str] = []
        for n in range(6):
            clock.now += 1_000
            engine.instance.clock.set(clock.now)
            tags, user = (("even",), None) if n % 2 == 0 else ((), "ann")
            options = Options(tags=tags, user=user, correlation_id=f"c-{n}" if n < 5 else None)
            one = await engine.executions.start("flow" if n < 4 else "naps", {"n": n}, wait="rest", options=options)
            started.insert(0, one.id)
        first = await api.get("/executions?limit=4")
        assert await listed(api) == started
        assert await listed(api, limit=1) == await listed(api, limit=5) == started
        assert await listed(api, limit=6) == started
        assert await listed(api, limit=10**30) == started
        assert await listed(api, workflow="naps") == started[:2]
        assert await listed(api, status="waiting,failed") == started[:2]
        assert ids(await api.get("/executions?status=waiting&status=completed")) == started
        assert await listed(api, tag="even", limit=1) == started[1::2]
        assert await listed(api, where="input.n>=2", limit=1) == started[:4]
        assert ids(await api.get("/executions?where=input.n%3E=2&where=output=1")) == started[2:4]
        assert await listed(api, workflow="nothing") == []
        third = first.json["items"][2]["created_at"]
        assert await listed(api, since=third, limit=1) == started[:3]
        assert await listed(api, until=third) == started[3:]
        assert await listed(api, max_duration="1h") == started[2:]
        assert await listed(api, min_resumes=1) == await listed(api, error_code="late") == []
        assert await listed(api, on="timer") == await listed(api, on="person,timer", limit=1) == started[:2]
        assert await listed(api, on="person") == await listed(api, on="timer", status="completed") == []
        assert await listed(api, user="ann", limit=1) == started[0::2]
        assert await listed(api, resumed="false", limit=2) == started
        assert await listed(api, resumed="true") == await listed(api, node_type="http") == []
        assert await listed(api, node_type="delay", limit=1) == started[:2]
        assert await listed(api, node_type="delay", on="timer", user="ann") == started[:1]
        assert await listed(api, q="c-") == await listed(api, correlation_id="c-4") + started[2:] == started[1:]

    assert ids(first) == started[:4]
    assert set(first.json["items"][0]) == {
        *("id", "workflow", "version", "status", "outcome", "error", "tags", "priority", "correlation_id"),
        *("parent_id", "paused_at", "created_at", "finished_at", "resume_count", "last_seq"),
        *("user", "updated_at", "waiting_summary"),
    }
    waits = [item["waiting_summary"] for item in first.json["items"]]
    assert [(one["kind"], one["text"], one["count"]) for one in waits[:2]] == [("timer", "timer", 1)] * 2
    assert all(one["until"] > third for one in waits[:2])
    assert waits[2:] == [None, None]
    assert [item["user"] for item in first.json["items"]] == ["ann", None, "ann", None]
    assert all(item["updated_at"] >= item["created_at"] for item in first.json["items"])


async def test_children_are_found_by_their_parent(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form(), name="inner"))
        await api.engine.workflows.register(flow(child("a", "inner")))
        parent = await api.engine.executions.start("flow", wait="rest")
        (point,) = await api.engine.points.list(parent.id)
        await until_child(api.engine, point.point.child, "paused")
        assert await listed(api, parent_id=parent.id) == [point.point.child]
        assert await listed(api, parent_id=point.point.child) == []


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "invalid_parameter"),
        ("limit=-1", "invalid_parameter"),
        ("limit=many", "invalid_parameter"),
        ("limit=1.5", "invalid_parameter"),
        ("limit=1&limit=2", "invalid_parameter"),
        ("status=asleep", "invalid_parameter"),
        ("status=", "invalid_parameter"),
        ("workflow=two%20words", "invalid_parameter"),
        ("workflow=flow%0A", "invalid_parameter"),
        ("tag=%00", "invalid_parameter"),
        ("colour=red", "invalid_parameter"),
        ("on=nobody", "invalid_parameter"),
        ("user=", "invalid_parameter"),
        ("resumed=often", "invalid_parameter"),
        ("node_type=", "invalid_parameter"),
        ("q=", "invalid_parameter"),
        ("q=%00", "invalid_parameter"),
        ("since=yesterday", "invalid_parameter"),
        ("since=2026-11-20T08:00:00", "invalid_parameter"),
        ("until=0001-01-01T00:00:00%2B14:00", "invalid_parameter"),
        ("min_duration=long", "invalid_parameter"),
        ("max_duration=-1s", "invalid_parameter"),
        ("min_resumes=-1", "invalid_parameter"),
        ("min_resumes=99999999999999999999", "invalid_parameter"),
        ("parent_id=me", "malformed_id"),
        ("cursor=", "malformed_cursor"),
        ("cursor=nonsense", "malformed_cursor"),
        (f"cursor={cursor_of(1, 'p-1')}", "malformed_cursor"),
        ("where=n", "invalid_filter"),
        ("where=elsewhere.n=1", "invalid_filter"),
        ("where=input.n=%00", "invalid_parameter"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused(tmp_path: Path, query: str, code: str) -> None:
    async with served(tmp_path) as api:
        answered = await api.get(f"/executions?{query}")

    assert (answered.status, answered.code) == (400, code)


async def test_what_is_paused_is_listed_the_longest_first(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await engine.workflows.register(flow(form()))
        await engine.workflows.register(flow(delay(), name="naps"))
        started = []
        for workflow in ("naps", "flow", "naps", "flow"):
            clock.now += 1_000
            engine.instance.clock.set(clock.now)
            started.append((await engine.executions.start(workflow, wait="rest")).id)
        clock.now += 1_000
        engine.instance.clock.set(clock.now)
        await engine.control.pause(started[0], "stock-taking")
        await until_status(engine, started[0], "paused")
        whole = (await api.get("/executions/paused", as_="viewer")).json
        one = (await api.get("/executions/paused?limit=1")).json
        many = await api.get("/executions/paused?limit=1000")
        naps = (await api.get("/executions/paused?workflow=naps")).json
        single = (await api.get(f"/executions/{started[0]}")).json
        wrong = [await api.get(f"/executions/paused?limit={limit}") for limit in ("0", "-5", "x", "")]

    assert [found["id"] for found in whole["executions"]] == [started[1], started[3], started[0]]
    assert whole["count"] == 3
    assert [found["paused_at"] for found in whole["executions"]] == sorted(
        found["paused_at"] for found in whole["executions"]
    )
    assert whole["executions"][2] == {**single, "notifications_sent": None}  # lists do not count
    assert single["paused_reason"] == "stock-taking"
    assert ([found["id"] for found in one["executions"]], one["count"]) == ([started[1]], 1)
    assert many.json == whole
    assert [found["id"] for found in naps["executions"]] == [started[0]]
    assert [(found.status, found.code) for found in wrong] == [(400, "invalid_parameter")] * 4


async def test_no_more_than_a_hundred_are_given_at_once(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form()))
        for _ in range(101):
            await api.engine.executions.start("flow", wait="rest")
        by_default = (await api.get("/executions/paused")).json
        clamped = (await api.get("/executions/paused?limit=101")).json
        page = (await api.get("/executions?limit=101")).json

    assert (by_default["count"], clamped["count"], len(page["items"])) == (50, 100, 100)
    assert page["next"] is not None


async def test_a_history_is_read_in_parts_without_gaps(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(1)) as api:
        await api.engine.workflows.register(
            flow(call("a", input={"x": 1}), approval(deadline="1h", on_deadline="fail"), end(1))
        )
        started = await api.engine.executions.start("flow", wait="rest")
        (row,) = await api.engine.points.list(started.id)
        await api.engine.answers.answer(row.point.id, approved=True, by="ann", comment="fine")
        done = await api.engine.executions.wait(started.id)
        path = f"/executions/{started.id}/history"
        found: list[dict[str, Any]] = []
        page = (await api.get(f"{path}?limit=3", as_="viewer")).json
        found += page["items"]
        while page["next"] is not None:
            page = (await api.get(f"{path}?limit=3&cursor={page['next']}")).json
            found += page["items"]
        later = (await api.get(f"{path}?since=4")).json
        beyond = (await api.get(f"{path}?since={10**40}")).json
        other = await api.get(f"{path}?cursor={cursor_of(0, NOBODY)}")
        wrong = await api.get(f"{path}?since=-1")

    assert [one["seq"] for one in found] == list(range(done.last_seq + 1))
    assert later == {"items": found[4:], "next": None}
    assert beyond == {"items": [], "next": None}
    assert (other.status, other.code) == (400, "malformed_cursor")
    assert (wrong.status, wrong.code) == (400, "invalid_parameter")
    assert all(MOMENT.fullmatch(one["at"]) for one in found)
    by_type = {one["type"]: one for one in found}
    assert found[0]["type"] == "ExecutionCreated"
    assert (by_type["NodeStarted"]["context_id"], by_type["NodeStarted"]["attempt"]) == ("a", 1)
    assert by_type["NodeStarted"]["data"]["input"] == {"x": 1}
    assert MOMENT.fullmatch(by_type["PausePointOpened"]["data"]["deadline"])
    decision = by_type["PausePointDecided"]["data"]["decision"]
    assert MOMENT.fullmatch(decision.pop("at"))
    assert decision == {
        "by": "ann",
        "approved": True,
        "comment": "fine",
        "data": None,
        "on_behalf_of": None,
        "seen": None,
        "final_at": None,
        "final": False,
    }


async def test_nodes_tell_of_their_attempts(tmp_path: Path) -> None:
    async with served(tmp_path, Scripted(Refused("once"), {"n": 1})) as api:
        await api.engine.workflows.register(
            flow(call("a", input={"x": 1}, retry={"max_attempts": 2, "delay": "1ms"}), end(1))
        )
        done = await api.engine.executions.start("flow", wait="end")
        first, last = (await api.get(f"/executions/{done.id}/nodes", as_="viewer")).json["items"]

    assert (first["context_id"], first["node"], first["type"], first["status"]) == ("a", "a", "work", "completed")
    assert (first["attempt"], first["input"], first["output"], first["error"]) == (2, {"x": 1}, {"n": 1}, None)
    assert [one["attempt"] for one in first["attempts"]] == [1, 2]
    assert first["attempts"][0]["error"]["message"] == "once"
    assert MOMENT.fullmatch(first["attempts"][0]["retry_at"])
    assert MOMENT.fullmatch(first["started_at"])
    assert first["duration_ms"] is not None
    assert (last["context_id"], last["status"]) == ("finish", "completed")


async def test_nodes_are_found_by_their_container_their_state_and_their_context_id(tmp_path: Path) -> None:
    loop: dict[str, object] = {"id": "each", "type": "loop", "for_each": "[1, 2]", "body": [form("ask")]}
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(loop, end(1)))
        started = await api.engine.executions.start("flow", wait="rest")
        path = f"/executions/{started.id}/nodes"

        async def listed_nodes(query: str) -> list[str]:
            page = (await api.get(f"{path}?limit=1{query}", as_="viewer")).json
            found = [*page["items"]]
            while page["next"] is not None:
                page = (await api.get(f"{path}?limit=1{query}&cursor={page['next']}", as_="viewer")).json
                found += page["items"]
            return [one["context_id"] for one in found]

        everything = await listed_nodes("")
        assert await listed_nodes("&parent=") == ["each"]
        assert await listed_nodes("&parent=each") == [one for one in everything if one != "each"]
        assert await listed_nodes("&status=waiting,failed&parent=each") == await listed_nodes("&status=waiting")
        assert await listed_nodes("&status=failed") == await listed_nodes("&parent=nothing") == []
        assert await listed_nodes("&context_id=each") == ["each"]
        wrong = await api.get(f"{path}?status=odd")

    assert len(everything) > 1
    assert (wrong.status, wrong.code) == (400, "invalid_parameter")


@pytest.mark.parametrize("what", ["nodes", "legs"])
async def test_nodes_and_legs_come_in_pages(tmp_path: Path, what: str) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form("first"), form("second"), form("third"), end(1)))
        started = await api.engine.executions.start("flow", wait="rest")
        for _ in range(3):
            (row,) = await api.engine.points.list(started.id)
            await api.engine.answers.answer(row.point.id, {}, by="ann")
            await api.engine.executions.wait(started.id, "rest")
        path = f"/executions/{started.id}/{what}"
        whole = (await api.get(path, as_="viewer")).json
        page = (await api.get(f"{path}?limit=3")).json
        rest = (await api.get(f"{path}?limit=3&cursor={page['next']}")).json
        beyond = (await api.get(f"{path}?cursor={cursor_of(10**9, started.id)}")).json
        other = await api.get(f"{path}?cursor={cursor_of(0, NOBODY)}")
        wrong = await api.get(f"{path}?limit=0")

    assert (len(whole["items"]), whole["next"]) == (4, None)
    assert (len(page["items"]), len(rest["items"]), rest["next"]) == (3, 1, None)
    assert page["items"] + rest["items"] == whole["items"]
    assert (beyond["items"], beyond["next"]) == ([], None)
    assert (other.status, other.code) == (400, "malformed_cursor")
    assert (wrong.status, wrong.code) == (400, "invalid_parameter")


@pytest.mark.parametrize("what", ["nodes", "history"])
async def test_a_page_has_so_many_bytes(tmp_path: Path, what: str) -> None:
    outputs: list[dict[str, object]] = [
        {"id": f"n{number}", "type": "compute", "output": "x" * 1_000} for number in range(6)
    ]
    async with served(tmp_path, settings=replace(UNLIMITED, page_bytes=2_500)) as api:
        await api.engine.workflows.register(flow(*outputs))
        done = await api.engine.executions.start("flow", wait="end")
        found: list[dict[str, Any]] = []
        sizes, after = [], ""
        while True:
            page = (await api.get(f"/executions/{done.id}/{what}{after}")).json
            found += page["items"]
            sizes.append(len(json.dumps(page["items"])))
            if page["next"] is None:
                break
            after = f"?cursor={page['next']}"

    assert len(sizes) > 1
    assert max(sizes) <= 3_500
    assert len(found) == (len(outputs) if what == "nodes" else done.last_seq + 1)


async def test_variables_beyond_the_bound_are_replaced_by_their_size(tmp_path: Path) -> None:
    large: list[dict[str, object]] = [
        {"id": f"s{number}", "type": "set", "values": {f"v{number}": "${input}"}} for number in range(3)
    ]
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(*large, form()))
        started = await api.engine.executions.start("flow", "x" * 400_000, wait="rest")
        variables = (await api.get(f"/executions/{started.id}")).json["variables"]
        whole = (await api.engine.queries.get(started.id)).variables

    assert variables == {"v0": "x" * 400_000, "v1": "x" * 400_000, "v2": {"$omitted": 400_002}}
    assert whole["v2"] == "x" * 400_000


async def test_legs_and_graph_and_why_tell_of_what_waits(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form("first"), fan_out(form()), end(1)))
        started = await api.engine.executions.start("flow", [1, 2], wait="rest")
        (row,) = await api.engine.points.list(started.id)
        await api.engine.answers.answer(row.point.id, {}, by="ann")
        await api.engine.executions.wait(started.id, "rest")
        legs = (await api.get(f"/executions/{started.id}/legs", as_="viewer")).json
        graph = (await api.get(f"/executions/{started.id}/graph", as_="viewer")).json
        why = (await api.get(f"/executions/{started.id}/why", as_="viewer")).json

    first, second = legs["items"]
    assert legs["next"] is None
    assert (first["parent"], first["depth"], second["parent"], second["depth"]) == (None, 0, first["id"], 1)
    assert second["from_seq"] == first["to_seq"] + 1
    assert MOMENT.fullmatch(first["started_at"])
    nodes = {one["id"]: one for one in graph["nodes"]}
    assert (graph["workflow"], graph["version"]) == ("flow", 1)
    assert {name: one["status"] for name, one in nodes.items()} == {
        "first": "completed",
        "each": "entered",
        "ask:each": "waiting",
        "finish": None,
    }
    assert (nodes["ask:each"]["parent"], nodes["ask:each"]["runs"]) == ("each", {"waiting": 2})
    assert {(one["source"], one["target"], one["port"], one["taken"]) for one in graph["edges"]} == {
        ("first", "each", "done", 1),
        ("each", "finish", "done", 0),
    }
    told = {one["context_id"]: one for one in why["reasons"]}
    assert why["summary"] == f"{why['reasons'][0]['text']} (and 1 more)"
    assert sorted(told) == ["ask:each.0", "ask:each.1"]
    reason = told["ask:each.0"]
    assert MOMENT.fullmatch(reason.pop("since"))
    assert MOMENT.fullmatch(reason.pop("until"))
    text = "`ask:each.0` waits for an answer by anybody."
    assert reason.pop("point")
    assert reason == {"kind": "form", "text": text, "context_id": "ask:each.0"}


async def test_why_follows_an_execution_to_the_one_it_waits_for(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form(), name="inner"))
        await api.engine.workflows.register(flow(child("a", "inner")))
        parent = await api.engine.executions.start("flow", wait="rest")
        (point,) = await api.engine.points.list(parent.id)
        await until_child(api.engine, point.point.child, "paused")
        (reason,) = (await api.get(f"/executions/{parent.id}/why")).json["reasons"]

    assert reason["execution"] == point.point.child
    assert [one["kind"] for one in reason["because"]] == ["form"]


@pytest.mark.parametrize(
    ("path", "of"),
    [
        ("/executions/paused", "executions"),
        ("/pause-points", "items"),
        ("/pause-points?for=me", "items"),
        ("/api/workflows/flow/paused", "executions"),
    ],
)
async def test_a_page_of_what_is_paused_has_so_many_bytes(tmp_path: Path, path: str, of: str) -> None:
    async with served(tmp_path, settings=replace(UNLIMITED, page_bytes=5_000)) as api:
        await api.engine.workflows.register(flow(form(response="${input}")))
        for number in range(5):
            await api.engine.executions.start("flow", f"{number}" * 2_000, wait="rest")
        sizes, seen, cursor = [], [], ""
        while True:
            page = (await api.get(f"{path}{'&' if '?' in path else '?'}limit=4{cursor}")).json
            sizes.append(len(page[of]))
            seen += [msgspec.json.encode(one) for one in page[of]]
            if page["next"] is None:
                break
            cursor = f"&cursor={page['next']}"

    assert max(sizes) < 4
    assert sorted(next(n for n in range(5) if str(n).encode() * 2_000 in one) for one in seen) == [0, 1, 2, 3, 4]


async def test_events_are_found_by_node_type_and_number_from_either_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_search, "PART", 3)
    monkeypatch.setattr(event_search, "MOST_READ", 6)
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(form("ask", schema={}), form("more", schema={}), end(1)))
        started = await api.engine.executions.start("flow", wait="rest")
        (point,) = await api.engine.points.list(started.id)
        await api.post(f"/pause-points/{point.point.id}/answer", {"data": 1})
        await until_status(api.engine, started.id, "paused")

        async def found(query: str) -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = []
            following = ""
            while True:
                page = (await api.get(f"/executions/{started.id}/history?limit=2{query}{following}", as_="viewer")).json
                items += page["items"]
                assert len(page["items"]) <= 2
                if page["next"] is None:
                    return items
                following = f"&cursor={page['next']}"

        log = await found("")
        assert [one["seq"] for one in log] == list(range(len(log)))
        assert await found("&order=newest") == log[::-1]
        assert await found("&since=2&until=5&order=newest") == log[5:1:-1]
        assert await found("&since=5&until=2") == []
        opened = [one for one in log if one["type"] == "PausePointOpened"]
        assert await found("&type=PausePointOpened") == opened
        assert await found("&type=PausePointOpened&order=newest") == opened[::-1]
        of_point = {one["data"]["point"] for one in opened if one["context_id"] == "ask"}
        of_ask = [one for one in log if one["context_id"] == "ask" or one["data"].get("point") in of_point]
        assert {"PausePointAnswered", "PausePointApplied"} <= {one["type"] for one in of_ask}
        assert await found("&context_id=ask") == of_ask
        assert await found("&context_id=ask&type=PausePointApplied,NodeCompleted&order=newest") == [
            one for one in of_ask[::-1] if one["type"] in ("PausePointApplied", "NodeCompleted")
        ]
        wrong = await api.get(f"/executions/{started.id}/history?type=Nothing", as_="viewer")
        assert (wrong.status, wrong.json["code"]) == (400, "invalid_parameter")
