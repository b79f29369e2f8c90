"""Whatever a test does to an execution has led to all that it leads to when it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover import Workflow, node
from layover.core.plan import load
from layover.errors import (
    AlreadyExists,
    AnswerRefused,
    CallbackRefused,
    ExecutionFailed,
    LimitReached,
    NotAllowed,
    NotFound,
    WrongState,
)
from layover.testing import Layover, NobodyPlays
from tests.runtime.harness import Refused, approval, call, child, delay, end, fan_out, flow, form

if TYPE_CHECKING:
    from pathlib import Path

    from layover import ExecutionHandle
    from layover.interface.sources import Definition

TEXT = """
name: greet
nodes:
  - {id: say, type: greeting, input: {name: "${input.name}"}, next: done}
  - {id: done, type: end, output: "${nodes.say}"}
"""


async def where(execution: ExecutionHandle) -> list[str]:
    """Return the context ids at which points of an execution are open."""
    return [point.context_id async for point in execution.points()]


async def greeting(name: str) -> str:
    return f"Hello {name}"


async def test_a_workflow_may_be_a_text_a_file_a_mapping_a_plan_or_a_name(layover: Layover, tmp_path: Path) -> None:
    layover.nodes(greeting)
    file = tmp_path / "greet.yaml"
    file.write_text(TEXT)
    same: list[Definition] = [
        TEXT,
        file,
        str(file),
        load(TEXT),
        flow(call("a", "greeting", input={"name": "Ann"}), end("${nodes.a}")),
    ]
    found = [await layover.start(one, {"name": "Ann"}) for one in [*same, "greet"]]
    assert [one.output for one in found] == ["Hello Ann"] * 6
    assert [one.workflow for one in found] == ["greet", "greet", "greet", "greet", "flow", "greet"]


async def test_a_workflow_built_in_python_brings_its_functions_and_a_fake_stands_in_for_one(layover: Layover) -> None:
    @node
    async def weigh(parcel: str) -> int:
        return len(parcel)

    @node(name="send_off")
    def send(parcel: str) -> str:
        raise AssertionError(f"{parcel} must not be sent by a test")

    built = Workflow("parcels")
    weighed = built.call("weighed", weigh, input={"parcel": "${input}"})
    sent = built.call("sent", send, input={"parcel": "${input}"})
    weighed >> sent >> built.end("done", output={"weight": "${nodes.weighed}", "by": "${nodes.sent}"})
    sending = layover.fake(send, returns="post")
    execution = await layover.start(built, "book")
    assert execution.output == {"weight": 4, "by": "post"}
    assert sending.inputs == [{"parcel": "book"}]


async def test_a_node_type_without_a_function_is_named_before_anything_begins(layover: Layover) -> None:
    inner = flow(call("x", "pack"), name="inner")
    await layover.register(inner)
    outer = flow(fan_out(call("y", "weigh"), "[1]"), child("z", "inner"), name="outer")
    with pytest.raises(NobodyPlays, match=r"`outer` calls `pack` and `weigh`.*layover\.fake\(\"pack\", returns"):
        await layover.start(outer)
    assert await layover.executions().all() == []


async def test_answers_go_to_context_ids(layover: Layover) -> None:
    execution = await layover.start(flow(fan_out(form("ask"), over="[1, 2]"), end("${nodes.each}")))
    assert await where(execution) == ["ask:each.0", "ask:each.1"]
    await execution.answer("ask:each.1", {"n": 2})
    assert await where(execution) == ["ask:each.0"]
    await execution.answer("ask:each.0", {"n": 1})
    assert execution.output == [{"n": 1}, {"n": 2}]


async def test_an_answer_where_nothing_waits_says_where_something_does(layover: Layover) -> None:
    execution = await layover.start(flow(form("count")))
    with pytest.raises(NotFound, match=r"at cuont\. Open ones: `count`\. Did you mean `count`\?"):
        await execution.answer("cuont", {})
    await execution.answer("count", {})
    with pytest.raises(NotFound, match=r"at cuont\. Open ones: none\."):
        await execution.point("cuont")


async def test_an_answer_that_is_refused_changes_nothing(layover: Layover) -> None:
    schema = {"type": "object", "required": ["n"]}
    execution = await layover.start(flow(form(schema=schema)))
    before = execution.last_seq
    with pytest.raises(AnswerRefused):
        await execution.answer("ask", {})
    assert ((await execution.refresh()).status, execution.last_seq) == ("paused", before)


async def test_an_answer_after_the_deadline_or_to_no_point_says_so(layover: Layover) -> None:
    execution = await layover.start(flow(form(deadline="1h", on_deadline="fail")))
    point = await execution.point("ask")
    await layover.skip("1h")
    for who in (layover, layover.as_user("ann", ["approver"])):
        with pytest.raises(AnswerRefused) as late:
            await (await who.point(point.id)).answer({})
        assert late.value.code == "expired"
        with pytest.raises(NotFound) as unknown:
            await who.point("01a1e82d-52f6-8000-a92c-b24a09cb2d8c")
        assert unknown.value.code == "unknown_point"


async def test_people_approve_and_reject(layover: Layover) -> None:
    wired = {"approved": "yes", "rejected": "no"}
    asked = flow(
        approval(approvers={"roles": ["boss"]}, need=2, next=wired),
        {**end("yes", "yes"), "next": None},
        end("no: ${nodes.review.comment}", "no"),
    )
    approved, rejected = await layover.start(asked), await layover.start(asked)
    review = await approved.point("review")
    with pytest.raises(NotAllowed):
        await (await layover.as_user("ann", ["approver"]).point(review.id)).approve()
    ann, bob = layover.as_user("ann", ["approver", "boss"]), layover.as_user("bob", ["approver", "boss"])
    first, second = sorted(await ann.inbox().all(), key=lambda point: point.execution_id != approved.id)
    await first.approve()
    assert (first.id, approved.status) == (review.id, "paused")
    await (await (await bob.execution(approved.id)).point("review")).approve()
    await second.reject(comment="too dear")
    assert (approved.output, rejected.output) == ("yes", "no: too dear")
    assert [one.by for one in (await review.refresh()).decisions] == ["ann", "bob"]


async def test_what_a_user_may_not_do_is_refused_and_what_they_do_is_audited(layover: Layover) -> None:
    asked = flow(approval(), end("${nodes.review.by}"))
    await layover.register(asked)
    with pytest.raises(NotAllowed):
        await layover.as_user("ann", ["approver"]).start("flow")
    bob = layover.as_user("bob", ["operator", "approver"])
    execution = await bob.start("flow")
    await (await execution.point("review")).approve()
    assert (await bob.me()).user == execution.user == "bob"
    assert [(one.user, one.act) for one in await layover.audit().all()] == [
        ("bob", "approval.approve"),
        ("bob", "execution.start"),
        ("engine", "workflow.save"),
    ]


async def test_operators_pause_resume_and_cancel(layover: Layover) -> None:
    execution = await layover.start(flow(delay(), end("${vars.colour}"), variables={"colour": "red"}))
    await execution.pause("lunch")
    assert execution.status == "paused"
    assert "lunch" in (await execution.why()).summary
    await layover.skip("2h")
    assert execution.status == "paused"
    await execution.resume({"colour": "blue"})
    assert execution.output == "blue"
    other = await layover.start("flow")
    await other.cancel("enough")
    assert other.status == "cancelled"
    with pytest.raises(WrongState):
        await other.cancel()


async def test_operators_retry_and_rewind(layover: Layover) -> None:
    layover.fake("work", script=[Refused("no"), "yes", "again"])
    execution = await layover.start(flow(call("a"), form("ask"), end("${nodes.a}")))
    assert execution.status == "failed"
    await execution.retry()
    (first, _) = await execution.nodes().all()
    assert (execution.status, first.context_id, first.output) == ("paused", "a", "yes")
    await execution.rewind("a")
    await execution.answer("ask", {})
    assert execution.output == "again"


async def test_a_pause_ends_by_itself(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1s"), end("done")))
    await execution.pause("over the weekend", until_cron="0 8 * * MON", zone="Europe/Berlin")
    assert execution.resume_at is not None
    assert (execution.status, execution.resume_at.weekday()) == ("paused", 0)
    assert "goes on by itself" in (await execution.why()).summary
    await layover.skip("8d")
    assert (await execution.refresh()).output == "done"


async def test_the_end_of_a_pause_can_be_cleared(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1s"), end("done")))
    with pytest.raises(WrongState):
        await execution.resume(cron="@daily")
    await execution.pause()
    await execution.resume(cron="@daily")
    assert execution.resume_at is not None
    await execution.clear_resume()
    await layover.skip("2d")
    assert (await execution.refresh()).status == "paused"
    await execution.resume()
    await layover.skip("1s")
    assert (await execution.refresh()).output == "done"


async def test_signals_reach_the_executions_that_wait(layover: Layover) -> None:
    waiting = flow(
        {"id": "paid", "type": "wait_signal", "signal": "paid", "key": "${input}"}, end("${nodes.paid.data}")
    )
    first, second = await layover.start(waiting, "A"), await layover.start(waiting, "B")
    receipt = await layover.signal("paid", {"sum": 5}, key="B")
    assert (first.status, second.output, receipt.matched) == ("waiting", {"sum": 5}, (second.id,))


async def test_callbacks_are_given_by_their_context_id_or_by_their_token(layover: Layover) -> None:
    pick: dict[str, object] = {
        "id": "pick",
        "type": "callback",
        "call": "start_picking",
        "input": {"to": "${callback.token}"},
    }
    picking = layover.fake("start_picking")
    first, second, third = [await layover.start(flow(pick, end("${nodes.pick}"))) for _ in range(3)]
    await layover.callback(point_id=(await first.point("pick")).id).complete({"pallet": 1})
    (token,) = [one["to"] for one in picking.inputs[1:2] if isinstance(one, dict)]
    await layover.callback(token).complete({"pallet": 2})
    with pytest.raises(CallbackRefused):
        await layover.callback(token).complete({"pallet": 2})
    await layover.callback(point_id=(await third.point("pick")).id).fail("out of stock", retryable=False)
    assert (first.output, second.output) == ({"pallet": 1}, {"pallet": 2})
    assert third.error is not None
    assert third.error.message == "out of stock"


async def test_children_go_along(layover: Layover) -> None:
    await layover.register(flow(form("ask"), end("${nodes.ask.n}"), name="inner"))
    outer = await layover.start(flow(child("kid", "inner"), end("${nodes.kid}"), name="outer"))
    (summary,) = await layover.executions(parent_id=outer.id).all()
    inner = await layover.execution(summary.id)
    await inner.answer("ask", {"n": 3})
    assert (inner.status, outer.output) == ("completed", 3)


async def test_ids_are_the_same_in_every_run_and_taken_ones_are_refused(layover: Layover) -> None:
    twin = layover.another()
    first, same = await layover.start(flow(end(1))), await twin.start(flow(end(1)))
    await twin.close()
    assert first.id == same.id
    with pytest.raises(AlreadyExists):
        await layover.start(flow(end(1)), id=first.id)
    assert (await layover.start(flow(end(1)), id=first.id, on_conflict="return")).id == first.id


async def test_the_same_idempotency_key_is_the_same_execution(layover: Layover) -> None:
    first = await layover.start(flow(form()), 1, idempotency_key="k")
    assert (await layover.start("flow", 1, idempotency_key="k")).id == first.id
    with pytest.raises(AlreadyExists) as told:
        await layover.start("flow", 2, idempotency_key="k")
    assert told.value.code == "idempotency_mismatch"


async def test_run_returns_what_comes_out_or_raises_what_went_wrong(layover: Layover) -> None:
    layover.fake("work", raises=Refused("no"))
    assert await layover.run(flow(delay(), end("${input}")), 3) == 3
    with pytest.raises(ExecutionFailed, match="no"):
        await layover.run(flow(call("a"), name="failing"))


async def test_workflows_are_paused_listed_and_deleted(layover: Layover) -> None:
    workflow = await layover.register(flow(end(1)))
    await workflow.pause("lunch")
    held = await layover.start(workflow)
    assert held.status == "paused"
    await workflow.resume()
    assert held.status == "completed"
    assert [one.name for one in await layover.workflows().all()] == ["flow"]
    await workflow.delete()
    with pytest.raises(NotFound):
        await layover.start("flow")


async def test_an_unregistered_name_is_refused(layover: Layover) -> None:
    await layover.register(flow(end(1), name="shipping"))
    with pytest.raises(NotFound, match=r"no workflow `shiping` in this test; register it first. Did you mean `shipp"):
        await layover.start("shiping")


async def test_a_start_that_is_refused_does_not_stand_in_the_way_of_the_next(layover: Layover) -> None:
    limited = flow(form(), settings={"concurrency": {"limit": 1, "on_conflict": "reject"}})
    first = await layover.start(limited)
    with pytest.raises(LimitReached):
        await layover.start(limited)
    await first.answer("ask", {})
    assert (await layover.start(limited)).status == "paused"


async def test_events_let_time_pass_until_the_end(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="2d"), end("done")))
    assert [one.type async for one in execution.events()][-1] == "ExecutionCompleted"
    assert execution.status == "completed"
