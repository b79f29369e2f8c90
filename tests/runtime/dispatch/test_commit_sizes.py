"""How much goes to the store at once: a group is bounded in bytes, and one that fails is sent in parts."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - read by pytest
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine import events as ev
from layover.errors import ExecutionFailed
from layover.ports.errors import StoreUnavailable
from layover.ports.records import Append, Outcome  # noqa: TC001 - as above
from layover.runtime.execution.append_builder import size_of
from tests.runtime.harness import Between, Held, Scripted, call, end, engine_on, fan_out, flow, form

pytestmark = pytest.mark.usefixtures("each_database")

LARGE = "x" * 100_000


class Weighed(Between):
    """A store that notes the groups it is sent, and does not answer to those that are too large for it."""

    def __init__(self, folder: Path, most: int | None = None) -> None:
        super().__init__(folder)
        self.most = most
        self.groups: list[list[int]] = []
        self.snapshots: list[int] = []

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        self.groups.append([size_of(append) for append in appends])
        self.snapshots += [len(append.snapshot) for append in appends if append.snapshot is not None]
        if self.most is not None and sum(self.groups[-1]) > self.most:
            raise StoreUnavailable("It took too long to answer.", code="too_slow")
        return await self.store.appends.commit(appends)


async def test_a_group_is_bounded_in_bytes(tmp_path: Path) -> None:
    store, work = Weighed(tmp_path), Held()
    async with engine_on(store, work, commit_bytes=250_000) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = [await engine.executions.start("flow") for _ in range(10)]
        for one in await work.all_begun(10):
            one.returns(LARGE)
        for execution in started:
            assert (await engine.executions.wait(execution.id, "rest")).status == "paused"
        assert max(map(sum, store.groups)) <= 250_000
        assert max(len(group) for group in store.groups) == 2


async def test_a_group_that_is_too_much_for_the_store_comes_through_in_parts(tmp_path: Path) -> None:
    store, work = Weighed(tmp_path, most=250_000), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register(flow(call("a"), form()))
        started = [await engine.executions.start("flow") for _ in range(10)]
        for one in await work.all_begun(10):
            one.returns(LARGE)
        for execution in started:
            assert (await engine.executions.wait(execution.id, "rest")).status == "paused"
        assert len(work.calls) == 10
        assert max(map(sum, store.groups)) > 900_000  # it was tried together first


async def test_a_step_that_writes_too_much_fails_with_the_reason_and_keeps_what_was_done(tmp_path: Path) -> None:
    charge, work = Scripted(LARGE, name="charge"), Scripted("well")
    async with engine_on(Weighed(tmp_path), charge, work, append_bytes=500_000) as engine:
        each = fan_out(call("b", input={"text": "${nodes.charge}"}), "[1, 2, 3, 4, 5]")
        await engine.workflows.register(flow(call("charge", "charge"), each))
        started = await engine.executions.start("flow")
        with pytest.raises(ExecutionFailed, match=r"at most 500,000 are allowed \(`append_bytes`\)"):
            await engine.executions.result(started.id)
        assert (len(charge.calls), len(work.calls)) == (1, 0)
        nodes = {one.context_id: one for one in await engine.queries.nodes(started.id)}
        assert nodes["charge"].status == "completed"


async def test_a_state_that_is_too_large_is_read_from_its_log(tmp_path: Path) -> None:
    for most, written in ((50_000, False), (1_000_000, True)):
        store = Weighed(tmp_path)
        async with engine_on(store, Scripted(LARGE), snapshot_at_rest=1, snapshot_bytes=most) as engine:
            await engine.workflows.register(flow(call("a"), form(), end("${size(nodes.a)}")))
            started = await engine.executions.start("flow", wait="rest")
            assert bool(store.snapshots) == written
        async with engine_on(Weighed(tmp_path)) as engine:
            (row,) = await engine.points.list(started.id)
            await engine.answers.answer(row.point.id, {}, by="ann")
            assert await engine.executions.result(started.id) == len(LARGE)


async def test_a_leg_is_written_when_it_has_grown_large(tmp_path: Path) -> None:
    store = Weighed(tmp_path)
    settings = {"durability": "leg"}
    async with engine_on(store, Scripted(LARGE), commit_bytes=250_000, leg_flush=3_600_000) as engine:
        await engine.workflows.register(flow(*(call(f"n{n}") for n in range(12)), settings=settings))
        done = await engine.executions.start("flow", wait="end")
        assert done.output == LARGE
        assert max(map(sum, store.groups)) < 600_000  # the last step has its output twice
        log = [one.event for one in await engine.queries.history(done.id)]
        assert sum(isinstance(one, ev.NodeCompleted) for one in log) == 12
