"""What operators do to triggers, and what they see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import AlreadyExists, InvalidInput, NotAllowed, NotFound, WrongState
from layover.core.ids import trigger_id

if TYPE_CHECKING:
    from layover.testing import Layover

NODES = [{"id": "a", "type": "compute", "output": "${input}"}]


def flow(*triggers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "tick", "nodes": NODES, "triggers": list(triggers), **more}


def hourly(**fields: Any) -> dict[str, Any]:
    return {"name": "often", "type": "schedule", "every": "1h", **fields}


async def count(layover: Layover) -> int:
    return len([one async for one in layover.executions(workflow="tick")])


async def test_a_trigger_is_found_by_name_and_by_id(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    named = await layover.trigger("tick/often")
    assert named.id == trigger_id("tick", "often")
    assert (await layover.trigger(named.id)).info == named.info
    assert (named.state, str(named.next_at)) == ("active", "2026-01-01T01:00:00.000Z")
    assert named.definition == {"name": "often", "type": "schedule", "every": "1h"}
    assert [one.name async for one in layover.triggers(workflow="tick")] == ["often"]
    with pytest.raises(NotFound) as refused:
        await layover.trigger("tick/other")
    assert refused.value.code == "unknown_trigger"


async def test_a_paused_schedule_skips_and_goes_on_from_now(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    trigger = await layover.trigger("tick/often")
    await trigger.pause("holiday")
    assert (trigger.state, trigger.reason, trigger.next_at) == ("paused", "holiday", None)
    await layover.skip("5h")
    assert await count(layover) == 0
    await trigger.resume()
    assert (trigger.state, str(trigger.next_at)) == ("active", "2026-01-01T06:00:00.000Z")
    await layover.skip("1h")
    assert await count(layover) == 1


async def test_a_resumed_schedule_catches_up_if_asked_to(layover: Layover) -> None:
    await layover.register(flow(hourly(catch_up={"which": "all"}, overlap="allow")))
    trigger = await layover.trigger("tick/often")
    await trigger.pause()
    await layover.skip("5h")
    await trigger.resume(catch_up=True)
    assert await count(layover) == 5


async def test_pausing_twice_is_pausing_once_and_resuming_an_active_one_is_refused(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    trigger = await layover.trigger("tick/often")
    with pytest.raises(WrongState):
        await trigger.resume()
    await trigger.pause("first")
    await trigger.pause("second")
    assert trigger.reason == "first"


async def test_a_paused_workflow_shows_in_its_triggers_and_starts_nothing(layover: Layover) -> None:
    workflow = await layover.register(flow(hourly()))
    await workflow.pause("repairs")
    trigger = await layover.trigger("tick/often")
    assert (trigger.state, trigger.reason) == ("paused", "Its workflow is paused.")
    await layover.skip("2h")
    assert await count(layover) == 0
    await workflow.resume()
    await layover.skip("1h")
    assert await count(layover) == 1


async def test_firing_starts_an_execution_once_for_each_id(layover: Layover) -> None:
    await layover.register(flow(hourly(input={"x": "${trigger.data.x}"})))
    trigger = await layover.trigger("tick/often")
    first = await trigger.fire({"x": 1}, id="mine")
    again = await trigger.fire({"x": 2}, id="mine")
    assert (first.status, again.status, again.execution_id) == ("started", "repeated", first.execution_id)
    assert first.execution_id is not None
    assert (await layover.execution(first.execution_id)).info.input == {"x": 1}
    assert await count(layover) == 1


async def test_a_dry_run_tells_filter_input_and_id_and_stores_nothing(layover: Layover) -> None:
    await layover.register(flow(hourly(filter="trigger.data.x > 1", input={"x": "${trigger.data.x}"})))
    trigger = await layover.trigger("tick/often")
    passing, failing = await trigger.fire({"x": 2}, dry_run=True), await trigger.fire({"x": 1}, dry_run=True)
    assert (passing.status, passing.passes, passing.input) == ("dry_run", True, {"x": 2})
    assert (failing.status, failing.passes) == ("filtered", False)
    assert await trigger.inputs().all() == []


async def test_an_input_that_does_not_fit_is_rejected_and_can_be_replayed(layover: Layover) -> None:
    schema = {"type": "object", "required": ["x"]}
    await layover.register(flow(hourly(), input=schema))
    trigger = await layover.trigger("tick/often")
    fired = await trigger.fire({"y": 1}, id="bad")
    assert (fired.status, await count(layover)) == ("rejected", 0)
    (one,) = await trigger.inputs(state="rejected").all()
    assert "x" in one.reason
    await layover.register(flow(hourly(input={"x": "${trigger.data.y}"}), input=schema))
    await trigger.replay("bad")
    assert await count(layover) == 1
    (one,) = await trigger.inputs().all()
    assert one.state == "started"
    with pytest.raises(WrongState):
        await trigger.replay("bad")


async def test_a_rejected_input_can_be_discarded(layover: Layover) -> None:
    await layover.register(flow(hourly(input="${trigger.data.nothing}")))
    trigger = await layover.trigger("tick/often")
    await trigger.fire({}, id="bad")
    assert (await trigger.discard("bad")).state == "discarded"
    with pytest.raises(NotFound):
        await trigger.discard("other")


async def test_a_backfill_starts_what_was_not_started(layover: Layover) -> None:
    await layover.register(flow(hourly(overlap="allow")))
    await layover.skip("2h")
    trigger = await layover.trigger("tick/often")
    tried = await trigger.backfill("2025-12-31T22:00", "2026-01-01T02:00", dry_run=True)
    assert [str(one.at)[11:16] for one in tried.items] == ["22:00", "23:00", "00:00"]
    assert (tried.passed_over, await count(layover)) == (1, 2)
    await trigger.backfill("2025-12-31T22:00", "2026-01-01T02:00")
    assert await count(layover) == 5
    again = await trigger.backfill("2025-12-31T22:00", "2026-01-01T02:00")
    assert (again.items, again.passed_over) == ((), 4)
    await trigger.backfill("2025-12-31T22:00", "2025-12-31T23:00", again=True)
    assert await count(layover) == 6


async def test_a_backfill_is_bounded_and_about_the_past(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    trigger = await layover.trigger("tick/often")
    for begin, end in (("2020-01-01", "2025-01-01"), ("2026-01-01", "2027-01-01"), ("soon", "2026-01-01")):
        with pytest.raises(InvalidInput):
            await trigger.backfill(begin, end)


async def test_next_lists_the_next_occurrences(layover: Layover) -> None:
    await layover.register(flow(hourly(jitter="10m")))
    found = await (await layover.trigger("tick/often")).next(3)
    assert [str(one.at)[11:16] for one in found] == ["01:00", "02:00", "03:00"]
    assert all(one.starts_at is not None and one.starts_at > one.at for one in found)


async def test_the_log_of_a_trigger_tells_what_happened(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    await layover.skip("1h")
    trigger = await layover.trigger("tick/often")
    await trigger.pause()
    kinds = [event.type async for event in trigger.history()]
    assert kinds == ["TriggerRegistered", "TriggerInputReceived", "TriggerStateChanged"]


async def test_acts_need_permissions_and_are_audited(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    operator = layover.as_user("olga", ["operator"])
    trigger = await operator.trigger("tick/often")
    with pytest.raises(NotAllowed):
        await trigger.pause()
    await trigger.fire(id="by-hand")
    admin = layover.as_user("ada", ["admin"])
    await (await admin.trigger("tick/often")).pause("why not")
    acts = [(entry.user, entry.act, entry.target) async for entry in admin.audit(target=trigger.id)]
    assert acts == [("ada", "trigger.pause", trigger.id), ("olga", "trigger.fire", trigger.id)]
    with pytest.raises(NotAllowed):
        await (await layover.as_user("vic", ["viewer"]).trigger("tick/often")).fire()


async def test_why_names_what_keeps_a_trigger_from_firing(layover: Layover) -> None:
    slow = [{"id": "a", "type": "delay", "duration": "5h"}]
    await layover.register({**flow(hourly()), "nodes": slow})
    trigger = await layover.trigger("tick/often")
    assert [reason.kind for reason in (await trigger.why()).reasons] == ["next"]
    await layover.skip("2h")
    assert [reason.kind for reason in (await trigger.why()).reasons] == ["next", "overlap", "skipped"]
    await trigger.pause("holiday")
    assert (await trigger.why()).summary == "It is paused: holiday"


async def test_a_removed_trigger_is_stopped_and_comes_back(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    await layover.register(flow())
    trigger = await layover.trigger("tick/often")
    assert (trigger.state, trigger.reason) == ("stopped", "removed")
    with pytest.raises(WrongState):
        await trigger.fire()
    await layover.register(flow(hourly()))
    await layover.skip("1h")
    assert await count(layover) == 1


async def test_an_act_that_comes_again_under_its_key_is_done_once_and_gets_its_answer(layover: Layover) -> None:
    await layover.register(flow(hourly(input="${trigger.data.nothing}", overlap="allow")))
    trigger = await layover.trigger("tick/often")
    for id_ in ("one", "two"):
        await trigger.fire({}, id=id_)
    await trigger.pause("holiday", idempotency_key="p")
    await trigger.resume(idempotency_key="r")
    assert (await trigger.resume(idempotency_key="r")).state == "active"
    assert (await trigger.pause("holiday", idempotency_key="p")).state == "active"
    await trigger.replay("one", idempotency_key="a")
    assert (await trigger.replay("one", idempotency_key="a")).input_id == "one"
    await trigger.discard("two", idempotency_key="a")
    assert (await trigger.discard("two", idempotency_key="a")).state == "discarded"
    with pytest.raises(WrongState):
        await trigger.discard("two", idempotency_key="b")
    with pytest.raises(WrongState):
        await trigger.resume(idempotency_key="s")


async def test_a_key_of_an_act_with_other_input_is_refused(layover: Layover) -> None:
    await layover.register(flow(hourly()))
    trigger = await layover.trigger("tick/often")
    await trigger.pause("holiday", idempotency_key="p")
    with pytest.raises(AlreadyExists) as refused:
        await trigger.pause("repairs", idempotency_key="p")
    assert refused.value.code == "idempotency_mismatch"


async def test_a_backfill_once_more_starts_once_for_each_key(layover: Layover) -> None:
    await layover.register(flow(hourly(overlap="allow")))
    trigger = await layover.trigger("tick/often")
    for key in ("a", "a", "b"):
        done = await trigger.backfill("2025-12-31T22:00", "2026-01-01", again=True, idempotency_key=key)
        assert len(done.items) == 2
    assert await count(layover) == 4
