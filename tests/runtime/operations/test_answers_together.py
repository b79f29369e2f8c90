"""Answers that come at the same moment are written together; one that cannot be written fails alone."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any, cast

import pytest

from layover.core.engine.commands import Answer
from layover.errors import AnswerRefused, CallbackRefused, LayoverError
from layover.ports.records import Reserved
from tests.runtime.harness import engine_at, flow, form

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.runtime.runtime import Runtime


pytestmark = pytest.mark.usefixtures("each_database")

MALFORMED: list[object] = ["a\0b", "half \ud800", 5, None, b"bytes", ""]


def by_engine(engine: Runtime, point: object) -> Awaitable[object]:
    return engine.answers.answer(cast("str", point), {"n": 1}, by="bob")


def by_store(engine: Runtime, point: object) -> Awaitable[object]:
    return engine.instance.store.answers.reserve(Answer(point=cast("str", point), by="bob", data={"n": 1}), "", 0)


@pytest.mark.parametrize("given", [by_engine, by_store])
@pytest.mark.parametrize("malformed", MALFORMED)
async def test_a_malformed_answer_fails_alone(
    tmp_path: Path, given: Callable[[Runtime, object], Awaitable[object]], malformed: object
) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        points = await waiting(engine, 20)
        assert not isinstance(await together(engine, points, given(engine, malformed)), Reserved)


async def test_an_answer_that_cannot_be_encoded_fails_alone(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        *points, other = await waiting(engine, 21)
        bad = Answer(point=other, by="bob", comment="half \ud800", data={"n": 1})
        assert isinstance(await together(engine, points, engine.instance.store.answers.reserve(bad, "", 0)), Exception)


async def waiting(engine: Runtime, count: int) -> list[str]:
    """Return the points of so many executions."""
    for _ in range(count):
        await engine.executions.start("flow", wait="rest")
    return [row.point.id for row in await engine.points.list()]


async def together(engine: Runtime, points: list[str], bad: Awaitable[object]) -> object:
    """Answer points, and in their midst something else; return what becomes of that."""
    good: list[Awaitable[Any]] = [engine.answers.answer(point, {"n": 1}, by="ann") for point in points]
    found = await asyncio.gather(*good[:10], bad, *good[10:], return_exceptions=True)
    other = found.pop(10)
    assert [type(one) for one in found] == [Reserved] * len(points)
    return other


@pytest.mark.parametrize("malformed", MALFORMED)
async def test_no_pause_point_has_a_malformed_id(tmp_path: Path, malformed: Any) -> None:
    async with engine_at(tmp_path) as engine:
        for asked in (
            engine.answers.answer(malformed, by="ann"),
            engine.answers.delegate(malformed, "bob", by="ann"),
            engine.answers.cancel_point(malformed),
            engine.callbacks.reply(None, point=malformed or ""),
        ):
            with pytest.raises((AnswerRefused, CallbackRefused)) as refused:
                await asked
            assert refused.value.code == "unknown_point"


async def test_what_cannot_be_written_of_an_answer_is_refused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list()
        for fields in ({"by": "half \ud800"}, {"by": "ann", "comment": "half \ud800"}):
            with pytest.raises(LayoverError):
                await engine.answers.answer(row.point.id, {"n": 1}, **fields)  # type: ignore[arg-type]
