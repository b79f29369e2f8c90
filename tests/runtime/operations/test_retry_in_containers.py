"""A retry of an execution that failed inside containers: effects are counted where they happen, not by the engine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import Refused, call, engine_at, fan_out, flow, form

pytestmark = pytest.mark.usefixtures("each_database")


class Recorder:
    """A function that counts its effects by what it is given; some of them fail once before they happen."""

    __name__ = "work"

    def __init__(self, *failing_once: str) -> None:
        self.effects: Counter[str] = Counter()
        self._failing = set(failing_once)

    async def __call__(self, what: str) -> str:
        if what in self._failing:
            self._failing.remove(what)
            raise Refused(what)
        self.effects[what] += 1
        return what


def work(what: str, id_: str | None = None, **fields: object) -> dict[str, object]:
    return call(id_ or what, "work", input={"what": what}, **fields)


def branches(**bodies: list[dict[str, object]]) -> dict[str, object]:
    return {
        "id": "both",
        "type": "parallel",
        "on_failure": "wait",
        "branches": [{"id": name, "body": body} for name, body in bodies.items()],
    }


ORDER = flow(branches(pay=[work("charge")], send=[form("ask", next="ship"), work("ship")]))


async def test_nothing_that_was_done_is_done_again_by_another_engine(tmp_path: Path) -> None:
    recorder = Recorder("ship")
    async with engine_at(tmp_path, recorder) as engine:
        await engine.workflows.register(ORDER)
        started = await engine.executions.start("flow", wait="rest")
        [point] = await engine.points.list(started.id)
        await engine.answers.answer(point.point.id, {}, by="mia")
        assert (await engine.executions.wait(started.id)).status == "failed"
    async with engine_at(tmp_path, recorder) as engine:
        await engine.control.retry(started.id, by="mia")
        done = await engine.executions.wait(started.id)
        assert (done.status, done.output) == ("completed", {"pay": "charge", "send": "ship"})
        assert recorder.effects == {"charge": 1, "ship": 1}
        nodes = {one.context_id: (one.status, len(one.attempts)) for one in await engine.queries.nodes(started.id)}
        assert nodes == {
            "both": ("completed", 1),
            "charge:both.pay": ("completed", 1),
            "ask:both.send": ("completed", 0),
            "ship:both.send": ("completed", 2),
        }
        assert await violations(engine.instance.store) == []


async def test_of_many_items_only_those_that_failed_are_called_again(tmp_path: Path) -> None:
    recorder = Recorder("1", "3")
    each = fan_out(work("${item}", "one"), on_failure="wait", concurrency=2)
    async with engine_at(tmp_path, recorder) as engine:
        await engine.workflows.register(flow(each))
        items = ["0", "1", "2", "3", "4"]
        failed = await engine.executions.start("flow", items, wait="end")
        assert failed.status == "failed"
        await engine.control.retry(failed.id)
        done = await engine.executions.wait(failed.id)
        assert (done.status, done.output) == ("completed", items)
        assert recorder.effects == dict.fromkeys(items, 1)


async def test_one_can_rewind_to_what_failed_in_a_branch_by_its_context_id(tmp_path: Path) -> None:
    recorder = Recorder("ship")
    async with engine_at(tmp_path, recorder) as engine:
        await engine.workflows.register(
            flow(branches(pay=[work("charge")], send=[work("pack", next="ship"), work("ship")]))
        )
        failed = await engine.executions.start("flow", wait="end")
        nodes = {one.context_id: one.status for one in await engine.queries.nodes(failed.id)}
        assert nodes["ship:both.send"] == "failed"
        await engine.control.rewind(failed.id, "ship:both.send", by="mia")
        done = await engine.executions.wait(failed.id)
        assert (done.status, done.output) == ("completed", {"pay": "charge", "send": "ship"})
        assert recorder.effects == {"charge": 1, "pack": 1, "ship": 1}
        assert await violations(engine.instance.store) == []
