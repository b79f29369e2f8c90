"""Executions are found by what they gave, keep and began with; one call looks only for so long."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import Any

import pytest

from layover.core.ids import child_id
from layover.errors import InvalidInput
from layover.ports.view_records import ExecutionFilter
from layover.runtime.operations.start_options import Options
from layover.runtime.runtime import Runtime  # noqa: TC001 - a helper names it
from tests.runtime.harness import address_in, child, end, engine_at, flow, form
from tests.runtime.tables import Tables

pytestmark = pytest.mark.usefixtures("each_database")

NEVER = 10**9


def uid(n: int) -> str:
    """Return an id that comes behind those of lower numbers: what begins in one moment is in the order of its ids."""
    return f"00000000-0000-4000-8000-{n:012x}"


async def listed(engine: Runtime, *conditions: str, **wanted: Any) -> list[str]:
    return [row.head.execution_id for row in await engine.lists.list(conditions=conditions, **wanted)]


async def one_of_each(engine: Runtime) -> tuple[str, str, str, str]:
    """Begin one that is over, one that asks, one that is not begun yet, and one that has failed."""
    keep: dict[str, object] = {"id": "keep", "type": "set", "values": {"total": "${input.n * 2}"}}
    await engine.workflows.register(
        flow(keep, end({"n": "${vars.total}", "list": [1, {"a": 2.5}], "text": "gold bar"}))
    )
    await engine.workflows.register(flow(keep, form(), name="asks"))
    await engine.workflows.register(flow(end("${1 / 0}"), name="fails"))
    options = Options(trigger={"by": "cron", "at": [7]})
    over = (await engine.executions.start("flow", {"n": 6}, id=uid(1), wait="end")).id
    asks = (
        await engine.executions.start("asks", {"n": 7, "deep": {"a": [1]}}, id=uid(2), wait="rest", options=options)
    ).id
    later = (await engine.executions.start("asks", {"n": 8}, id=uid(3), options=Options(delay="1h"))).id
    failed = (await engine.executions.start("fails", {"n": 9}, id=uid(4), wait="end")).id
    return over, asks, later, failed


async def test_an_execution_is_found_by_whatever_can_be_asked_of_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        over, asks, later, failed = await one_of_each(engine)
        assert await listed(engine, "output.n=12") == [over]
        assert await listed(engine, "output.n>=12.0", "output.text~gold") == [over]
        assert await listed(engine, "output.n>12") == []
        assert await listed(engine, 'output.list~{"a": 2.5}') == [over]
        assert await listed(engine, "output.list.1.a<2.6") == [over]
        assert await listed(engine, "output!=null") == [failed, later, asks, over]
        assert await listed(engine, "output=null") == []
        assert await listed(engine, "vars.total=14") == [asks]
        assert await listed(engine, "vars.total>=12") == [asks, over]
        assert await listed(engine, "vars.total!=12") == [failed, later, asks]
        assert await listed(engine, "trigger.by=cron") == [asks]
        assert await listed(engine, "trigger.at~7") == [asks]
        assert await listed(engine, "input.n>7") == [failed, later]
        assert await listed(engine, "input.n=7") == [asks]
        assert await listed(engine, 'input={"deep": {"a": [1]}}') == [asks]
        assert await listed(engine, "input.n>=7", "vars.total!=14", "output!=1") == [failed, later]
        assert await listed(engine, "input.n=7", "input.n=8") == []
        assert await listed(engine, "input.n!=7", where={"n": 8}) == [later]
        assert await listed(engine, "input.n=8", where={"n": 8}) == [later]
        assert await listed(engine, "input.n=7", where={"n": 8}) == []


async def test_it_is_found_by_what_its_nodes_gave(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form("ask"), form("again")))
        ids = [(await engine.executions.start("flow", {"n": n}, id=uid(n), wait="rest")).id for n in (1, 2, 3)]
        for n, id_ in enumerate(ids[:2], 1):
            (row,) = await engine.points.list(id_)
            await engine.answers.answer(row.point.id, {"size": n, "to": {"name": "Ü"}})
            await engine.executions.wait(id_, "rest")
        assert await listed(engine, "nodes.ask.size=2") == [ids[1]]
        assert await listed(engine, "nodes.ask.size<2") == [ids[0]]
        assert await listed(engine, "nodes.ask.to.name=Ü") == [ids[1], ids[0]]
        assert await listed(engine, "nodes.ask.size!=2") == [ids[2], ids[0]]
        assert await listed(engine, "nodes.again!=null") == ids[::-1]
        assert await listed(engine, "nodes.nothing=1") == []


async def test_what_is_asked_besides_counts_too(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        over, asks, later, failed = await one_of_each(engine)
        assert await listed(engine, "output!=1", status=["completed", "paused"]) == [asks, over]
        assert await listed(engine, "output!=1", workflow="asks") == [later, asks]
        assert await listed(engine, "output!=1", limit=2) == [failed, later]
        found = await engine.lists.find(ExecutionFilter(limit=3), conditions=["output!=1"])
        assert [row.head.execution_id for row in found.rows] == [failed, later, asks]
        assert await listed(engine, "output!=1", after=found.after) == [over]
        for limit in (0, -1):
            assert await listed(engine, "output!=1", limit=limit) == []
            assert (await engine.lists.find(ExecutionFilter(limit=limit))).after is None


async def test_children_are_found_by_their_parent(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("${input.n}"), name="echo"))
        await engine.workflows.register(flow(child("a", "echo", input={"n": 7}), end("${nodes.a}")))
        started = await engine.executions.start("flow", wait="end")
        await engine.executions.start("echo", {"n": 7}, wait="end")
        for conditions in ([], ["output=7"]):
            found = await engine.lists.find(ExecutionFilter(parent_id=started.id), conditions=conditions)
            assert [row.head.execution_id for row in found.rows] == [child_id(started.id, "a", 1)]
        assert (await engine.lists.find(ExecutionFilter(parent_id=started.id), conditions=["output=8"])).rows == ()


@pytest.mark.parametrize("conditions", [[], ["input.n>=0"], ["input.n>=0", "output.n>=0"]], ids=repr)
@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 100])
async def test_pages_together_are_all_and_the_last_one_says_so(
    tmp_path: Path, conditions: list[str], limit: int
) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end({"n": "${input.n}"})))
        ids = [(await engine.executions.start("flow", {"n": n}, id=uid(n), wait="end")).id for n in range(6)]
        found = await engine.lists.find(ExecutionFilter(limit=limit), conditions=conditions)
        pages = [[row.head.execution_id for row in found.rows]]
        while found.after is not None:
            found = await engine.lists.find(ExecutionFilter(limit=limit, after=found.after), conditions=conditions)
            pages.append([row.head.execution_id for row in found.rows])
        assert [id_ for page in pages for id_ in page] == ids[::-1]
        assert len(pages) == -(-6 // limit)


async def test_one_call_looks_at_a_thousand_and_says_where_to_go_on(tmp_path: Path) -> None:
    async with engine_at(tmp_path, index_after=NEVER) as engine:
        await engine.workflows.register(flow(form()))
        first = (await engine.executions.start("flow", {"n": 0}, id=uid(0), wait="rest", options=Options(trigger=1))).id
        for n in range(1, 1_000):
            await engine.executions.start("flow", {"n": n}, id=uid(n), options=Options(delay="1h"))
        for asked in ("trigger=1", "trigger!=1"):
            assert (await engine.lists.find(ExecutionFilter(limit=1_000), conditions=[asked])).after is None
        await engine.executions.start("flow", {"n": 1_000}, id=uid(1_000), options=Options(delay="1h"))
        found = await engine.lists.find(conditions=["trigger=1"])
        assert found.rows == ()
        assert found.after is not None
        assert found.after[1] == uid(1)
        rest = await engine.lists.find(ExecutionFilter(after=found.after), conditions=["trigger=1"])
        assert [row.head.execution_id for row in rest.rows] == [first]
        assert rest.after is None
        assert await listed(engine, "trigger=1") == [first]


async def test_a_log_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end({"n": "${input.n}"})))
        ids = [(await engine.executions.start("flow", {"n": n}, id=uid(n), wait="end")).id for n in range(3)]
        tables = Tables(address_in(tmp_path))
        tables.change("UPDATE events SET body = $1 WHERE execution_id = $2", b"[[", tables.id(ids[1]))
        assert await listed(engine, "output.n>=0") == [ids[2], ids[0]]
        assert await listed(engine, "input.n>=0") == ids[::-1]


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        (["total"], "is not a condition"),
        (["state.a=1"], "begins with one of input, output, vars, trigger, nodes"),
        (["input.a=1"] * 51, "There are 51 conditions; at most 50"),
        (["input." + ".".join("a" * 40) + "=1"], "deeper than 32 levels"),
        (["input.a=" + "x" * 8_000, "input.b=" + "x" * 8_000], "at most 8,192 can be searched for"),
    ],
    ids=lambda value: value[0][:20] if isinstance(value, list) else "",
)
async def test_what_is_no_condition_is_refused_with_the_reason(tmp_path: Path, conditions: list[str], why: str) -> None:
    async with engine_at(tmp_path) as engine:
        for ask in (engine.lists.list, engine.lists.find):
            with pytest.raises(InvalidInput, match=why) as refused:
                await ask(conditions=conditions)
            assert refused.value.code == "invalid_filter"
