"""One line proves that a workflow survives a crash everywhere, or tells where it does not."""

from __future__ import annotations

import inspect

import pytest

from layover.runtime.maintenance.verify import violations
from layover.testing import CommitPoint, DidNotSurvive, Layover, survives_crashes
from layover.testing.surviving import Crash, crash_from, crashes_of
from tests.runtime.harness import Refused, approval, call, child, delay, end, fan_out, flow, form
from tests.testing.alive import alive

P = CommitPoint

ORDER = flow(
    {"id": "big", "type": "condition", "if": "input.total > 100", "next": {"true": "review", "false": "lines"}},
    approval(deadline="3d", on_deadline="reject", remind=["1d"], next={"approved": "lines"}),
    fan_out(form("count"), "input.lines", id="lines", collect="${nodes.count.n}"),
    call("charge", "charge", input={"sum": "${input.total}"}, retry={"max_attempts": 3, "delay": "1m"}),
    {"id": "pick", "type": "callback", "call": "pick", "input": {"to": "${callback.token}"}},
    {
        "id": "paid",
        "type": "wait_signal",
        "signal": "paid",
        "key": "${input.id}",
        "deadline": "1d",
        "on_deadline": "fail",
    },
    child("ship", "shipping"),
    delay("rest", "2h"),
    end({"counts": "${nodes.lines}", "receipt": "${nodes.charge}", "pallet": "${nodes.pick}", "by": "${nodes.ship}"}),
    name="order",
)

CALLED_TWICE = (
    r"With a crash at `append_decided:2` the test fails \(to try that one alone: `--layover-crash=append_decided:2`\). "
    r"So it is with a crash at .*`call_returned:1`.* AssertionError: called twice"
)


@pytest.mark.parametrize("layover", ["memory"], indirect=True)
@survives_crashes
async def test_a_workflow_with_everything_in_it_survives(layover: Layover) -> None:
    await everything(layover)


@pytest.mark.parametrize("layover", ["sqlite"], indirect=True)
@survives_crashes(most=30, seed=7)
async def test_some_crashes_are_enough_where_each_takes_long(layover: Layover) -> None:
    await everything(layover)


async def everything(layover: Layover) -> None:
    charge = layover.fake("charge", script=[Refused("busy"), "receipt"])
    layover.fake("pick")
    await layover.register(flow(form("label"), end("${nodes.label.by}"), name="shipping"))
    order = await layover.start(ORDER, {"id": "A7", "total": 500, "lines": [1, 2]})
    await layover.skip("1d")
    (review,) = await layover.as_user("ann", ["approver"]).inbox().all()
    await review.approve()
    await order.answer("count:lines.1", {"n": 20})
    await order.answer("count:lines.0", {"n": 10})
    await layover.skip("1m")
    await layover.callback(point_id=(await order.point("pick")).id).complete("P1")
    await order.pause("lunch")
    await layover.signal("paid", 500, key="A7")
    await order.resume()
    (child_of_order,) = await layover.executions(parent_id=order.id).all()
    shipping = await layover.execution(child_of_order.id)
    await shipping.answer("label", {"by": "rail"})
    await layover.skip("2h")
    assert order.output == {"counts": [10, 20], "receipt": "receipt", "pallet": "P1", "by": "rail"}
    assert {one.idempotency_key for one in charge.calls} == {f"{order.id}/charge"}
    assert await violations((await alive(layover)).instance.store) == []


@survives_crashes
async def test_what_is_done_to_workflows_keys_and_points_survives(layover: Layover) -> None:
    workflow = await layover.register(flow(approval(), end("${nodes.review.by}")))
    await workflow.pause("lunch")
    execution = await layover.start("flow")
    assert execution.status == "paused"
    await workflow.resume()
    await (await layover.as_user("ann", ["approver"]).point((await execution.point("review")).id)).delegate("bob")
    await (await layover.as_user("bob", ["approver"]).point((await execution.point("review")).id)).approve()
    assert await execution.result() == "bob"
    other = await layover.start("flow")
    await (await other.point("review")).cancel("no more")
    assert other.status == "failed"
    made = await layover.create_api_key("ci", user="ann", roles=["viewer"])
    await layover.delete_api_key(made.id)
    await workflow.delete()
    assert await layover.workflows().all() == []


