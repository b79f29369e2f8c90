"""Pauses in loops: each round has its own, and what was said in one round never reaches another."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from tests.api.harness import listening, served
from tests.api.scenarios.scene import (
    BEN,
    EVE,
    MIA,
    answer,
    audited,
    branches,
    output,
    paused,
    points,
    resume,
    rounds,
    save,
    settled,
    start,
)
from tests.runtime.harness import HOUR, HandWound, Held, approval, call, end, engine_on, flow, form

pytestmark = pytest.mark.usefixtures("each_database")


async def test_pauses_in_nested_loops_each_stand_in_their_own_round(tmp_path: Path) -> None:
    inner = rounds("inner", 3, form(schema={}), collect="${nodes.ask.n}")
    async with served(tmp_path) as api:
        await save(api, flow(rounds("outer", 2, inner, collect="${nodes.inner}"), end("${nodes.outer}")))
        id_ = (await start(api))["id"]
        seen: list[str] = []
        for outer, round_ in ((outer, round_) for outer in range(2) for round_ in range(3)):
            context = f"ask:outer.{outer}:inner.{round_}"
            ((point_context, point),) = (await points(api, id_)).items()
            assert point_context == context
            assert (point["node"], point["loop_scope"]) == ("ask", {"node": "inner", "iteration": round_})
            (listed,) = await paused(api)
            assert (listed["totalPauseCount"], listed["resumedCount"]) == (len(seen) + 1, len(seen))
            assert listed["pauseScope"] == "execution"
            assert listed["pausePoints"][-1]["loopScope"] == {"loopId": "inner", "iteration": round_}
            seen.append(point["id"])
            ahead = await resume(api, id_, f"ask:outer.{outer + 1}:inner.{round_}")
            assert (ahead.status, ahead.code) == (409, "snapshot_pending")
            assert (await resume(api, id_, context, {"n": 10 * outer + round_})).status == 202
            await settled(api, id_)
        assert await output(api, id_) == [[0, 1, 2], [10, 11, 12]]
        assert len(set(seen)) == 6


async def test_a_parallel_in_a_loop_in_a_parallel_keeps_its_places(tmp_path: Path) -> None:
    inside = branches("pair", left=[form("l", schema={})], right=[form("r", schema={})])
    outside = branches(
        "both", loops=[rounds("again", 2, inside, collect="${nodes.pair}")], asks=[form("own", schema={})]
    )
    async with served(tmp_path) as api:
        await save(api, flow(outside, end("${nodes.both}")))
        id_ = (await start(api))["id"]
        for round_ in range(2):
            where = f"both.loops:again.{round_}:pair"
            shown = await points(api, id_)
            assert set(shown) == {f"l:{where}.left", f"r:{where}.right", "own:both.asks"}
            right = shown[f"r:{where}.right"]
            assert right["parallel_scope"] == {"node": "pair", "index": 1, "count": 2}
            assert right["loop_scope"] == {"node": "again", "iteration": round_}
            for side in ("right", "left"):
                assert (await resume(api, id_, f"{side[0]}:{where}.{side}", [round_, side])).status == 202
                await settled(api, id_)
        assert (await resume(api, id_, "own:both.asks", "own")).status == 202
        one, two = ({"left": [number, "left"], "right": [number, "right"]} for number in range(2))
        assert await output(api, id_) == {"loops": [one, two], "asks": "own"}


LOOP: dict[str, Any] = flow(
    rounds("again", 3, approval(next={"approved": "yes", "rejected": "yes"}), call("yes", join="any")), end("done")
)


@pytest.mark.parametrize("way", ["approve", "reject", "answer"])
async def test_a_decision_never_reaches_the_pause_of_the_next_round(tmp_path: Path, way: str) -> None:
    async def work() -> None:
        pass

    def deciding(point: str, approved: bool) -> tuple[str, dict[str, Any]]:
        if way == "answer":
            return f"/pause-points/{point}/answer", {"approved": approved}
        return f"/approvals/{point}/{way if approved else ({'approve', 'reject'} - {way}).pop()}", {}

    async with served(tmp_path, work) as api:
        await save(api, LOOP)
        id_ = (await start(api))["id"]
        (first,) = (await points(api, id_)).values()
        path, body = deciding(first["id"], approved=True)
        assert (await api.post(path, body, as_=MIA, key="k")).status == 201
        await settled(api, id_)
        ((context, second),) = (await points(api, id_)).items()
        assert (context, second["id"] != first["id"]) == ("review:again.1", True)

        again = await api.post(path, body, as_=MIA)  # the same, without a key: nothing is done
        replayed = await api.post(path, body, as_=MIA, key="k")
        other = await api.post(path, body, as_=BEN)
        changed = await api.post(*deciding(first["id"], approved=False), as_=MIA)
        cancelled = await api.post(f"/pause-points/{first['id']}/cancel", as_=MIA)
        by_place = await api.post(f"/api/resume/flow/{id_}/review:again.0", {"approved": True}, as_=EVE)

        assert (again.status, replayed.status) == (200, 201)
        for refused in (other, changed, cancelled, by_place):
            assert (refused.status, refused.code) == (409, "already_answered")
            assert refused.json["winner"]["by"] == "mia"
        assert await points(api, id_) == {"review:again.1": second}
        assert second["decisions"] == []
        assert len(await audited(api, id_)) == 2


async def test_an_answer_to_a_point_that_was_opened_again_does_not_reach_the_later_one(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await save(api, flow(form(schema={}), form("more", schema={}), end("${nodes.ask}")))
        id_ = (await start(api))["id"]
        old = (await points(api, id_))["ask"]
        await answer(api, old["id"], "first")
        await settled(api, id_)
        rewound = await api.post(f"/executions/{id_}/rewind", {"to": "ask"}, as_=MIA)
        assert rewound.status == 200
        await settled(api, id_)
        ((context, opened),) = (await points(api, id_)).items()
        assert (context, opened["id"] != old["id"]) == ("ask", True)

        for as_, data in ((MIA, "first"), (MIA, "second"), (BEN, "first")):
            late = await answer(api, old["id"], data, as_)
            assert late.status in (200, 409), late.body
        assert await points(api, id_) == {"ask": opened}
        assert (await answer(api, opened["id"], "second")).status == 201
        await settled(api, id_)
        await answer(api, (await points(api, id_))["more"]["id"])
        assert await output(api, id_) == "second"


async def test_an_answer_to_what_has_expired_does_not_reach_the_next_round(tmp_path: Path) -> None:
    clock = HandWound()
    late = form(schema={}, deadline="1h", on_deadline="continue")
    async with engine_on(clock.store(tmp_path)) as engine, listening(engine) as api:
        await save(api, flow(rounds("again", 2, late, collect="${nodes.ask}"), end("${nodes.again}")))
        id_ = (await start(api))["id"]
        (first,) = (await points(api, id_)).values()
        clock.skip(engine, 2 * HOUR)
        while first["id"] in {one["id"] for one in (await points(api, id_)).values()}:
            await settled(api, id_)
        await settled(api, id_)
        (second,) = (await points(api, id_)).values()
        for gone in (await answer(api, first["id"], 1), await resume(api, id_, "ask:again.0", 1)):
            assert (gone.status, gone.code) == (410, "expired")
        assert await points(api, id_) == {"ask:again.1": second}
        assert (await resume(api, id_, "ask:again.1", 2)).status == 202
        assert await output(api, id_) == [None, 2]


async def test_a_place_in_a_loop_that_runs_is_pending_until_it_is_reached(tmp_path: Path) -> None:
    work = Held()
    async with served(tmp_path, work) as api:
        await save(api, flow(rounds("again", 2, call("first", next="ask"), form(schema={}))))
        id_ = (await start(api, wait=False))["id"]
        begun = await work.begun()
        pending = await resume(api, id_, "ask:again.0")
        assert (pending.status, pending.code) == (409, "snapshot_pending")
        begun.returns()
        assert (await settled(api, id_))["status"] == "paused"
        assert (await resume(api, id_, "ask:again.0")).status == 202
