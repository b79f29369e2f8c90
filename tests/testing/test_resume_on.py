"""A pause of an operator that ends with a signal: with the next one that fits, once, and with none from before."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from layover import ResumeSignal
from layover.errors import InvalidInput, WrongState
from layover.testing import Layover, survives_crashes
from tests.runtime.harness import call, delay, end, flow

if TYPE_CHECKING:
    from layover import ExecutionHandle

PAID = {"signal": "paid", "key": "A1"}


async def resumes(execution: ExecutionHandle) -> int:
    return len([event async for event in execution.history() if event.type == "ExecutionResumed"])


async def test_a_pause_ends_with_the_signal_that_was_set(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    await execution.pause("until it is paid", resume_on=PAID)
    assert execution.resume_on == ResumeSignal(signal="paid", key="A1")
    assert "goes on by itself when the signal `paid` with the key `A1` arrives" in (await execution.why()).summary
    await layover.signal("paid", key="B2")
    await layover.signal("sent", key="A1")
    assert execution.status == "paused"
    receipt = await layover.signal("paid", key="A1")
    assert (execution.status, receipt.matched) == ("waiting", (execution.id,))
    assert (await execution.refresh()).resume_on is None
    await layover.signal("paid", key="A1")
    assert await resumes(execution) == 1
    await layover.skip("1h")
    assert execution.output == "done"


async def test_a_signal_from_before_the_pause_does_not_end_it(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    await layover.signal("paid", key="A1")
    await execution.pause(resume_on=PAID)
    await layover.skip("1d")
    assert execution.status == "paused"


async def test_a_signal_has_to_pass_the_filter(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    await execution.pause()
    await execution.resume(on={**PAID, "filter": "signal.data.amount >= 5"})
    for data in ({"amount": 4}, {"other": 9}, None, {"amount": "much"}):
        await layover.signal("paid", data, key="A1")
    assert execution.status == "paused"
    await layover.signal("paid", {"amount": 5}, key="A1")
    assert execution.status == "waiting"


async def test_the_signal_that_ends_a_pause_is_replaced_and_cleared(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    with pytest.raises(WrongState):
        await execution.resume(on=PAID)
    await execution.pause(resume_on=PAID)
    await execution.resume(on={"signal": "sent"})
    await layover.signal("paid", key="A1")
    assert (execution.status, execution.resume_on) == ("paused", ResumeSignal(signal="sent"))
    await execution.resume(cron="@daily")
    assert (execution.resume_on, execution.resume_at is None) == (None, False)
    await layover.signal("sent")
    await execution.pause(resume_on=PAID)
    assert execution.resume_at is None
    await execution.clear_resume()
    await layover.signal("paid", key="A1")
    assert (execution.status, execution.resume_on) == ("paused", None)


async def test_a_resume_by_hand_clears_the_signal(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    await execution.pause(resume_on=PAID)
    await execution.resume()
    await execution.pause("once more")
    await layover.signal("paid", key="A1")
    assert execution.status == "paused"


async def test_a_node_and_an_operator_may_wait_for_the_same_signal(layover: Layover) -> None:
    waits: dict[str, object] = {"id": "paid", "type": "wait_signal", **PAID, "lookback": "1d"}
    await layover.signal("paid", 1, key="A1", id="first")
    execution = await layover.start(flow(delay(duration="1s"), waits, end("${nodes.paid.id}")))
    await execution.pause(resume_on=PAID)
    await layover.skip("1h")
    assert execution.status == "paused"
    await layover.signal("paid", 2, key="A1", id="second")
    await layover.skip("1s")
    assert execution.output == "first"


@pytest.mark.parametrize(
    "on",
    [
        {},
        {"signal": ""},
        {"signal": "paid", "filter": "signal.date ="},
        {"signal": "paid", "filter": "signal.dota"},
        {"signal": "paid", "filter": "input.amount > 1"},
        {"signal": "paid", "filter": "'yes'"},
        {"signal": "paid", "keys": "A1"},
        {"signal": 5},
        {"signal": "pa\0id"},
        "paid",
    ],
)
async def test_a_signal_that_cannot_come_is_refused(layover: Layover, on: object) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    with pytest.raises(InvalidInput):
        await execution.pause(resume_on=on)  # type: ignore[arg-type]  # that is what is refused
    assert execution.status == "waiting"


async def test_only_one_end_of_a_pause_can_be_given(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    with pytest.raises(InvalidInput):
        await execution.pause(resume_on=PAID, until_cron="@daily")
    with pytest.raises(InvalidInput):
        await execution.resume({"n": 1}, on=PAID)


async def test_a_paused_execution_that_is_cancelled_no_longer_waits(layover: Layover) -> None:
    execution = await layover.start(flow(delay(duration="1h"), end("done")))
    await execution.pause(resume_on=PAID)
    await execution.cancel()
    assert (await layover.signal("paid", key="A1")).matched == ()
    assert execution.status == "cancelled"


@survives_crashes
async def test_a_crash_loses_neither_the_wait_nor_the_signal(layover: Layover) -> None:
    layover.fake("work", returns=5)
    execution = await layover.start(flow(delay(duration="1s"), call("a"), end("${nodes.a}")))
    await execution.pause(resume_on=PAID)
    await layover.signal("paid", key="A1", id="once")
    assert (execution.status, await resumes(execution)) == ("waiting", 1)
    await execution.pause(resume_on=PAID)
    await layover.skip("1h")
    assert (execution.status, await resumes(execution)) == ("paused", 1)
    await layover.signal("paid", key="A1", id="twice")
    await layover.skip("1s")
    assert (execution.output, await resumes(execution)) == (5, 2)


@pytest.mark.parametrize("seed", range(8))
async def test_a_pause_ends_with_the_first_signal_after_it_whatever_happens_around_it(
    layover: Layover, seed: int
) -> None:
    """Signals before, in between and after; again under a known id; purged meanwhile; beside what operators do."""
    dice = random.Random(seed)  # noqa: S311 - a test that can be repeated
    execution = await layover.start(flow(delay(duration="9999d"), end("done"), settings={"max_pause": "none"}))
    awaited, ended, known = None, 0, set[str]()
    for n in range(40):
        match dice.choice(("signal", "signal", "again", "pause", "on", "clear", "resume", "skip")):
            case "signal":
                key, id_ = dice.choice("AB"), f"s{n}"
                await layover.signal("paid", key=key, id=id_)
                known.add(id_)
                if awaited == key:
                    awaited, ended = None, ended + 1
            case "again" if known:
                await layover.signal("paid", key=dice.choice("AB"), id=dice.choice(sorted(known)))
            case "pause" if execution.status == "waiting":
                awaited = dice.choice(("A", "B", None))
                await execution.pause(resume_on=None if awaited is None else {"signal": "paid", "key": awaited})
            case "on" if execution.status == "paused":
                awaited = dice.choice("AB")
                await execution.resume(on={"signal": "paid", "key": awaited})
            case "clear" if execution.status == "paused":
                awaited = None
                await execution.clear_resume()
            case "resume" if execution.status == "paused":
                awaited, ended = None, ended + 1
                await execution.resume()
            case "skip":  # long enough for signals to be purged, which makes their ids unknown
                await layover.skip("10d")
                known.clear()
            case _:
                pass
        assert await resumes(execution) == ended, f"after step {n} of seed {seed}"
        assert (execution.resume_on is not None) == (awaited is not None)
