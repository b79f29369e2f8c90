"""States that an engine has in memory and that are still what the log says: read without a replay, never when stale."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from tests.runtime.harness import Scripted, call, end, engine_at, flow, form

if TYPE_CHECKING:
    from layover.ports.view_records import Loaded
    from layover.runtime.execution.state_cache import CachedState
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

ASK = flow(form(), end("${nodes.ask.n}"))


def count_replays(engine: Runtime, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what grows by the id of every execution whose log is replayed."""
    replayed: list[str] = []
    replay = engine.instance.driver.state_of

    async def counted(loaded: Loaded) -> CachedState:
        replayed.append(loaded.head.execution_id)
        return await replay(loaded)

    monkeypatch.setattr(engine.instance.driver, "state_of", counted)
    return replayed


async def test_a_resume_replays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(ASK)
        started = await engine.executions.start("flow", wait="rest")
        replayed = count_replays(engine, monkeypatch)
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {"n": [1]}, by="ann")
        result = await engine.executions.result(started.id)
        assert isinstance(result, list)
        result.append(2)  # it is the caller's own
        assert (await engine.queries.get(started.id)).output == await engine.executions.result(started.id) == [1]
        assert (await engine.executions.wait(started.id)).finished_at is not None
        assert replayed == []


async def test_a_cached_state_that_another_engine_has_changed_is_not_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_at(tmp_path, poll=3_600_000) as engine, engine_at(tmp_path) as other:
        await engine.workflows.register(ASK)
        started = await engine.executions.start("flow", wait="rest")
        replayed = count_replays(engine, monkeypatch)
        assert (await engine.queries.get(started.id)).status == "paused"
        assert replayed == []
        (row,) = await other.points.list(started.id)
        await other.answers.answer(row.point.id, {"n": 1}, by="ann")
        assert await other.executions.result(started.id) == 1
        assert (await engine.queries.get(started.id)).output == 1
        assert await engine.executions.result(started.id) == 1


async def test_an_end_that_was_reopened_elsewhere_is_not_returned(tmp_path: Path) -> None:
    failing, mending = Scripted(RuntimeError("no")), Scripted("well")
    async with engine_at(tmp_path, failing, poll=3_600_000) as engine, engine_at(tmp_path, mending) as other:
        await engine.workflows.register(flow(call("a")))
        assert (await engine.executions.start("flow", key="k", wait="end")).status == "failed"
        (found,) = await engine.lists.list()
        id_ = found.head.execution_id
        await other.control.retry(id_)
        assert await other.executions.result(id_) == "well"
        assert await engine.executions.result(id_) == "well"
        assert (await engine.queries.get(id_)).status == "completed"
