"""How workflows stand: active, inactive, paused or deleted; and what becomes of their executions then."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.engine import events as ev
from layover.errors import LimitReached, NotFound, WrongState
from layover.ports.errors import StoreUnavailable
from layover.runtime.operations import workflow_status
from layover.runtime.operations.start_options import Options
from tests.runtime.harness import (
    HOUR,
    Between,
    HandWound,
    Held,
    call,
    child,
    delay,
    end,
    engine_at,
    engine_on,
    flow,
    form,
    until_child,
    until_status,
)
from tests.runtime.operations.test_audit_entries import acts, entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import Append, Outcome
    from layover.ports.view_records import Loaded
    from layover.runtime.runtime import Runtime


pytestmark = pytest.mark.usefixtures("each_database")


NEXT = {"error": "sorry"}


PARENT = flow(child("a", "flow", next=NEXT), end("${errors.a.code}", "sorry"), name="parent")


HELD = "The workflow flow is paused: stocktaking"


async def statuses(engine: Runtime, *ids: str) -> list[str]:
    return [(await engine.executions.wait(id_, "rest")).status for id_ in ids]


async def test_a_workflow_is_active_unless_something_else_is_noted(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        with pytest.raises(NotFound):
            await engine.workflow_status.get("flow")
        await engine.workflows.register(flow(end(1)))
        assert (await engine.workflow_status.get("flow")).state == "active"


class Away(Between):
    """A store that cannot be reached when it is asked for a version."""

    async def definitions_find_by_hash(self, hash_: str) -> None:
        raise StoreUnavailable(f"There is no way to {hash_}.")


async def test_no_execution_is_passed_over_because_the_store_is_away(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form()))
        await engine.executions.start("flow", wait="rest")
        async with engine_on(Away(tmp_path)) as other:
            with pytest.raises(StoreUnavailable):
                await other.workflow_status.pause("flow", running=True)
            with pytest.raises(StoreUnavailable):
                await other.lists.paused()


async def test_an_inactive_workflow_cannot_be_started_until_it_is_activated(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        await engine.workflows.register(PARENT)
        noted = await engine.workflow_status.set(
            "flow", "inactive", "no stock", by="ann", audit=entry("workflow.deactivate")
        )
        assert (noted.state, noted.reason, noted.by) == ("inactive", "no stock", "ann")
        assert await engine.workflow_status.get("flow") == noted
        with pytest.raises(WrongState, match="no stock") as refused:
            await engine.executions.start("flow", audit=entry("execution.start"))
        assert refused.value.code == "workflow_inactive"
        assert (await engine.executions.start("parent", wait="end")).output == "workflow_inactive"
        await engine.workflow_status.set("flow", "inactive", "again", audit=entry("workflow.deactivate"))
        assert (await engine.workflow_status.get("flow")).reason == "no stock"
        await engine.workflow_status.set("flow", "active", audit=entry("workflow.activate"))
        assert (await engine.executions.start("flow", wait="end")).output == 1
        assert await acts(engine) == ["workflow.activate", "workflow.deactivate"]


async def test_a_deleted_workflow_is_unknown_and_what_was_begun_goes_on(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), end("fine")))
        await engine.workflows.register(PARENT)
        begun = await engine.executions.start("flow", key="k")
        running = await work.begun()
        await engine.workflow_status.set("flow", "deleted", by="ann", audit=entry("workflow.delete"))
        for asked in (
            engine.workflow_status.get("flow"),
            engine.workflows.plan_of("flow"),
            engine.executions.start("flow"),
            engine.executions.start("flow", version=1),
            engine.workflow_status.set("flow", "active"),
            engine.workflow_status.pause("flow"),
            engine.workflow_status.resume("flow"),
        ):
            with pytest.raises(NotFound):
                await asked
        assert (await engine.executions.start("parent", wait="end")).output == "unknown_workflow"
        assert (await engine.executions.start("flow", key="k", on_conflict="return")).id == begun.id
        running.returns()
        assert await engine.executions.result(begun.id) == "fine"
        assert [one.number for one in await engine.instance.store.definitions.list_versions("flow")] == [1]
        assert await acts(engine) == ["workflow.delete"]


async def test_a_deleted_workflow_that_is_registered_again_can_be_started(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        await engine.workflow_status.set("flow", "deleted")
        await engine.workflows.register(flow(end(1)))
        assert (await engine.workflow_status.get("flow")).state == "active"
        assert (await engine.executions.start("flow", wait="end")).output == 1


async def test_what_another_engine_notes_counts_within_a_second(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as here, engine_on(clock.store(tmp_path)) as there:
        await here.workflows.register(flow(end(1)))
        await here.executions.start("flow", wait="end")
        await there.workflow_status.set("flow", "inactive")
        clock.now += 60_000
        here.instance.clock.set(clock.now)
        with pytest.raises(WrongState):
            await here.executions.start("flow")


# Pausing whole workflows


async def test_what_starts_while_its_workflow_is_paused_is_held_until_that_goes_on(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), end("fine")))
        before = await engine.executions.start("flow")
        running = await work.begun()
        moved = await engine.workflow_status.pause("flow", "stocktaking", by="ann", audit=entry("workflow.pause"))
        assert (moved.status.state, moved.executions, moved.more) == ("paused", 0, False)
        held = await engine.executions.start("flow", wait="rest", audit=entry("execution.start"))
        assert (held.status, held.paused_reason, held.started_at) == ("paused", HELD, None)
        (pausing,) = [
            one.event for one in await engine.queries.history(held.id) if isinstance(one.event, ev.ExecutionPausing)
        ]
        assert pausing.by == "ann"
        assert (await engine.queries.get(before.id)).status == "running"
        running.returns()
        assert await engine.executions.result(before.id) == "fine"

        moved = await engine.workflow_status.resume("flow", by="bob", audit=entry("workflow.resume"))
        assert (moved.status.state, moved.executions, moved.more) == ("active", 1, False)
        (await work.begun()).returns()
        assert await engine.executions.result(held.id) == "fine"
        assert (await engine.executions.start("flow")).status == "running"
        assert await acts(engine) == ["execution.start", "workflow.pause", "workflow.resume"]


async def test_what_runs_is_paused_with_its_workflow_if_that_is_asked_for(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), end("fine")))
        await engine.workflows.register(flow(form(), name="other"))
        bystander = await engine.executions.start("other", wait="rest")
        first, second, own = [(await engine.executions.start("flow")).id for _ in range(3)]
        calls = await work.all_begun(3)
        later = (await engine.executions.start("flow", options=Options(delay="1h"))).id
        await engine.control.pause(own, "my own reason")
        moved = await engine.workflow_status.pause("flow", "stocktaking", running=True, audit=entry("workflow.pause"))
        assert moved.executions == 3
        for running in calls:
            running.returns()
        for one in (first, second, own, later):
            await until_status(engine, one, "paused")
        assert (await engine.queries.get(first)).paused_reason == HELD
        assert [one.kind for one in (await engine.queries.get(bystander.id)).waiting_on] == ["form"]

        again = await engine.workflow_status.pause(
            "flow", "another reason", running=True, audit=entry("workflow.pause")
        )
        assert (again.executions, again.status.reason) == (0, "stocktaking")
        resumed = await engine.workflow_status.resume("flow", audit=entry("workflow.resume"))
        assert (resumed.executions, resumed.more) == (3, False)
        assert [await engine.executions.result(one) for one in (first, second)] == ["fine", "fine"]
        assert (await engine.queries.get(own)).paused_reason == "my own reason"
        await until_status(engine, later, "pending")
        assert await acts(engine) == ["workflow.pause", "workflow.resume"]


async def test_what_waits_for_people_is_paused_with_its_workflow(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask.n}")))
        started = await engine.executions.start("flow", wait="rest")
        assert (await engine.workflow_status.pause("flow", "stocktaking", running=True)).executions == 1
        await engine.executions.wait(started.id, "rest")
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {"n": 7})
        assert (await engine.executions.wait(started.id, "rest")).paused_reason == HELD
        await engine.workflow_status.resume("flow")
        assert await engine.executions.result(started.id) == 7


async def test_one_call_tells_so_many_and_another_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workflow_status, "_AT_ONCE", 2)
    monkeypatch.setattr(workflow_status, "_MOST", 4)
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(delay()))
        ids = [(await engine.executions.start("flow", wait="rest")).id for _ in range(5)]
        for act in ("pause", "resume"):
            done: list[tuple[int, bool]] = []
            for _ in range(3):
                moved = await (
                    engine.workflow_status.pause("flow", running=True, audit=entry(act))
                    if act == "pause"
                    else engine.workflow_status.resume("flow", audit=entry(act))
                )
                done.append((moved.executions, moved.more))
                for one in ids:  # what was told has been taken
                    await engine.executions.wait(one, "rest")
            assert done == [(4, True), (1, False), (0, False)]
            assert await statuses(engine, *ids) == ["paused" if act == "pause" else "waiting"] * 5
        assert await acts(engine) == ["pause", "pause", "resume", "resume"]


async def test_one_that_cannot_be_read_does_not_keep_the_others_from_being_paused(tmp_path: Path) -> None:
    class Worn(Between):
        broken = ""

        async def queries_load(self, ids: Sequence[str]) -> list[Loaded | None]:
            found: list[Loaded | None] = await self.store.queries.load(ids)
            return [replace(one, entries=()) if one and one.head.execution_id == self.broken else one for one in found]

    store = Worn(tmp_path)
    async with engine_on(store) as engine:
        await engine.workflows.register(flow(delay()))
        store.broken, sound = [(await engine.executions.start("flow", wait="rest")).id for _ in range(2)]
        assert (await engine.workflow_status.pause("flow", running=True)).executions == 1
        assert await statuses(engine, sound) == ["paused"]


@pytest.mark.parametrize("started", ["flow", "parent"])
async def test_an_execution_paused_too_late_for_a_resume_to_see_goes_on_by_itself(tmp_path: Path, started: str) -> None:
    class Late(Between):
        async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
            if any(one.new is not None and one.new.workflow == "flow" for one in appends):
                assert (await there.workflow_status.resume("flow")).executions == 0
            return await self.store.appends.commit(appends)

    async with engine_on(Late(tmp_path)) as here, engine_at(tmp_path, outbox_poll=HOUR) as there:
        await here.workflows.register(flow(end("fine")))
        await here.workflows.register(flow(child("a", "flow"), end("${nodes.a}"), name="parent"))
        await here.workflow_status.pause("flow")
        begun = await here.executions.start(started)
        assert await here.executions.result(begun.id) == "fine"


async def test_a_child_of_a_paused_workflow_is_held(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("fine")))
        await engine.workflows.register(flow(child("a", "flow"), end("${nodes.a}"), name="parent"))
        await engine.workflow_status.pause("flow", "stocktaking")
        started = await engine.executions.start("parent", wait="rest")
        (row,) = await engine.points.list(started.id)
        await until_child(engine, row.point.child, "paused")
        await engine.workflow_status.resume("flow")
        assert await engine.executions.result(started.id) == "fine"


async def test_what_is_held_still_waits_for_its_moment(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(end("fine")))
        await engine.workflow_status.pause("flow")
        started = await engine.executions.start("flow", options=Options(delay="1h"))
        assert (started.status, started.paused_reason) == ("paused", "The workflow flow is paused.")
        await engine.workflow_status.resume("flow")
        await until_status(engine, started.id, "pending")
        clock.skip(engine, HOUR)
        assert await engine.executions.result(started.id) == "fine"


async def test_what_is_held_still_waits_for_its_turn(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), end("fine"), settings={"concurrency": {"limit": 1}}))
        first = await engine.executions.start("flow")
        running = await work.begun()
        await engine.workflow_status.pause("flow")
        second = await engine.executions.start("flow")
        assert second.status == "paused"
        await engine.workflow_status.resume("flow")
        await until_status(engine, second.id, "pending")
        running.returns()
        assert await engine.executions.result(first.id) == "fine"
        (await work.begun()).returns()
        assert await engine.executions.result(second.id) == "fine"


async def test_a_limit_that_rejects_does_so_while_the_workflow_is_paused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        limit = {"limit": 1, "on_conflict": "reject"}
        await engine.workflows.register(flow(form(), settings={"concurrency": limit}))
        await engine.executions.start("flow", wait="rest")
        await engine.workflow_status.pause("flow")
        with pytest.raises(LimitReached):
            await engine.executions.start("flow")


async def test_a_paused_workflow_need_not_be_activated_and_an_inactive_one_cannot_be_paused(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        await engine.workflow_status.pause("flow", "stocktaking")
        held = await engine.executions.start("flow", wait="rest")
        assert (await engine.workflow_status.set("flow", "active", audit=entry("x"))).state == "paused"
        await engine.workflow_status.set("flow", "inactive")
        with pytest.raises(WrongState):
            await engine.workflow_status.pause("flow", audit=entry("x"))
        assert await acts(engine) == []
        moved = await engine.workflow_status.resume("flow")
        assert (moved.status.state, moved.executions) == ("inactive", 1)
        assert await engine.executions.result(held.id) == 1


async def test_what_was_held_by_an_earlier_pause_goes_on_with_the_workflow(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        await engine.workflows.register(flow(end(2), name="flow.is"))
        for name in ("flow", "flow.is"):
            await engine.workflow_status.pause(name, "one reason")
        held, other = [await engine.executions.start(name, wait="rest") for name in ("flow", "flow.is")]
        await engine.workflow_status.set("flow", "inactive")
        await engine.workflow_status.set("flow", "active")
        await engine.workflow_status.pause("flow", "another reason")
        assert (await engine.workflow_status.resume("flow")).executions == 1
        assert await engine.executions.result(held.id) == 1
        assert (await engine.queries.get(other.id)).status == "paused"