async def test_what_a_crash_changes_is_reported_with_the_crash(layover: Layover) -> None:
    async def counting(layover: Layover) -> None:
        work = layover.fake("work")
        await layover.start(flow(call("a")))
        assert len(work.calls) == 1, "called twice"

    with pytest.raises(DidNotSurvive, match=CALLED_TWICE):
        await survives_crashes(counting)(layover=layover)


async def test_executions_must_come_to_the_same(layover: Layover) -> None:
    async def numbered(layover: Layover) -> None:
        layover.fake("work", script=[1, 2])
        await layover.start(flow(call("a"), end("${nodes.a}")))

    with pytest.raises(
        DidNotSurvive, match=r"(?s)comes to something else: .*'executed', 2, .* instead of .*'executed', 1"
    ):
        await survives_crashes(numbered)(layover=layover)


async def test_a_call_in_doubt_is_not_made_again(layover: Layover) -> None:
    async def careful(layover: Layover) -> None:
        work = layover.fake("work", returns="done")
        execution = await layover.start(flow(call("a", on_crash="pause"), end("${nodes.a}")))
        assert len(work.calls) <= 1
        assert execution.output == "done"

    with pytest.raises(DidNotSurvive, match="`call_starting:1`"):
        await survives_crashes(careful)(layover=layover)


# Not on a file: several writes may share a transaction there, so a moment need not come as often in the next run.
@pytest.mark.parametrize("layover", ["memory"], indirect=True)
async def test_every_moment_of_the_undisturbed_run_has_its_crash(layover: Layover) -> None:
    tried: list[int] = []

    @survives_crashes
    async def asked(layover: Layover) -> None:
        execution = await layover.start(flow(form()))
        await execution.answer("ask", {})
        tried.append(layover.crashes)

    await asked(layover=layover)
    assert tried == [0] + [1] * (len(tried) - 1)
    assert len(tried) > 10


async def test_a_test_that_does_nothing_proves_nothing(layover: Layover) -> None:
    async def idle(layover: Layover) -> None:
        pass

    with pytest.raises(DidNotSurvive, match="has not used `layover`"):
        await survives_crashes(idle)(layover=layover)


async def test_one_crash_alone_can_be_tried(layover: Layover) -> None:
    runs: list[int] = []

    async def asked(layover: Layover) -> None:
        await layover.start(flow(form()))
        runs.append(layover.crashes)

    layover.only_crash = Crash(P.REST_TOLD, 1)
    await survives_crashes(asked)(layover=layover)
    assert runs == [0, 1]


def test_it_is_for_async_tests_that_take_the_fixture() -> None:
    def plain(layover: Layover) -> None:
        pass

    async def without() -> None:
        pass

    for test in (plain, without):
        with pytest.raises(TypeError, match="an async test that takes the fixture"):
            survives_crashes(test)  # type: ignore[arg-type]  # that is what is tested


def test_pytest_sees_the_fixtures_of_the_test() -> None:
    assert list(inspect.signature(test_a_workflow_with_everything_in_it_survives).parameters) == ["layover"]


def test_too_many_crashes_are_sampled_by_the_seed_with_the_first_of_every_kind() -> None:
    reached = {P.APPEND_DECIDED: 50, P.ROWS_WRITTEN: 60, P.CALL_STARTING: 2}
    assert len(crashes_of(reached, 200, 0)) == 112
    some = crashes_of(reached, 20, 1)
    assert (len(some), some == crashes_of(reached, 20, 1), some == crashes_of(reached, 20, 2)) == (20, True, False)
    assert {Crash(point, 1) for point in reached} <= set(some)
    assert len(crashes_of(reached, 2, 1)) == 2


@pytest.mark.parametrize("text", ["append_told:2", "rows_written:11"])
def test_a_crash_is_read_as_it_is_written(text: str) -> None:
    assert str(crash_from(text)) == text


def test_the_first_is_meant_where_no_number_is_given() -> None:
    assert crash_from("append_told") == Crash(P.APPEND_TOLD, 1)


@pytest.mark.parametrize("text", ["", "nowhere:1", "append_told:0", "append_told:x", "append_told:-1", "append_told:²"])
def test_what_is_no_crash_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a crash; write one like `append_told:2`, with one of append_decided"):
        crash_from(text)
