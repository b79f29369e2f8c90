"""Batches by the clock of a test: rates, canaries, stopping and going on, and what becomes of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import WrongState, node
from layover.errors import InvalidInput, NotAllowed, NotFound, WaitTimeout
from layover.runtime.batches import batch_runner
from layover.testing import CommitPoint
from tests.runtime.harness import approval, call, end, flow, form

if TYPE_CHECKING:
    from layover import BatchHandle, ExecutionHandle
    from layover.testing import Layover

ASKING = flow(form("ask"), end("${nodes.ask}"), name="asking")


async def asking(layover: Layover, count: int) -> list[ExecutionHandle]:
    await layover.register(ASKING)
    return [await one_after_another(layover, "asking", n) for n in range(count)]


async def one_after_another(layover: Layover, workflow: str, n: int) -> ExecutionHandle:
    """Start an execution a moment after the one before, so that their order is known."""
    await layover.skip("1s")
    return await layover.start(workflow, {"n": n})


async def statuses(layover: Layover) -> list[str]:
    return sorted([one.status async for one in layover.executions()])


def figures(batch: BatchHandle) -> tuple[str, int, int, int, int]:
    return batch.status, batch.total, batch.done, batch.skipped, batch.failed - batch.skipped


async def test_a_dry_run_counts_and_shows_items_and_changes_nothing(layover: Layover) -> None:
    started = await asking(layover, 25)
    planned = await layover.batch("pause", {"workflow": "asking"}, dry_run=True, canary={"share": "5%", "watch": "1h"})
    assert figures(planned) == ("pending", 25, 0, 0, 0)
    assert planned.info.id is None
    assert planned.canary is not None
    assert planned.canary.count == 2
    assert [one.target for one in planned.sample] == [one.id for one in reversed(started)][:20]
    assert (await planned.wait()).status == "pending"
    assert [one async for one in layover.batches()] == []
    assert {*await statuses(layover)} == {"paused"}  # for a person
    assert not any([(await one.why()).summary for one in started if "operator" in (await one.why()).summary])


async def test_items_are_what_there_was_when_the_batch_was_made(layover: Layover) -> None:
    await asking(layover, 3)
    batch = await layover.batch("cancel", {"workflow": "asking"}, rate="1/m")
    await asking(layover, 2)
    await batch.wait()
    assert figures(batch) == ("completed", 3, 3, 0, 0)
    assert (await statuses(layover)).count("cancelled") == 3


async def test_items_are_found_by_every_filter_of_the_list(layover: Layover) -> None:
    layover.fake("work", raises=ValueError("no"))
    await layover.register(flow(call("a"), name="failing"))
    first = await layover.start("failing", correlation_id="order-7")
    await layover.skip("2h")
    between = layover.now
    await layover.skip("1h")
    second = await layover.start("failing")
    for where, found in (
        ({"error_code": "failed", "since": "2h"}, {second.id}),
        ({"since": between}, {second.id}),
        ({"until": between.isoformat()}, {first.id}),
        ({"workflow": "failing", "until": "90m"}, {first.id}),
        ({"correlation_id": "order-7"}, {first.id}),
        ({"q": "order-"}, {first.id}),
        ({"workflow": "failing", "node_type": "work", "resumed": False}, {first.id, second.id}),
        ({"workflow": "failing", "on": ["person"]}, set()),
        ({"node_type": "http"}, set()),
        ({"user": "eve"}, set()),
        ({"error_code": "other"}, set()),
        ({"workflow": "failing", "min_duration": "1d"}, set()),
        ({"workflow": "failing", "max_duration": "1d"}, {first.id, second.id}),
        ({"workflow": "failing", "min_resumes": 1}, set()),
    ):
        planned = await layover.batch("retry", where, dry_run=True)
        assert {one.target for one in planned.sample} == found, where
    for name, wrong in (("since", "yesterday"), ("until", "2026-11-20T08:00:00"), ("min_duration", "long")):
        with pytest.raises(InvalidInput) as refused:
            await layover.batch("retry", {"workflow": "failing", name: wrong})
        assert refused.value.errors[0][0].endswith(name)


async def test_how_long_before_is_counted_from_the_batch(layover: Layover) -> None:
    """A page that is collected later, or by another instance, finds the same."""
    await asking(layover, 3)
    batch = await layover.batch("cancel", {"workflow": "asking", "since": "1h"}, rate="1/h")
    await layover.skip("5h")
    assert figures(await batch.refresh()) == ("completed", 3, 3, 0, 0)


async def test_a_rate_is_kept(layover: Layover) -> None:
    await asking(layover, 5)
    batch = await layover.batch("cancel", {"workflow": "asking"}, rate="2/m")
    for done in (1, 2, 3, 4):
        assert (await batch.refresh()).done == done
        assert "rate of 2/m" in batch.reason
        await layover.skip("29s")
        assert (await batch.refresh()).done == done
        await layover.skip("1s")
    assert figures(await batch.refresh()) == ("completed", 5, 5, 0, 0)


async def test_after_a_rest_a_second_of_a_rate_goes_at_once_and_no_more(layover: Layover) -> None:
    await asking(layover, 25)
    batch = await layover.batch("cancel", {"workflow": "asking"}, rate="10/s")
    assert (await batch.refresh()).done == 10
    await layover.skip("1s")
    assert (await batch.refresh()).done == 20


async def test_items_that_the_act_does_not_fit_any_more_are_skipped_with_the_reason(layover: Layover) -> None:
    started = await asking(layover, 4)
    batch = await layover.batch("cancel", {"workflow": "asking"}, rate="1/m")
    await started[1].cancel()
    await started[0].answer("ask", {})
    await batch.wait()
    assert figures(batch) == ("completed", 4, 2, 2, 0)
    assert (batch.failed, batch.skipped) == (2, 2)  # they failed, since the act did not fit them any more
    skipped = [one async for one in batch.items(status="failed")]
    assert [(one.target, one.code) for one in skipped] == [(one.id, "wrong_state") for one in (started[1], started[0])]
    assert all(one.reason and one.skipped for one in skipped)
    assert [(one.status, one.skipped) async for one in batch.items(status="done")] == [("done", False)] * 2


async def test_a_paused_execution_is_not_paused_again(layover: Layover) -> None:
    (started,) = await asking(layover, 1)
    await started.pause("mine")
    batch = await layover.batch("pause", {"workflow": "asking"})
    assert [one.code async for one in batch.items()] == ["already_paused"]


async def test_a_batch_is_stopped_and_goes_on_where_it_was(layover: Layover) -> None:
    await asking(layover, 4)
    batch = await layover.batch("cancel", {"workflow": "asking"}, rate="1/m")
    await batch.stop("Wait.")
    assert (batch.status, batch.code, batch.reason) == ("stopped", "stopped", "Wait.")
    await layover.skip("1h")
    assert figures(await batch.refresh()) == ("stopped", 4, 1, 0, 0)
    assert (await batch.stop()).reason == "Wait."
    await batch.continue_()
    assert batch.status == "running"
    await batch.wait()
    assert figures(batch) == ("completed", 4, 4, 0, 0)
    with pytest.raises(WrongState):
        await batch.stop()
    with pytest.raises(WrongState):
        await batch.continue_()


async def test_a_wait_for_a_batch_ends_in_time(layover: Layover) -> None:
    await asking(layover, 3)
    batch = await layover.batch("cancel", {"workflow": "asking"}, rate="1/h")
    with pytest.raises(WaitTimeout):
        await batch.wait(timeout="30m")


# Canaries

LATER = {"share": "20%", "watch": "10m"}


async def failing(layover: Layover, count: int, broken: set[int]) -> list[ExecutionHandle]:
    """Start executions that failed; when retried, they fail once more some time later, or complete."""
    layover.fake("work", script=[*(ValueError("broken") for _ in range(count)), None])
    await layover.register(
        flow(
            call("work", "work", input={"n": "${input.n}"}),
            {"id": "rest", "type": "delay", "duration": "5m"},
            call("check", "check", input={"n": "${input.n}"}),
            end("${nodes.check}"),
            name="failing",
        )
    )

    @node
    def check(n: int) -> int:
        if n in broken:
            raise ValueError("broken again")
        return n

    layover.nodes(check)
    started = [await one_after_another(layover, "failing", n) for n in range(count)]
    assert {one.status for one in started} == {"failed"}
    return started


async def test_the_rest_follows_once_the_canary_was_watched(layover: Layover) -> None:
    await failing(layover, 10, set())
    batch = await layover.batch("retry", {"workflow": "failing"}, canary=LATER)
    assert figures(await batch.refresh()) == ("watching", 10, 2, 0, 0)
    assert batch.canary is not None
    assert batch.canary.count == 2
    assert "watched until" in batch.reason
    await layover.skip("9m")
    assert figures(await batch.refresh()) == ("watching", 10, 2, 0, 0)
    await layover.skip("1m")
    assert figures(await batch.refresh()) == ("completed", 10, 10, 0, 0)
    await layover.skip("5m")
    assert await statuses(layover) == ["completed"] * 10


async def test_a_batch_stops_when_an_execution_of_its_canary_fails_after_the_act(layover: Layover) -> None:
    started = await failing(layover, 10, {9})  # the newest are done first
    batch = await layover.batch("retry", {"workflow": "failing"}, canary=LATER)
    await layover.skip("1h")
    assert figures(await batch.refresh()) == ("stopped", 10, 2, 0, 0)
    assert batch.code == "canary_failed"
    assert started[9].id in batch.reason
    assert (await statuses(layover)).count("failed") == 9
    await batch.continue_()  # the operator has looked, and goes on without a canary
    await layover.skip("1h")
    assert figures(await batch.refresh()) == ("completed", 10, 10, 0, 0)
    assert (await statuses(layover)).count("failed") == 1


async def test_a_failure_outside_of_the_canary_does_not_stop_a_batch(layover: Layover) -> None:
    await failing(layover, 10, {0})
    batch = await layover.batch("retry", {"workflow": "failing"}, canary=LATER)
    await layover.skip("1h")
    assert figures(await batch.refresh()) == ("completed", 10, 10, 0, 0)


async def test_a_batch_stops_at_once_when_an_act_of_its_canary_fails(layover: Layover) -> None:
    await layover.register(flow(form("ask", schema={"type": "object", "required": ["size"]}), name="strict"))
    for n in range(10):
        await layover.start("strict", n)
    where = {"workflow": "strict", "node": "ask"}
    batch = await layover.batch("answer", where, data={}, canary={"share": 0.1, "watch": "1h"})
    assert figures(await batch.refresh()) == ("stopped", 10, 0, 0, 1)
    assert batch.code == "canary_failed"
    (failed,) = [one async for one in batch.items(status="failed")]
    assert failed.code == "invalid_answer"
    assert len([one async for one in layover.points()]) == 10


async def test_a_canary_holds_for_a_batch_that_had_too_many_items(
    layover: Layover, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_runner, "MOST_ITEMS", 500)
    await layover.register(ASKING)
    for n in range(510):
        await layover.start("asking", {"n": n})
    batch = await layover.batch("pause", {"workflow": "asking"}, canary=LATER)
    assert figures(await batch.refresh()) == ("stopped", 500, 0, 0, 0)
    assert batch.code == "too_many_items"
    await batch.continue_()
    await layover.skip("1s")
    assert figures(await batch.refresh()) == ("watching", 500, 100, 0, 0)


async def test_items_that_are_skipped_are_no_part_of_a_canary(layover: Layover) -> None:
    started = await asking(layover, 10)
    for one in started[7:]:  # the first of the batch
        await one.pause()
    batch = await layover.batch("pause", {"workflow": "asking"}, canary=LATER)
    assert figures(await batch.refresh()) == ("watching", 10, 2, 3, 0)


async def test_a_canary_of_all_items_is_not_waited_for(layover: Layover) -> None:
    await asking(layover, 1)
    batch = await layover.batch("pause", {"workflow": "asking"}, canary=LATER)
    assert figures(await batch.refresh()) == ("completed", 1, 1, 0, 0)


async def test_a_batch_that_finds_nothing_is_completed(layover: Layover) -> None:
    await asking(layover, 1)
    batch = await layover.batch("cancel", {"workflow": "asking", "tag": "none"}, canary=LATER)
    assert figures(await batch.refresh()) == ("completed", 0, 0, 0, 0)


async def test_what_was_never_there_is_not_purged(layover: Layover) -> None:
    unknown = "11111111-1111-4111-8111-111111111111"
    batch = await layover.as_user("eve", ["admin"]).batch("purge", {"ids": [unknown]})
    assert figures(await batch.refresh()) == ("completed", 1, 0, 1, 0)
    assert [(one.target, one.code) async for one in batch.items()] == [(unknown, "unknown_execution")]


# Points


async def test_a_bulk_answer_is_for_one_node_and_skips_what_was_answered(layover: Layover) -> None:
    started = await asking(layover, 3)
    await layover.register(flow(form("other"), name="other"))
    other = await layover.start("other", None)
    batch = await layover.batch("answer", {"workflow": "asking", "node": "ask"}, data={"size": 1}, rate="1/m")
    await started[2].answer("ask", {"size": 9})  # the oldest is first
    await batch.wait()
    assert figures(batch) == ("completed", 3, 2, 1, 0)
    assert [one.code async for one in batch.items(status="failed")] == ["already_answered"]
    assert [(await one.refresh()).output for one in started] == [{"size": 1}, {"size": 1}, {"size": 9}]
    assert (await other.refresh()).status == "paused"


async def test_a_bulk_decision_is_the_users_own_and_only_where_they_are_asked(layover: Layover) -> None:
    await layover.register(flow(approval("ok", approvers={"users": ["ann"]}), name="mine"))
    await layover.register(flow(approval("ok", approvers={"users": ["bob"]}), name="theirs"))
    mine, theirs = await layover.start("mine", None), await layover.start("theirs", None)
    ann = layover.as_user("ann", ["approver"])
    points = [point.id async for point in layover.points()]
    batch = await ann.batch("answer", {"ids": points}, approved=True)
    assert figures(await batch.refresh()) == ("completed", 2, 1, 0, 1)
    assert [one.code async for one in batch.items(status="failed")] == ["not_allowed"]
    assert ((await mine.refresh()).status, (await theirs.refresh()).status) == ("completed", "paused")
    with pytest.raises(NotAllowed):
        await ann.batch("cancel", {"workflow": "mine"})


async def test_a_pause_point_that_is_not_there_is_skipped_and_not_left_out(layover: Layover) -> None:
    await asking(layover, 1)
    ids = [*[point.id async for point in layover.points()], "11111111-1111-4111-8111-111111111111"]
    batch = await layover.batch("answer", {"ids": ids}, data={"size": 1})
    await batch.wait()
    assert figures(batch) == ("completed", 2, 1, 1, 0)
    assert [(one.code, one.skipped) async for one in batch.items(status="failed")] == [("unknown_point", True)]


# Who acts


async def test_answers_go_on_only_for_the_user_in_whose_name_they_are(layover: Layover) -> None:
    """Another approver may stop them; to go on would be to decide in the name of the first."""
    await layover.register(flow(approval("ok", approvers={"users": ["ann"]}), name="mine"))
    for _ in range(3):
        await layover.start("mine", None)
    ann, bob = (layover.as_user(name, ["approver"]) for name in ("ann", "bob"))
    mine = await ann.batch("answer", {"workflow": "mine", "node": "ok"}, approved=True, rate="1/h")
    theirs = await bob.find_batch(mine.id or "")
    await theirs.stop()
    with pytest.raises(NotAllowed, match="ann") as refused:
        await theirs.continue_()
    assert refused.value.code == "not_allowed"
    assert figures(await mine.refresh()) == ("stopped", 3, 1, 0, 0)
    await mine.continue_()
    assert mine.status == "running"


async def test_a_batch_and_each_of_its_acts_are_in_the_audit_log_of_its_user(layover: Layover) -> None:
    started = await asking(layover, 2)
    ann = layover.as_user("ann", ["operator"])
    batch = await ann.batch("pause", {"workflow": "asking"}, reason="Prices change.")
    entries = [one async for one in layover.audit(user="ann")]
    acts = [(one.act, one.target) for one in reversed(entries)]
    assert acts[0] == ("batch.create", batch.id)
    assert sorted(acts[1:]) == sorted(("execution.pause", one.id) for one in started)
    assert {one.request_id for one in entries[:-1]} == {batch.id}
    await batch.delete()
    with pytest.raises(NotFound):
        await batch.refresh()
    assert "batch.delete" in [one.act async for one in layover.audit(user="ann")]


async def test_an_execution_tells_which_batch_has_paused_it(layover: Layover) -> None:
    (started,) = await asking(layover, 1)
    batch = await layover.batch("pause", {"workflow": "asking"})
    assert f"batch {batch.id}" in str(await started.why())


@pytest.mark.parametrize(
    ("act", "where", "more"),
    [
        ("pause", {}, {}),
        ("pause", {"trigger_id": "11111111-1111-4111-8111-111111111111"}, {}),
        ("pause", {"workflow": "asking"}, {"to": "ask"}),
        ("pause", {"workflow": "asking"}, {"rate": "often"}),
        ("pause", {"workflow": "asking"}, {"canary": {"share": "0%", "watch": "1h"}}),
        ("pause", {"workflow": "asking"}, {"canary": {"share": 2, "watch": "1h"}}),
        ("pause", {"workflow": "asking"}, {"canary": {"share": 0.5, "watch": "soon"}}),
        ("pause", {"workflow": "asking"}, {"canary": {"share": 0.5, "watch": "31d"}}),
        ("pause", {"workflow": "asking", "where": ["nonsense"]}, {}),
        ("pause", {"ids": ["x"]}, {}),
        ("pause", {"ids": ["11111111-1111-4111-8111-111111111111"], "workflow": "asking"}, {}),
        ("cancel", {"ids": ["11111111-1111-4111-8111-111111111111"], "status": ["failed"]}, {}),
        ("answer", {"ids": ["11111111-1111-4111-8111-111111111111"], "workflow": "asking"}, {"data": 1}),
        ("answer", {"ids": ["x"]}, {"data": 1}),
        ("rewind", {"workflow": "asking"}, {}),
        ("resume", {"workflow": "asking"}, {"data": 5}),
        ("answer", {"workflow": "asking"}, {}),
        ("replay", {"ids": ["x"]}, {}),
        ("redeliver", {"state": "sent"}, {}),
        ("explode", {"workflow": "asking"}, {}),
    ],
)
async def test_what_cannot_be_done_is_refused_before_there_is_a_batch(
    layover: Layover, act: str, where: dict[str, object], more: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        await layover.batch(act, where, **more)
    assert [one async for one in layover.batches()] == []


async def test_the_same_key_is_the_same_batch(layover: Layover) -> None:
    await asking(layover, 2)
    first = await layover.batch("pause", {"workflow": "asking"}, idempotency_key="k")
    again = await layover.batch("pause", {"workflow": "asking"}, idempotency_key="k")
    assert first.id == again.id
    with pytest.raises(Exception, match="another request") as caught:
        await layover.batch("cancel", {"workflow": "asking"}, idempotency_key="k")
    assert getattr(caught.value, "code", "") == "idempotency_mismatch"


# Crashes


@pytest.mark.parametrize(
    ("point", "nth"),
    [
        (CommitPoint.BATCH_CLAIMED, 2),
        (CommitPoint.BATCH_ITEM_DONE, 2),
        (CommitPoint.BATCH_ITEMS_DONE, 1),
        (CommitPoint.BATCH_ADVANCED, 2),
        (CommitPoint.COMMAND_COMMITTED, 2),
    ],
)
@pytest.mark.parametrize("act", ["pause", "cancel", "rewind"])
async def test_every_item_is_done_once_whenever_the_engine_dies(
    layover: Layover, point: CommitPoint, nth: int, act: str
) -> None:
    started = await asking(layover, 5)
    ann = layover.as_user("ann", ["operator"])
    layover.crash_at(point, nth)
    batch = await ann.batch(act, {"workflow": "asking"}, to="ask" if act == "rewind" else None)
    await batch.wait()
    assert layover.crashes == 1
    assert figures(batch) == ("completed", 5, 5, 0, 0)
    entries = [one.target async for one in layover.audit(act=f"execution.{act}")]
    assert sorted(entries) == sorted(one.id for one in started)
