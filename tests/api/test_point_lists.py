"""Lists of pause points and inboxes over HTTP."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from tests.api.acting import resting
from tests.api.harness import served
from tests.runtime.harness import (
    approval,
    delay,
    fan_out,
    flow,
    form,
)

pytestmark = pytest.mark.usefixtures("each_database")


async def test_points_are_listed_by_what_they_are(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        one = await resting(api, flow(form(), name="one"))
        two = await resting(api, flow(approval(), name="two"))
        three = await resting(api, flow(delay(), name="three"))
        await api.engine.control.cancel(three["id"])

        async def listed(query: str) -> list[str]:
            answered = await api.get(f"/pause-points{query}", as_="viewer")
            assert answered.status == 200, answered.body
            return [item["execution_id"] for item in answered.json["items"]]

        assert await listed("") == [one["id"], two["id"], three["id"]]
        assert await listed("?status=open") == [one["id"], two["id"]]
        assert await listed("?status=open&status=cancelled&kind=timer") == [three["id"]]
        assert await listed("?workflow=two") == [two["id"]]
        assert await listed(f"?execution_id={one['id'].upper()}") == [one["id"]]
        assert await listed("?kind=form&workflow=two") == []


async def test_a_long_list_comes_in_pages(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await resting(api, flow(fan_out(form())), [1] * 7)
        seen: list[str] = []
        query, sizes = "?limit=3", []
        while True:
            page = (await api.get(f"/pause-points{query}")).json
            seen += [item["context_id"] for item in page["items"]]
            sizes.append(len(page["items"]))
            if page["next"] is None:
                break
            query = f"?limit=3&cursor={page['next']}"

    assert sizes == [3, 3, 1]
    assert sorted(seen) == [f"ask:each.{number}" for number in range(7)]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "invalid_parameter"),
        ("limit=ten", "invalid_parameter"),
        ("kind=pause", "invalid_parameter"),
        ("status=closed", "invalid_parameter"),
        ("for=you", "invalid_parameter"),
        ("workflow=a%00b", "invalid_parameter"),
        ("colour=red", "invalid_parameter"),
        ("cursor=here", "malformed_cursor"),
        ("execution_id=7", "malformed_id"),
    ],
)
async def test_a_list_that_cannot_be_asked_for_is_refused(tmp_path: Path, query: str, code: str) -> None:
    async with served(tmp_path) as api:
        refused = await api.get(f"/pause-points?{query}")
        approvals = await api.get(f"/approvals?{query}")

    assert (refused.status, refused.code) == (400, code)
    assert approvals.status == 400


async def test_a_limit_that_is_too_large_is_as_large_as_may_be(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await resting(api, flow(fan_out(form())), [1] * 101)
        answered = await api.get("/pause-points?limit=1000000")

    assert len(answered.json["items"]) == 100
    assert answered.json["next"] is not None


async def test_the_inbox_has_what_the_core_would_let_one_answer(tmp_path: Path) -> None:
    nodes = [
        approval("anybody"),
        approval("mia", approvers={"users": ["mia"]}),
        approval("boss", approvers={"roles": ["boss"]}),
        form("word"),
        form("hers", approvers={"users": ["mia"]}),
        delay("rest"),
    ]
    branches = [{"id": f"b{index}", "body": [node]} for index, node in enumerate(nodes)]
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow({"id": "all", "type": "parallel", "branches": branches}))
        await api.engine.executions.start("flow", wait="rest")

        async def inbox(as_: str, query: str = "") -> set[str]:
            answered = await api.get(f"/pause-points?for=me{query}", as_=as_)
            assert answered.status == 200, answered.body
            return {item["node"] for item in answered.json["items"]}

        assert await inbox("mia:approver") == {"anybody", "mia", "word", "hers"}
        assert await inbox("mia:operator") == {"word", "hers"}
        assert await inbox("ben:approver,boss") == {"anybody", "boss", "word"}
        assert await inbox("ben:viewer") == set()
        assert await inbox("admin") == {"anybody", "word"}
        assert await inbox("mia:approver", "&kind=form") == {"word", "hers"}
        assert await inbox("mia:approver", "&status=applied") == set()


async def test_an_inbox_is_found_behind_many_that_are_not_ones_own(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await resting(api, flow(fan_out(form(approvers={"users": ["ben"]})), name="his"), [1] * 150)
        hers = await resting(api, flow(fan_out(form(approvers={"users": ["mia"]})), name="hers"), [1] * 3)
        page = (await api.get("/pause-points?for=me&limit=2", as_="mia:operator")).json
        rest = (await api.get(f"/pause-points?for=me&limit=2&cursor={page['next']}", as_="mia:operator")).json

    found: list[dict[str, Any]] = [*page["items"], *rest["items"]]
    assert [item["execution_id"] for item in found] == [hers["id"]] * 3
    assert rest["next"] is None


async def test_points_are_listed_by_who_asked_and_by_who_has_decided(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await api.engine.workflows.register(flow(approval(), name="one"))
        started = []
        for who in ("mia:operator", "ben:operator", "mia:operator"):
            begun = await api.post("/executions", {"workflow": "one", "input": {}, "wait": "10s"}, as_=who)
            started.append(begun.json["id"])

        async def listed(query: str, as_: str) -> list[str]:
            answered = await api.get(f"/pause-points?{query}", as_=as_)
            assert answered.status == 200, answered.body
            return [item["execution_id"] for item in answered.json["items"]]

        assert await listed("requested_by=me&status=open", "mia:viewer") == [started[0], started[2]]
        assert await listed("requested_by=me&status=open", "zoe:viewer") == []
        points = {one["execution_id"]: one["id"] for one in (await api.get("/pause-points")).json["items"]}
        for execution, who in zip(started, ("zoe:approver", "zoe:approver", "ann:approver"), strict=True):
            await api.post(f"/approvals/{points[execution]}/approve", {}, as_=who)
            await api.get(f"/executions/{execution}?wait=10s&until=end")

        assert await listed("requested_by=me&status=open", "mia:viewer") == []
        assert await listed("decided_by=me", "zoe:viewer") == [started[1], started[0]]
        assert await listed("decided_by=me", "ann:viewer") == [started[2]]
        assert await listed("decided_by=me&workflow=other", "ann:viewer") == []
        first = (await api.get("/pause-points?decided_by=me&limit=1", as_="zoe:viewer")).json
        second = (await api.get(f"/pause-points?decided_by=me&limit=1&cursor={first['next']}", as_="zoe:viewer")).json
        both = await api.get("/pause-points?decided_by=me&for=me", as_="zoe:viewer")

    assert [page["items"][0]["execution_id"] for page in (first, second)] == [started[1], started[0]]
    assert (both.status, both.code) == (400, "invalid_parameter")


async def test_what_was_taken_back_is_not_decided(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        begun = await resting(api, flow({**approval(), "undo": "1h"}, name="one"))
        (point,) = (await api.get(f"/pause-points?execution_id={begun['id']}")).json["items"]
        await api.post(f"/approvals/{point['id']}/approve", {}, as_="zoe:approver")
        decided = (await api.get("/pause-points?decided_by=me", as_="zoe:approver")).json["items"]
        await api.post(f"/pause-points/{point['id']}/take-back", {}, as_="zoe:approver")
        after = (await api.get("/pause-points?decided_by=me", as_="zoe:approver")).json["items"]

    assert [one["id"] for one in decided] == [point["id"]]
    assert after == []
