"""Pauses side by side: answered in any order, in line, and while the others still run."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.harness import served
from tests.api.scenarios.scene import (
    MIA,
    answer,
    branches,
    execution,
    get,
    history,
    output,
    paused,
    points,
    resume,
    save,
    settled,
    start,
)
from tests.runtime.harness import Held, Scripted, approval, call, end, fan_out, flow, form, until

if TYPE_CHECKING:
    from tests.api.harness import Answered, Api

pytestmark = pytest.mark.usefixtures("each_database")

NAMES = ("a", "b", "c")
ORDERS = list(itertools.permutations(NAMES))
SETTINGS: dict[str, Any] = {"sequential": {}, "concurrent": {"settings": {"resume": "concurrent"}}}


def three(**fields: Any) -> dict[str, Any]:
    """Return three branches that each ask and work with the answer, a join behind them, and an end."""
    bodies = {
        name: [
            form(f"ask_{name}", schema={}, next=f"use_{name}"),
            call(f"use_{name}", input={"n": "${nodes.ask_" + name + "}"}),
        ]
        for name in NAMES
    }
    return flow(branches(**bodies), call("join", "joined"), end("${nodes.all}"), **fields)


async def work(n: int) -> int:
    return n * 2


def at(name: str) -> str:
    return f"ask_{name}:all.{name}"


async def by_answer(api: Api, id_: str, name: str, data: object) -> Answered:
    return await answer(api, (await points(api, id_))[at(name)]["id"], data)


async def by_place(api: Api, id_: str, name: str, data: object) -> Answered:
    return await resume(api, id_, at(name), data)


@pytest.mark.parametrize("order", ORDERS, ids="".join)
@pytest.mark.parametrize("way", [by_answer, by_place])
async def test_every_order_of_answers_ends_in_the_same(tmp_path: Path, order: tuple[str, ...], way: Any) -> None:
    joined = Scripted("joined", name="joined")
    async with served(tmp_path, work, joined) as api:
        await save(api, three())
        id_ = (await start(api))["id"]
        for count, name in enumerate(order):
            (listed,) = await paused(api)
            assert listed["status"] == ("partially_resumed" if count else "paused")
            assert (listed["totalPauseCount"], listed["resumedCount"]) == (3, count)
            resumed = await way(api, id_, name, ord(name))
            assert resumed.status in (201, 202), resumed.body
            told = await settled(api, id_)
            assert told["resume_count"] == count + 1
            if count < 2:
                assert told["status"] == "paused"
                assert joined.calls == []
                left = {at(one) for one in order[count + 1 :]}
                assert {one["context_id"] for one in told["waiting_on"]} == left
        assert await output(api, id_) == {name: ord(name) * 2 for name in NAMES}
        assert len(joined.calls) == 1
        assert (await history(api, id_)).count(("NodeCompleted", "join")) == 1
        assert await paused(api) == []


@pytest.mark.parametrize("order", ORDERS, ids="".join)
@pytest.mark.parametrize("setting", SETTINGS)
async def test_answers_that_come_all_at_once_end_in_the_same(
    tmp_path: Path, order: tuple[str, ...], setting: str
) -> None:
    joined = Scripted("joined", name="joined")
    async with served(tmp_path, work, joined) as api:
        await save(api, three(**SETTINGS[setting]))
        id_ = (await start(api))["id"]
        resumed = await asyncio.gather(*(resume(api, id_, at(name), ord(name)) for name in order))

        assert [one.status for one in resumed] == [202] * 3
        assert await output(api, id_) == {name: ord(name) * 2 for name in NAMES}
        assert len(joined.calls) == 1
        happened = await history(api, id_)
        assert all(happened.count(("NodeCompleted", f"use_{name}:all.{name}")) == 1 for name in NAMES)


async def test_in_sequence_the_first_is_started_and_the_others_wait_in_line(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work, Scripted("joined", name="joined")) as api:
        await save(api, three())
        id_ = (await start(api))["id"]
        first = await resume(api, id_, at("b"), 1)
        of_b = await work.begun()  # what the first answer released is under way
        second, third = await resume(api, id_, at("c"), 2), await resume(api, id_, at("a"), 3)

        def line(*answered: Answered) -> list[tuple[str, int | None]]:
            return [(one.json["status"], one.json["queuePosition"]) for one in answered]

        assert line(first, second, third) == [("started", None), ("queued", 1), ("queued", 2)]
        assert (first.json["legId"] is not None, first.json["executionId"], first.json["contextId"]) == (
            True,
            id_,
            at("b"),
        )

        async def places() -> dict[str, tuple[str, int | None]]:
            shown = await points(api, id_, "open", "answered", "applied")
            (listed,) = await paused(api)
            told = {one["contextId"]: one["queuePosition"] for one in listed["pausePoints"]}
            assert told == {context: one["queue_position"] for context, one in shown.items()}
            return {context[4]: (one["status"], one["queue_position"]) for context, one in shown.items()}

        assert await places() == {"b": ("applied", None), "c": ("answered", 1), "a": ("answered", 2)}
        assert line(await resume(api, id_, at("a"), 3)) == [("queued", 2)]  # the same again keeps its place
        assert len(work.calls) == 1  # the work of one answer drains before the next is applied
        (listed,) = await paused(api)
        assert {one["contextId"][4]: one["resumeStatus"] for one in listed["pausePoints"]} == {
            "b": "resumed",
            "c": "queued",
            "a": "queued",
        }

        of_b.returns("b")
        of_c = await work.begun()
        assert of_c.given == {"n": 2}
        assert await places() == {"b": ("applied", None), "c": ("applied", None), "a": ("answered", 1)}
        of_c.returns("c")
        of_a = await work.begun()
        assert await paused(api) == []
        of_a.returns("a")
        assert await output(api, id_) == {"a": "a", "b": "b", "c": "c"}


async def test_concurrently_no_answer_waits_for_the_work_of_another(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work, Scripted("joined", name="joined")) as api:
        await save(api, three(settings={"resume": "concurrent"}))
        id_ = (await start(api))["id"]
        begun = []
        for name in ("c", "a", "b"):
            assert (await resume(api, id_, at(name), name)).status == 202
            begun.append(await work.begun())  # while those before it are still held
        assert [one.given["n"] for one in begun] == ["c", "a", "b"]
        assert {one["queue_position"] for one in (await points(api, id_, "applied")).values()} == {None}
        for one in reversed(begun):
            one.returns(one.given["n"])
        assert await output(api, id_) == {name: name for name in NAMES}


async def test_a_pause_is_answered_the_moment_it_is_visible_while_its_siblings_run(tmp_path: Path) -> None:
    work = Held()
    nodes = branches(
        asks=[form(schema={}, response={"ask": "here"}, next="after"), call("after")],
        works=[call("slow")],
    )
    async with served(tmp_path, work) as api:
        await save(api, flow(nodes, end("${nodes.all}")))
        id_ = (await start(api, wait=False))["id"]
        slow = await work.begun()
        assert (await execution(api, id_))["status"] == "running"
        (listed,) = await paused(api)
        (point,) = listed["pausePoints"]
        assert (point["snapshotReady"], point["resumeStatus"], point["response"]) == (True, "paused", {"ask": "here"})
        assert point["parallelScope"] == {"parallelId": "all", "branchIndex": 0, "branchCount": 2}
        assert listed["pauseScope"] == "branch"
        answered = await answer(api, point["pointId"], "said")
        assert (answered.status, answered.json["status"], answered.json["answer"]) == (201, "answered", "said")
        assert answered.json["snapshot_ready"] is True

        slow.returns("slow")
        (await work.begun()).returns("after")
        assert await output(api, id_) == {"asks": "after", "works": "slow"}


async def test_of_a_hundred_branches_each_is_answered_by_itself(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(fan_out(form(schema={})), end("${nodes.each}")))
        started = await start(api, list(range(100)))
        id_ = started["id"]
        assert len(started["pause_points"]) == 100
        wanted = {f"ask:each.{number}": number * number for number in range(100)}
        shown = await points(api, id_)
        assert set(shown) == set(wanted)
        assert shown["ask:each.7"]["parallel_scope"] == {"node": "each", "index": 7, "count": 100}
        # The last first, and some of them together.
        names = list(reversed(wanted))
        for some in (names[first : first + 10] for first in range(0, 100, 10)):
            answers = await asyncio.gather(*(answer(api, shown[one]["id"], wanted[one]) for one in some))
            assert {one.status for one in answers} == {201}
        assert await output(api, id_) == list(wanted.values())


async def test_a_join_after_a_resumed_branch_runs_once(tmp_path: Path) -> None:
    joined = Scripted("joined", name="joined")
    nodes = [
        call("first", "joined", next=["ask", "other", "review"]),
        form(schema={}, next="join"),
        call("other", "joined", next="join"),
        approval(next={"approved": "join", "rejected": "refused"}),
        call("join", "joined", next="finish"),
        end("refused", "refused"),
        end("${nodes.ask}"),
    ]
    async with served(tmp_path, joined) as api:
        await save(api, {"name": "flow", "nodes": nodes})
        id_ = (await start(api))["id"]
        assert len(joined.calls) == 2
        assert (await resume(api, id_, "ask", 1)).status == 202
        assert (await settled(api, id_))["status"] == "paused"
        assert len(joined.calls) == 2
        approved = await api.post(f"/api/resume/flow/{id_}/review", {"approved": True}, as_=MIA)
        assert approved.status == 202
        assert await output(api, id_) == 1
        assert [one.context_id for one in joined.calls] == ["first", "other", "join"]
        happened = await history(api, id_)
        assert (happened.count(("NodeStarted", "join")), happened.count(("NodeCompleted", "join"))) == (1, 1)
        nodes_told = (await get(api, f"/executions/{id_}/nodes"))["items"]
        assert {one["attempt"] for one in nodes_told if one["node"] == "join"} == {1}


async def test_legs_tell_which_answer_each_of_them_goes_back_to(tmp_path: Path) -> None:
    async with served(tmp_path, work, Scripted("joined", name="joined")) as api:
        await save(api, three())
        id_ = (await start(api))["id"]
        ids = []
        for name in NAMES:
            ids.append((await resume(api, id_, at(name), 1)).json["legId"])
            await settled(api, id_)
        await until(api.engine, id_, lambda head: head.status == "completed")
        legs = (await get(api, f"/executions/{id_}/legs"))["items"]
        assert [leg["id"] for leg in legs[1:]] == ids
        assert [leg["depth"] for leg in legs] == [0, 1, 2, 3]
        assert [leg["parent"] for leg in legs] == [None, *(leg["id"] for leg in legs[:-1])]
