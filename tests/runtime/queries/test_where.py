"""Executions are found by what they began with, whoever began them."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.ids import child_id
from layover.core.input_index import MOST_BYTES
from layover.core.payloads import AssetRef
from layover.errors import InvalidInput
from layover.runtime.operations.start_options import Options
from layover.runtime.runtime import Runtime  # noqa: TC001 - a helper names it
from tests.runtime.harness import child, end, engine_at, flow, form

pytestmark = pytest.mark.usefixtures("each_database")

GOLD = {"customer": {"tier": "gold", "since": 2019.5}, "items": [{"sku": "A-1"}, {"sku": "B-2"}]}


def nested(levels: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for _ in range(levels - 1):
        found = {"a": found}
    return found


async def found(engine: Runtime, where: dict[str, object], workflow: str | None = None) -> set[str]:
    return {row.head.execution_id for row in await engine.lists.list(where=where, workflow=workflow)}


async def test_an_execution_is_found_by_its_input_open_or_closed(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        await engine.workflows.register(flow(form(), name="asks"))
        await engine.workflows.register(flow(form(), name="by_leg", settings={"durability": "leg"}))
        closed = (await engine.executions.start("flow", GOLD, wait="end")).id
        resting = (await engine.executions.start("asks", {**GOLD, "total": 12}, wait="rest")).id
        by_leg = (await engine.executions.start("by_leg", {**GOLD, "total": 13}, wait="rest")).id
        pending = (await engine.executions.start("asks", {"total": 12.0}, options=Options(delay="1h"))).id
        await engine.executions.start("flow", {"customer": {"tier": "silver"}}, wait="end")
        assert await found(engine, {"customer": {"tier": "gold"}}) == {closed, resting, by_leg}
        assert await found(engine, {"customer": {"tier": "gold"}}, workflow="asks") == {resting}
        assert await found(engine, {"items": [{"sku": "B-2"}], "total": 13}) == {by_leg}
        assert await found(engine, {"total": 12}) == {resting, pending}
        assert await found(engine, {"customer": {"since": 2019.5}, "total": 12}) == {resting}
        assert await found(engine, {"customer": "gold"}) == set()
        assert len(await found(engine, {})) == 5


async def test_a_child_is_found_by_what_its_parent_gave_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1), name="echo"))
        await engine.workflows.register(flow(child("a", "echo", input={"n": "${input.of}"}), end("${nodes.a}")))
        started = await engine.executions.start("flow", {"of": {"deep": [7]}}, wait="end")
        assert await found(engine, {"n": {"deep": [7]}}) == {child_id(started.id, "a", 1)}
        assert await found(engine, {"of": {"deep": [7]}}) == {started.id}


@pytest.mark.parametrize(
    "given",
    [
        *(None, 7, "n", ["n"], {}),
        *({"n": 1, "a": "x" * MOST_BYTES}, {"n": 1, "a": "\0"}, {"n": 1, "a\0": 1}, {"n": 1, "a": nested(32)}),
    ],
    ids=lambda given: repr(given)[:20],
)
async def test_an_input_that_no_search_finds_can_be_started_with(tmp_path: Path, given: object) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        started = await engine.executions.start("flow", given)
        assert {row.head.execution_id for row in await engine.lists.list()} == {started.id}
        assert await found(engine, {"n": 1}) == set()


async def test_a_file_in_an_input_is_found_by_where_it_is(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        started = await engine.executions.start(
            "flow", {"cat": AssetRef("s3://files/cat", "image/png", 51_200, "9f86", "cat.png")}
        )
        assert await found(engine, {"cat": {"$asset_ref": {"uri": "s3://files/cat"}}}) == {started.id}


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ({"a": object()}, "cannot be written as JSON"),
        ({"a": "\ud800"}, "cannot be written as JSON"),
        ({"a": "x" * MOST_BYTES}, "it has 8,200 bytes, and at most 8,192 can be searched for"),
        ({"a": "\0"}, "has the character U"),
    ],
    ids=["no JSON", "half a character", "too large", "NUL"],
)
async def test_what_cannot_be_looked_for_is_refused_with_the_reason(
    tmp_path: Path, where: dict[str, object], why: str
) -> None:
    async with engine_at(tmp_path) as engine:
        with pytest.raises(InvalidInput, match=why) as refused:
            await engine.lists.list(where=where)
        assert refused.value.code == "invalid_filter"


async def test_what_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        assert await engine.lists.list(where=nested(32)) == []
        with pytest.raises(InvalidInput, match="deeper than 32 levels"):
            await engine.lists.list(where=nested(33))
        with pytest.raises(InvalidInput, match="cannot be written as JSON"):
            await engine.lists.list(where=nested(10_000))
