"""Replay: the state after each event, which in the end is the state that the execution has."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.runtime.queries import replayed
from layover.runtime.queries.views import next_nodes, waiting_on
from tests.runtime.harness import end, engine_at, flow, form

SETTING: dict[str, object] = {"id": "count", "type": "set", "values": {"n": 1}, "next": "ask"}


@pytest.mark.usefixtures("each_database")
async def test_the_last_step_is_the_state_of_the_execution(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(SETTING, form("ask"), end(1)))
        started = await engine.executions.start("flow", wait="rest")
        steps = await engine.queries.replay(started.id)
        _, cached = await engine.queries.load(started.id)
    state = cached.state
    assert [one.event.seq for one in steps] == list(range(started.last_seq + 1))
    assert [one.status for one in steps][:: len(steps) - 1] == ["pending", "paused"]
    last = steps[-1]
    assert last.nodes == {"count": "completed", "ask": "waiting"}
    assert (last.variables, steps[0].variables) == ({"n": 1}, {})
    assert (last.next_nodes, last.waiting_on) == (next_nodes(state), waiting_on(state))


async def test_steps_are_the_same_wherever_they_begin(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(SETTING, form("ask"), end(1)))
        started = await engine.executions.start("flow", wait="rest")
        steps = await engine.queries.replay(started.id)
        for since in range(len(steps) + 1):
            assert await engine.queries.replay(started.id, since, 2) == steps[since : since + 2]


async def test_a_page_of_many_nodes_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replayed, "_MOST_NODES", 2)
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(SETTING, form("ask"), end(1)))
        started = await engine.executions.start("flow", wait="rest")
        first = await engine.queries.replay(started.id)
        second = await engine.queries.replay(started.id, len(first))
    assert 0 < len(first) <= started.last_seq
    assert second[0].event.seq == len(first)
