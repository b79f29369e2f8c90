"""Time stands still until a test lets it pass; then everything happens at its own moment."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from layover.errors import ExecutionFailed, InvalidInput, WaitTimeout
from layover.testing import Layover, NotFinished
from layover.testing.virtual_time import VirtualTime
from tests.runtime.harness import Refused, approval, call, delay, end, flow, form

if TYPE_CHECKING:
    from layover import ExecutionHandle

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


async def moments(execution: ExecutionHandle, kind: str) -> list[timedelta]:
    """Return when events of a kind happened, counted from the beginning."""
    history = await execution.history().all()
    return [one.at - history[0].at for one in history if one.type == kind]


async def test_nothing_comes_due_by_itself(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1s"), end("done")))
    assert (execution.status, layover.now) == ("waiting", execution.created_at)


async def test_a_delay_is_over_exactly_when_it_is_over(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    await layover.skip(HOUR - timedelta(milliseconds=1))
    assert execution.status == "waiting"
    await layover.skip("1ms")
    assert (execution.status, execution.output) == ("completed", "done")


async def test_lengths_are_texts_and_timedeltas(layover: Layover) -> None:
    before = layover.now
    await layover.skip("1h30m")
    await layover.skip(timedelta(days=2))
    assert layover.now - before == 1.5 * HOUR + 2 * DAY
    with pytest.raises(InvalidInput, match="is not a length of time"):
        await layover.skip(5)  # type: ignore[arg-type]  # that is what is tested


async def test_what_is_due_acts_in_order_each_at_its_own_moment(layover: Layover) -> None:
    done = layover.fake("work")
    later = await layover.start(flow(delay(duration="3h"), call("a", input={"n": 3}), name="later"))
    sooner = await layover.start(
        flow(delay(duration="1h"), call("b", input={"n": 1}), delay("c"), call("d"), name="sooner")
    )
    began = layover.now
    await layover.skip("1d")
    assert [(one.context_id, one.at - began) for one in done.calls] == [("b", HOUR), ("d", 2 * HOUR), ("a", 3 * HOUR)]
    assert {later.status, sooner.status} == {"completed"}


async def test_an_approval_of_three_days_with_reminders_and_escalation(layover: Layover) -> None:
    review = approval(
        approvers={"roles": ["manager"]},
        deadline="3d",
        on_deadline="reject",
        remind=["4h", "1d"],
        escalate={"after": "2d", "to": {"roles": ["cfo"]}},
        next={"approved": "paid", "rejected": "refused"},
    )
    refused: dict[str, object] = {"id": "refused", "type": "end", "outcome": "blocked", "output": "too late"}
    order = flow(review, {**end("paid", "paid"), "next": None}, refused)
    execution = await layover.start(order)
    await layover.skip("3d")
    assert (execution.outcome, execution.output) == ("blocked", "too late")
    assert await moments(execution, "PausePointReminded") == [4 * HOUR, DAY]
    assert await moments(execution, "PausePointEscalated") == [2 * DAY]
    assert await moments(execution, "ExecutionCompleted") == [3 * DAY]
    other = await layover.start("flow")
    await layover.skip("2d")
    (asked,) = await layover.as_user("cleo", ["approver", "cfo"]).inbox().all()
    await asked.approve()
    assert other.output == "paid"


async def test_retries_wait_as_long_as_their_policy_says_without_jitter(layover: Layover) -> None:
    failing = layover.fake("work", raises=Refused("no"))
    retry = {"max_attempts": 3, "delay": "1m", "multiplier": 2}
    execution = await layover.start(flow(call("a", retry=retry)))
    began = layover.now
    assert (execution.status, len(failing.calls)) == ("waiting", 1)
    await layover.skip("1h")
    assert [one.at - began for one in failing.calls] == [timedelta(minutes=one) for one in (0, 1, 3)]
    assert [one.attempt for one in failing.calls] == [1, 2, 3]
    assert execution.error is not None
    assert (execution.status, execution.error.type) == ("failed", "Refused")


async def test_a_call_may_take_time_and_time_out(layover: Layover) -> None:
    slow = layover.fake("work", returns="done", takes="5m")
    execution = await layover.start(flow(call("a", timeout="2m", retry={"max_attempts": 2, "delay": "1m"})))
    assert (execution.status, len(slow.calls)) == ("running", 1)
    await layover.skip("2m")
    assert execution.status == "waiting"
    await layover.skip("1h")
    assert execution.error is not None
    assert (execution.error.code, len(slow.calls)) == ("timeout", 2)


async def test_a_call_that_gives_no_sign_of_life_is_given_up_in_time(layover: Layover) -> None:
    layover.fake("work", takes="5m")
    execution = await layover.start(flow(call("a", heartbeat="30s")))
    await layover.skip("29s")
    assert execution.status == "running"
    await layover.skip("1s")
    assert execution.error is not None
    assert execution.error.code == "heartbeat_timeout"


async def test_a_call_that_takes_time_ends_in_time(layover: Layover) -> None:
    layover.fake("work", returns="done", takes="5m")
    execution = await layover.start(flow(call("a"), end("${nodes.a}")))
    await layover.skip("5m")
    assert execution.output == "done"


async def test_waiting_for_the_end_lets_as_much_time_pass_as_it_takes(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="4w"), delay("more"), end("done")))
    began = layover.now
    assert await execution.result() == "done"
    assert layover.now - began == 28 * DAY + HOUR


async def test_waiting_for_the_end_of_what_waits_for_a_person_fails_with_the_reason(layover: Layover) -> None:
    execution = await layover.start(flow(form("ask")))
    with pytest.raises(NotFinished, match="`flow` has not ended: `ask` waits"):
        await execution.result()


async def test_waiting_with_a_timeout_lets_that_much_time_pass(layover: Layover) -> None:
    execution = await layover.start(flow(form("ask", deadline="2d", on_deadline="fail"), end("done")))
    began = layover.now
    with pytest.raises(WaitTimeout, match="`ask` waits"):
        await execution.result(timeout="1d")
    assert layover.now - began == DAY
    await execution.wait("end", timeout="2d")
    assert (execution.status, layover.now - began) == ("failed", 2 * DAY)


async def test_a_start_may_wait_for_a_state(layover: Layover) -> None:
    flow_ = flow(delay(), form("ask"), delay("more"), end("done"))
    began = layover.now
    assert (await layover.start(flow_, until="rest")).status == "waiting"
    assert (await layover.start(flow_, until="people")).status == "paused"
    assert layover.now - began == HOUR
    late = await layover.start(flow_, until="people", timeout="30m")
    assert (late.status, layover.now - began) == ("waiting", 1.5 * HOUR)
    assert (await late.wait("people")).status == "paused"


async def test_waiting_for_the_end_of_what_fails_raises_that(layover: Layover) -> None:
    layover.fake("work", raises=Refused("no"))
    execution = await layover.start(flow(call("a")))
    with pytest.raises(ExecutionFailed, match="no"):
        await execution.result()


async def test_what_is_called_off_at_its_own_moment_is_not_done() -> None:
    time, done = VirtualTime(), list[str]()

    def first() -> None:
        done.append("first")
        second.cancel()

    time.call_at(time.now + 5, first)
    second = time.call_at(time.now + 5, lambda: done.append("second"))
    time.pass_to(time.now + 5)
    await asyncio.sleep(0)
    assert done == ["first"]


async def test_a_delayed_start_starts_in_time(layover: Layover) -> None:
    execution = await layover.start(flow(end("done")), delay="1d")
    assert execution.status == "pending"
    await layover.skip("1d")
    assert execution.output == "done"


async def test_limits_let_the_next_one_begin_when_one_has_ended(layover: Layover) -> None:
    limited = flow(delay(), end("done"), settings={"concurrency": {"limit": 1}})
    first = await layover.start(limited)
    second = await layover.start(limited)
    assert (first.status, second.status) == ("waiting", "pending")
    await layover.skip("1h")
    assert (first.status, second.status) == ("completed", "waiting")
    await layover.skip("1h")
    assert second.status == "completed"


async def test_rates_let_the_next_one_begin_in_time(layover: Layover) -> None:
    rated = flow(end("done"), settings={"rate": {"limit": 1, "per": "1h"}})
    executions = [await layover.start(rated) for _ in range(3)]
    assert [one.status for one in executions] == ["completed", "pending", "pending"]
    await layover.skip("1h")
    assert [one.status for one in executions] == ["completed", "completed", "pending"]
    await layover.skip("1h")
    assert [one.status for one in executions] == ["completed"] * 3


async def test_another_attempt_is_told_in_hours_and_not_in_milliseconds(layover: Layover) -> None:
    layover.fake("work", raises=ValueError("no"))
    await layover.register(
        flow(call("a", retry={"delay": "30m", "multiplier": 2, "max_delay": "2h", "jitter": 0}), name="trying")
    )
    execution = await layover.start("trying", None)
    assert (await execution.why()).summary == "`a` failed once and is tried again in 30m00s: no"
    await layover.skip("30m")
    assert (await execution.why()).summary == "`a` failed 2 times and is tried again in 1h00m: no"
