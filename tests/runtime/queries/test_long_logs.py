"""Long logs are read in slices, and what is told of them comes in pages: nobody holds up everybody else by reading.

Work is counted, not timed: the events that are taken between two turns of the event loop.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from layover.core.engine.evolve import fold
from layover.runtime.execution import replay
from layover.runtime.queries.node_executions import Telling
from tests.runtime.harness import child, engine_at, fan_out, flow, form, until_status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from layover.model.executions import Execution
    from layover.runtime.runtime import Runtime

ITEMS = 1_500
MANY = {
    "name": "many",
    "nodes": [
        {
            "id": "each",
            "type": "loop",
            "times": ITEMS,
            "body": [{"id": "one", "type": "compute", "output": "${index}"}],
            "collect": None,
        }
    ],
}


class Turns:
    """Counts steps of work, and the most of them between two turns of the event loop."""

    def __init__(self) -> None:
        self.most = self.total = 0
        self._since = 0

    def count(self, steps: int = 1) -> None:
        if not self._since:
            asyncio.get_running_loop().call_soon(self._turn)
        self._since += steps
        self.total += steps
        self.most = max(self.most, self._since)

    def _turn(self) -> None:
        self._since = 0


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    counted = Turns()
    take = Telling.take

    def counted_fold(state: object, entries: list[object]) -> object:
        counted.count(len(entries))
        return fold(state, entries)  # type: ignore[arg-type]  # passed on as it is

    def counted_take(self: Telling, at: int, event: object) -> None:
        counted.count()
        take(self, at, event)  # type: ignore[arg-type]  # passed on as it is

    monkeypatch.setattr(replay, "fold", counted_fold)
    monkeypatch.setattr(Telling, "take", counted_take)
    return counted


async def _run(engine: Runtime) -> Execution:
    await engine.workflows.register(MANY)
    return await engine.executions.start("many", wait="end")


@pytest.mark.parametrize("asked", ["get", "nodes", "legs", "graph", "why"])
async def test_reading_a_long_log_lets_the_event_loop_go_on(tmp_path: Path, turns: Turns, asked: str) -> None:
    async with engine_at(tmp_path, snapshot_every=1_000_000, snapshot_at_rest=1_000_000) as engine:
        done = await _run(engine)
        assert done.last_seq > 3 * ITEMS
    async with engine_at(tmp_path) as engine:  # one that knows nothing of it yet
        turns.total = turns.most = 0
        await getattr(engine.queries, asked)(done.id)
        assert turns.total >= done.last_seq
        assert turns.most <= 2 * replay.SLICE


async def test_a_search_by_outputs_lets_the_event_loop_go_on(tmp_path: Path, turns: Turns) -> None:
    async with engine_at(tmp_path, snapshot_every=1_000_000, snapshot_at_rest=1_000_000) as engine:
        done = await _run(engine)
    async with engine_at(tmp_path) as engine:
        turns.total = turns.most = 0
        found = await engine.lists.list(conditions=["nodes.each=[]"])
        assert [row.head.execution_id for row in found] in ([], [done.id])
        assert turns.total >= done.last_seq
        assert turns.most <= 2 * replay.SLICE


async def test_nodes_and_legs_come_in_pages_for_which_the_log_is_read_once(tmp_path: Path, turns: Turns) -> None:
    async with engine_at(tmp_path) as engine:
        done = await _run(engine)
        turns.total = 0
        found = [node.context_id for node in await engine.queries.nodes(done.id, 0, 1_000)]
        found += [node.context_id for node in await engine.queries.nodes(done.id, 1_000, 1_000)]
        assert found == ["each", *(f"one:each.{number}" for number in range(ITEMS))]
        assert [leg.depth for leg in await engine.queries.legs(done.id)] == list(range(done.resume_count + 1))
        assert await engine.queries.nodes(done.id, 5_000) == []
        assert turns.total == done.last_seq + 1


async def test_a_view_that_takes_too_much_memory_is_not_kept(tmp_path: Path, turns: Turns) -> None:
    async with engine_at(tmp_path, log_view_bytes=1_000) as engine:
        done = await _run(engine)
        turns.total = 0
        for _ in range(2):
            assert len(await engine.queries.nodes(done.id, limit=5)) == 5
        assert turns.total == 2 * (done.last_seq + 1)


async def test_changing_the_output_of_a_returned_node_changes_no_later_result(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register({"name": "w", "nodes": [{"id": "a", "type": "compute", "output": {"n": [1]}}]})
        done = await engine.executions.start("w", wait="end")
        (node,) = await engine.queries.nodes(done.id)
        assert isinstance(node.output, dict)
        node.output["n"].append(2)
        assert (await engine.queries.nodes(done.id))[0].output == {"n": [1]}


async def test_an_execution_that_has_gone_on_is_read_again(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(
            {"name": "w", "nodes": [{"id": "ask", "type": "form", "next": "z"}, {"id": "z", "type": "end"}]}
        )
        waiting = await engine.executions.start("w", wait="rest")
        assert [node.status for node in await engine.queries.nodes(waiting.id)] == ["waiting"]
        await engine.control.cancel(waiting.id)
        await engine.executions.wait(waiting.id)
        assert "waiting" not in [node.status for node in await engine.queries.nodes(waiting.id)]


async def test_an_execution_lists_the_first_things_that_it_waits_for(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(fan_out(form(), over="input")))
        waiting = await engine.executions.start("flow", list(range(250)), wait="rest")
        told = await engine.queries.why(waiting.id)
        assert len(waiting.waiting_on) == 100
        assert (len(told.reasons), told.left_out) == (100, 150)
        assert told.summary.endswith("(and 249 more)")


async def test_why_asks_so_many_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), name="inner"))
        await engine.workflows.register(flow(fan_out(child("c", "inner"), over="input")))
        started = await engine.executions.start("flow", list(range(120)))
        await until_status(engine, started.id, "waiting")
        loaded: list[str] = []
        load = engine.instance.store.queries.load

        async def counted(ids: Sequence[str]) -> Sequence[object]:
            loaded.extend(ids)
            return await load(ids)

        monkeypatch.setattr(engine.instance.store.queries, "load", counted)
        told = await engine.queries.why(started.id)
        assert (len(told.reasons), told.left_out) == (100, 20)
        assert len(loaded) <= 100
