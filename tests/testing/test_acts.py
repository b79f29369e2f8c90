"""Whatever a test does to an execution has led to all that it leads to when it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover import Workflow, node
from layover.core.plan import load
from layover.runtime.errors import (
    AlreadyExists,
    AnswerRefused,
    CallbackRefused,
    LimitReached,
    UnknownWorkflow,
    WrongState,
)
from layover.testing import Layover, NobodyPlays, NoSuchPoint
from tests.runtime.harness import Refused, approval, call, child, delay, end, fan_out, flow, form

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
name: greet
nodes:
  - {id: say, type: greeting, input: {name: "${input.name}"}, next: done}
  - {id: done, type: end, output: "${nodes.say}"}
"""


async def greeting(name: str) -> str:
    return f"Hello {name}"


async def test_a_workflow_may_be_a_text_a_file_a_mapping_a_plan_or_a_name(layover: Layover, tmp_path: Path) -> None:
    layover.nodes(greeting)
    file = tmp_path / "greet.yaml"
    file.write_text(TEXT)
    same = [TEXT, file, str(file), load(TEXT), flow(call("a", "greeting", input={"name": "Ann"}), end("${nodes.a}"))]
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


async def test_what_nobody_plays_is_named_before_anything_begins(layover: Layover) -> None:
    inner = flow(call("x", "pack"), name="inner")
    await layover.register(inner)
    outer = flow(fan_out(call("y", "weigh"), "[1]"), child("z", "inner"), name="outer")
    with pytest.raises(NobodyPlays, match=r"`outer` calls `pack` and `weigh`.*layover\.fake\(\"pack\", returns"):
        await layover.start(outer)
    assert layover.executions == []


async def test_answers_go_to_context_ids(layover: Layover) -> None:
    execution = await layover.start(flow(fan_out(form("ask"), over="[1, 2]"), end("${nodes.each}")))
    assert list(execution.points) == ["ask:each.0", "ask:each.1"]
    await execution.answer("ask:each.1", {"n": 2})
    assert list(execution.points) == ["ask:each.0"]
    await execution.answer("ask:each.0", {"n": 1})
    assert execution.output == [{"n": 1}, {"n": 2}]


async def test_an_answer_where_nothing_waits_says_where_something_does(layover: Layover) -> None:
    execution = await layover.start(flow(form("count")))
    with pytest.raises(NoSuchPoint, match=r"at `cuont`. The execution is paused, and open is `count`. Did you mean"):
        await execution.answer("cuont", {})
    with pytest.raises(NoSuchPoint, match="No approval is open"):
        await execution.approve()


async def test_an_answer_that_is_refused_changes_nothing(layover: Layover) -> None:
    schema = {"type": "object", "required": ["n"]}
    execution = await layover.start(flow(form(schema=schema)))
    before = len(execution.history)
    with pytest.raises(AnswerRefused):
        await execution.answer("ask", {})
    assert (execution.status, len(execution.history)) == ("paused", before)


async def test_people_approve_and_reject(layover: Layover) -> None:
    wired = {"approved": "yes", "rejected": "no"}
    asked = flow(
        approval(approvers={"roles": ["boss"]}, need=2, next=wired),
        {**end("yes", "yes"), "next": None},
        end("no: ${nodes.review.comment}", "no"),
    )
    approved, rejected = await layover.start(asked), await layover.start(asked)
    with pytest.raises(AnswerRefused):
        await approved.approve(by="ann")
    await approved.approve(by="ann", roles=["boss"])
    assert approved.status == "paused"
    await approved.approve("review", by="bob", roles=["boss"])
    await rejected.reject(by="ann", roles=["boss"], comment="too dear")
    assert (approved.output, rejected.output) == ("yes", "no: too dear")


async def test_operators_pause_resume_and_cancel(layover: Layover) -> None:
    execution = await layover.start(flow(delay(), end("${vars.colour}"), variables={"colour": "red"}))
    await execution.pause("lunch", by="ann")
    assert execution.status == "paused"
    assert "lunch" in execution.why.summary
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
    assert (execution.status, execution.nodes["a"].output) == ("paused", "yes")
    await execution.rewind("a")
    await execution.answer("ask", {})
    assert execution.output == "again"


async def test_signals_reach_whoever_waits(layover: Layover) -> None:
    waiting = flow(
        {"id": "paid", "type": "wait_signal", "signal": "paid", "key": "${input}"}, end("${nodes.paid.data}")
    )
    first, second = await layover.start(waiting, "A"), await layover.start(waiting, "B")
    await layover.signal("paid", "B", {"sum": 5})
    assert (first.status, second.output) == ("waiting", {"sum": 5})


async def test_callbacks_are_given_by_their_context_id_or_by_their_token(layover: Layover) -> None:
    pick: dict[str, object] = {
        "id": "pick",
        "type": "callback",
        "call": "start_picking",
        "input": {"to": "${callback.token}"},
    }
    picking = layover.fake("start_picking")
    first, second, third = [await layover.start(flow(pick, end("${nodes.pick}"))) for _ in range(3)]
    await first.call_back("pick", {"pallet": 1})
    (token,) = [one["to"] for one in picking.inputs[1:2] if isinstance(one, dict)]
    await layover.call_back(token, {"pallet": 2})
    with pytest.raises(CallbackRefused):
        await layover.call_back(token, {"pallet": 2})
    await third.fail_callback("pick", "out of stock", retryable=False)
    assert (first.output, second.output) == ({"pallet": 1}, {"pallet": 2})
    assert third.error is not None
    assert third.error.message == "out of stock"


async def test_children_go_along(layover: Layover) -> None:
    await layover.register(flow(form("ask"), end("${nodes.ask.n}"), name="inner"))
    outer = await layover.start(flow(child("kid", "inner"), end("${nodes.kid}"), name="outer"))
    inner = await layover.execution(outer.points["kid"].child)
    await inner.answer("ask", {"n": 3})
    assert (inner.status, outer.output) == ("completed", 3)


async def test_ids_are_the_same_in_every_run_and_taken_ones_are_refused(layover: Layover) -> None:
    twin = layover.another()
    first, same = await layover.start(flow(end(1))), await twin.start(flow(end(1)))
    await twin.close()
    assert first.id == same.id
    with pytest.raises(AlreadyExists):
        await layover.start(flow(end(1)), id=first.id)
    keyed = await layover.start(flow(end(1)), key="k")
    with pytest.raises(AlreadyExists):
        await layover.start(flow(end(1)), key="k")
    assert layover.executions == [first, keyed]


async def test_a_name_that_nobody_has_registered_is_told(layover: Layover) -> None:
    await layover.register(flow(end(1), name="shipping"))
    with pytest.raises(
        UnknownWorkflow, match=r"no workflow `shiping` in this test; register it first. Did you mean `shipp"
    ):
        await layover.start("shiping")


async def test_a_start_that_is_refused_does_not_stand_in_the_way_of_the_next(layover: Layover) -> None:
    limited = flow(form(), settings={"concurrency": {"limit": 1, "on_conflict": "reject"}})
    first = await layover.start(limited)
    with pytest.raises(LimitReached):
        await layover.start(limited)
    await first.answer("ask", {})
    assert (await layover.start(limited)).status == "paused"


async def test_what_the_engine_itself_is_asked_is_settled_too(layover: Layover) -> None:
    execution = await layover.start(flow(delay(), form()))
    engine = await layover.engine()
    await layover.skip("1h")
    await engine.answer(execution.points["ask"].id, {})
    await layover.settle()
    assert execution.status == "completed"
