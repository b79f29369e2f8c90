"""What others see of a pause point is what its log says, also when no event names the point."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.ids import child_id
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import Held, child, delay, end, engine_at, flow, form, until_child, until_status
from tests.runtime.operations.test_callbacks import callback, waiting

pytestmark = pytest.mark.usefixtures("each_database")

SIGNAL: dict[str, object] = {"id": "a", "type": "wait_signal", "signal": "paid"}


async def test_a_child_is_not_shown_as_held_once_its_parent_goes_on(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay(), name="naps"))
        await engine.workflows.register(flow(child("a", "naps")))
        started = await engine.executions.start("flow", wait="rest")
        await until_child(engine, child_id(started.id, "a", 1), "waiting")
        await engine.control.pause(started.id)
        await until_status(engine, started.id, "paused")
        (held,) = await engine.points.list(started.id)
        await engine.control.resume(started.id)
        (released,) = await engine.points.list(started.id)
        assert (held.point.held, released.point.held) == (True, False)
        assert await violations(engine.instance.store) == []


async def test_the_row_of_a_callback_keeps_what_was_replied(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(callback("a"), end(1)))
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        await engine.callbacks.reply(token, {"pallet": 7})
        await engine.executions.wait(started.id)
        (row,) = await engine.points.list(started.id, status=["applied"])
        assert (row.point.output, row.point.answered_at) == ({"pallet": 7}, row.closed_at)
        assert await violations(engine.instance.store) == []


async def test_the_row_of_a_callback_keeps_what_went_wrong(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(callback("a"), end(1)))
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        await engine.callbacks.fail(token, "Nobody is there.", retryable=False)
        await engine.executions.wait(started.id)
        (row,) = await engine.points.list(started.id, status=["applied"])
        assert row.point.error is not None
        assert row.point.error.message == "Nobody is there."


async def test_the_row_of_a_signal_keeps_what_came(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(SIGNAL, end(1)))
        started = await engine.executions.start("flow", wait="rest")
        await engine.signals.deliver("paid", "", 5, id="s1")
        await engine.executions.wait(started.id)
        (row,) = await engine.points.list(started.id, status=["applied"])
        assert isinstance(row.point.output, dict)
        assert row.point.output["data"] == 5
        assert [one["id"] for one in row.point.received.values()] == ["s1"]


async def test_the_row_of_a_child_keeps_what_it_came_to(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask}"), name="asks"))
        await engine.workflows.register(flow(child("a", "asks"), end(1)))
        started = await engine.executions.start("flow", wait="rest")
        begun = await until_child(engine, child_id(started.id, "a", 1), "paused")
        (asked,) = await engine.points.list(begun)
        await engine.answers.answer(asked.point.id, {"size": 3}, by="ann")
        await engine.executions.wait(started.id)
        (row,) = await engine.points.list(started.id, status=["applied"])
        assert row.point.output == {"size": 3}
