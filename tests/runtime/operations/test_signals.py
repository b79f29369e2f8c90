"""Signals: whoever waits for one goes on, whichever came first, and each signal counts once."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from layover.errors import ExecutionFailed
from layover.ports.commit_points import CommitPoint, watch
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import (
    HOUR,
    HandWound,
    end,
    engine_at,
    engine_on,
    fan_out,
    flow,
    look,
    until,
    until_status,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.runtime.runtime import Runtime


def wait_for(signal: str | None = "paid", id_: str = "settled", **fields: object) -> dict[str, object]:
    named = {"signal": signal} if signal is not None else {}
    return {"id": id_, "type": "wait_signal", **named, **fields}


def several(need: object = "all", **fields: object) -> dict[str, object]:
    signals = [{"alias": name, "signal": name, "key": "k"} for name in ("paid", "sent", "seen")]
    return {"id": "settled", "type": "wait_signal", "signals": signals, "need": need, **fields}


THE_ID = end("${nodes.settled.id}")


def let_pass(clock: HandWound, engine: Runtime, milliseconds: int) -> None:
    """Let time pass for the store and the engine alike."""
    clock.now += milliseconds
    engine.instance.clock.set(clock.now)
    look(engine)


async def is_heard(engine: Runtime, execution_id: str) -> None:
    """Wait until an execution has taken in all that it was told."""
    await until(engine, execution_id, lambda head: head.owner is None and head.commands_done == head.commands_seq)


@contextmanager
def noticed(point: CommitPoint) -> Iterator[asyncio.Event]:
    """Tell when a moment is reached for the first time."""
    event = asyncio.Event()
    watch(lambda one: event.set() if one is point else None)
    try:
        yield event
    finally:
        watch(None)


# One signal, one wait


async def test_a_signal_resumes_the_execution_that_waits_for_it(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(wait_for(key="${input.id}"), end("${nodes.settled}")))
        started = await engine.executions.start("flow", {"id": 42}, wait="rest")
        assert started.status == "waiting"
        told = await engine.signals.deliver("paid", "42", {"sum": [1, None, "ü"]}, id="s1")
        assert (told.id, told.matched, told.repeated) == ("s1", (started.id,), False)
        output = await engine.executions.result(started.id)
        assert isinstance(output, dict)
        assert output.pop("at") >= started.created_at.milliseconds
        assert output == {"id": "s1", "name": "paid", "key": "42", "data": {"sum": [1, None, "ü"]}}
        assert await violations(engine.instance.store) == []


@pytest.mark.parametrize(
    ("name", "key"), [("paid", "43"), ("paid", ""), ("sent", "42"), ("Paid", "42"), ("42", "paid")]
)
async def test_another_name_or_key_is_for_others(tmp_path: Path, name: str, key: str) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(wait_for(key="42"), THE_ID))
        started = await engine.executions.start("flow", wait="rest")
        assert (await engine.signals.deliver(name, key, id="other")).matched == ()
        await engine.signals.deliver("paid", "42", id="right")
        assert await engine.executions.result(started.id) == "right"


async def test_a_signal_without_a_waiter_is_taken_and_dispatched(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        assert (await engine.signals.deliver("paid", "42")).matched == ()
        assert await engine.instance.store.signals.list_undispatched(2**60, 10) == []


async def test_the_same_id_is_taken_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(
            flow(wait_for(id_="first"), wait_for(id_="second"), end("${nodes.second.data}"))
        )
        started = await engine.executions.start("flow", wait="rest")
        assert not (await engine.signals.deliver("paid", data=1, id="s1")).repeated
        await until(engine, started.id, lambda head: head.owner is None and head.last_seq > started.last_seq)
        again = await engine.signals.deliver("paid", data=2, id="s1")
        assert (again.repeated, again.matched) == (True, ())
        assert (await engine.queries.get(started.id)).status == "waiting"
    async with engine_at(tmp_path) as engine:  # nor after a restart
        assert (await engine.signals.deliver("paid", data=3, id="s1")).repeated
        await engine.signals.deliver("paid", data=4, id="s2")
        assert await engine.executions.result(started.id) == 4


async def test_the_same_signal_sent_many_times_at_once_counts_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine, engine_at(tmp_path) as other:
        await engine.workflows.register(flow(wait_for(), end("${nodes.settled.data}")))
        started = await engine.executions.start("flow", wait="rest")
        told = await asyncio.gather(*(one.signals.deliver("paid", data=1, id="s") for one in (engine, other) * 10))
        assert sorted(one.repeated for one in told) == [False] + [True] * 19
        assert await engine.executions.result(started.id) == 1


# Before the wait


async def test_without_lookback_only_what_comes_from_the_opening_on_counts(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(wait_for(), THE_ID))
        await engine.signals.deliver("paid", id="before")
        let_pass(clock, engine, 1_000)
        with noticed(CommitPoint.MESSAGES_SENT) as scanned:
            started = await engine.executions.start("flow", wait="rest")
            await scanned.wait()
        await is_heard(engine, started.id)
        await engine.signals.deliver("paid", id="after")
        assert await engine.executions.result(started.id) == "after"


async def test_a_wait_that_looks_back_takes_the_oldest_signal_in_its_window(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(wait_for(lookback="75m"), THE_ID))
        for id_ in ("too old", "old", "young"):
            await engine.signals.deliver("paid", id=id_)
            let_pass(clock, engine, HOUR // 2)
        started = await engine.executions.start("flow")
        assert await engine.executions.result(started.id) == "old"


async def test_a_signal_that_came_before_is_found_after_a_restart(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.signals.deliver("paid", id="s1")
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(wait_for(lookback="1h"), THE_ID))
        assert (await engine.executions.start("flow", wait="end")).output == "s1"


async def test_signals_are_forgotten_after_a_while(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), signal_retention=HOUR) as engine:
        await engine.workflows.register(flow(wait_for(lookback="3h"), THE_ID))
        await engine.signals.deliver("paid", id="old")
        let_pass(clock, engine, HOUR)
        await engine.signals.deliver("paid", id="young")
        let_pass(clock, engine, HOUR // 2)
        await engine.instance.purger.clean()
        assert not (await engine.signals.deliver("sent", id="old")).repeated
        assert (await engine.signals.deliver("paid", id="young")).repeated
        assert (await engine.executions.start("flow", wait="end")).output == "young"


async def test_two_waits_of_one_execution_do_not_look_back_to_the_same_signal(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(
            flow(wait_for(id_="a", lookback="1h"), wait_for(id_="b", lookback="1h"), end("${[nodes.a.id, nodes.b.id]}"))
        )
        await engine.signals.deliver("paid", id="s")
        started = await engine.executions.start("flow", wait="rest")
        await engine.signals.deliver("paid", id="t")
        assert await engine.executions.result(started.id) == ["s", "t"]


@pytest.mark.usefixtures("each_database")
async def test_a_loop_of_waits_that_look_back_takes_each_signal_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        rounds: dict[str, object] = {
            "id": "rounds",
            "type": "loop",
            "for_each": "[0, 1, 2, 3]",
            "body": [wait_for(lookback="1h")],
            "collect": "${nodes.settled.data}",
        }
        await engine.workflows.register(flow(rounds, end("${nodes.rounds}")))
        for number in range(3):
            await engine.signals.deliver("paid", data=number, id=f"s{number}")
        started = await engine.executions.start("flow", wait="rest")
        await engine.signals.deliver("paid", data=3, id="s3")
        assert await engine.executions.result(started.id) == [0, 1, 2, 3]


# Filters


async def test_what_does_not_pass_the_filter_is_passed_over(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        chosen = "signal.data.sum > input.least && signal.key == 'k' && signal.name == 'paid'"
        await engine.workflows.register(flow(wait_for(key="k", filter=chosen), THE_ID))
        started = await engine.executions.start("flow", {"least": 10}, wait="rest")
        for id_, data in (("less", {"sum": 10}), ("none", {}), ("odd", None), ("text", {"sum": "11"})):
            assert (await engine.signals.deliver("paid", "k", data, id=id_)).matched == (started.id,)
            await is_heard(engine, started.id)
        assert (await engine.queries.get(started.id)).status == "waiting"
        await engine.signals.deliver("paid", "k", {"sum": 11}, id="more")
        assert await engine.executions.result(started.id) == "more"


# Several signals


@pytest.mark.parametrize(
    ("need", "brought"),
    [("all", ["sent", "seen", "paid"]), ("any", ["seen"]), (2, ["seen", "paid"])],
)
async def test_so_many_of_several_are_needed(tmp_path: Path, need: object, brought: list[str]) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(several(need), end("${nodes.settled}")))
        started = await engine.executions.start("flow", wait="rest")
        for name in brought:
            assert (await engine.queries.get(started.id)).status == "waiting"
            await engine.signals.deliver(name, "k", name)
            await until(engine, started.id, lambda head: head.commands_done == head.commands_seq)
        output = await engine.executions.result(started.id)
        assert isinstance(output, dict)
        assert {alias: one["data"] for alias, one in output.items()} == {name: name for name in brought}


async def test_the_required_one_must_come_however_many_others_have(tmp_path: Path) -> None:
    signals = [
        {"alias": "a", "signal": "a"},
        {"alias": "b", "signal": "b"},
        {"alias": "c", "signal": "c", "required": True},
    ]
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(
            flow(wait_for(None, signals=signals, need="any"), end("${nodes.settled.map(k, k)}"))
        )
        started = await engine.executions.start("flow", wait="rest")
        for name in ("a", "b"):
            await engine.signals.deliver(name)
            await is_heard(engine, started.id)
        assert (await engine.queries.get(started.id)).status == "waiting"
        await engine.signals.deliver("c")
        output = await engine.executions.result(started.id)
        assert isinstance(output, list)
        assert sorted(output) == ["a", "b", "c"]


async def test_two_of_one_name_take_two_signals_and_one_signal_only_one_of_them(tmp_path: Path) -> None:
    signals = [{"alias": "one", "signal": "paid"}, {"alias": "two", "signal": "paid"}]
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(
            flow(wait_for(None, signals=signals), end("${[nodes.settled.one.id, nodes.settled.two.id]}"))
        )
        started = await engine.executions.start("flow", wait="rest")
        await engine.signals.deliver("paid", id="x")
        await is_heard(engine, started.id)
        assert (await engine.queries.get(started.id)).status == "waiting"
        await engine.signals.deliver("paid", id="y")
        assert await engine.executions.result(started.id) == ["x", "y"]


async def test_several_are_found_by_looking_back_and_ahead(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(several(lookback="1h"), end("${nodes.settled.map(k, k)}")))
        await engine.signals.deliver("sent", "k")
        await engine.signals.deliver("seen", "k")
        started = await engine.executions.start("flow", wait="rest")
        await engine.signals.deliver("paid", "k")
        output = await engine.executions.result(started.id)
        assert isinstance(output, list)
        assert sorted(output) == ["paid", "seen", "sent"]


# Deadlines


@pytest.mark.parametrize(
    ("on_deadline", "output"), [("continue", None), ("partial", ["sent"]), ("fail", "deadline_passed")]
)
async def test_a_deadline_decides_when_not_all_have_come(tmp_path: Path, on_deadline: str, output: object) -> None:
    clock = HandWound()
    wait = several(deadline="1h", on_deadline=on_deadline, next={"done": "well", "error": "badly"})
    well = end("${nodes.settled == null ? null : nodes.settled.map(k, k)}", "well")
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register({"name": "flow", "nodes": [wait, well, end("${errors.settled.code}", "badly")]})
        started = await engine.executions.start("flow", wait="rest")
        await engine.signals.deliver("sent", "k")
        await is_heard(engine, started.id)
        clock.skip(engine, 2 * HOUR)
        assert await engine.executions.result(started.id) == output
        assert (await engine.signals.deliver("paid", "k")).matched == ()


async def test_a_deadline_without_an_error_port_fails_the_execution(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(wait_for(deadline="1h", on_deadline="fail"), THE_ID))
        started = await engine.executions.start("flow", wait="rest")
        clock.skip(engine, 2 * HOUR)
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(started.id)
        assert failed.value.error.code == "deadline_passed"


# One signal for many


async def test_one_signal_wakes_many_executions_and_several_points_of_one(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(fan_out(wait_for(key="k")), end("${nodes.each.map(one, one.id)}")))
        started = [await engine.executions.start("flow", [1, 2, 3], wait="rest") for _ in range(3)]
        told = await engine.signals.deliver("paid", "k", id="s")
        assert sorted(told.matched) == sorted(one.id for one in started)
        for one in started:
            assert await engine.executions.result(one.id) == ["s", "s", "s"]
        assert await violations(engine.instance.store) == []


async def test_a_signal_reaches_more_waits_than_fit_into_one_command(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(fan_out(wait_for(key="k")), end("${size(nodes.each)}")))
        started = await engine.executions.start("flow", list(range(250)), wait="rest")
        assert (await engine.signals.deliver("paid", "k")).matched == (started.id,)
        assert await engine.executions.result(started.id) == 250


async def test_a_thousand_signals_at_once(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(fan_out(wait_for(key="${item}")), end("${nodes.each.map(one, one.data)}")))
        started = [
            await engine.executions.start("flow", [f"{n}-{m}" for m in range(50)], wait="rest") for n in range(20)
        ]
        told = await asyncio.gather(
            *(engine.signals.deliver("paid", f"{n}-{m}", m) for m in range(50) for n in range(20))
        )
        assert all(len(one.matched) == 1 for one in told)
        for one in started:
            assert await engine.executions.result(one.id) == list(range(50))
        assert await engine.instance.store.signals.list_undispatched(2**60, 10) == []


# While it is held


async def test_a_signal_for_a_paused_execution_is_accepted_and_acts_at_resume(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(wait_for(deadline="1h", on_deadline="fail"), THE_ID))
        started = await engine.executions.start("flow", wait="rest")
        await engine.control.pause(started.id, "lunch")
        assert (await engine.signals.deliver("paid", id="meanwhile")).matched == (started.id,)
        await is_heard(engine, started.id)
        let_pass(clock, engine, 2 * HOUR)  # nor does the deadline act, then or later: the signal came first
        assert (await engine.queries.get(started.id)).status == "paused"
        await engine.control.resume(started.id)
        assert await engine.executions.result(started.id) == "meanwhile"


async def test_a_signal_does_not_match_a_closed_point(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(wait_for(), THE_ID))
        closed = await engine.executions.start("flow", wait="rest")
        given_up = await engine.executions.start("flow", wait="rest")
        await engine.control.cancel(closed.id)
        (row,) = await engine.points.list(given_up.id)
        await engine.answers.cancel_point(row.point.id)
        await until_status(engine, given_up.id, "failed")
        assert (await engine.signals.deliver("paid")).matched == ()


# Other ways of an execution


@pytest.mark.parametrize("durability", ["step", "leg"])
async def test_a_wait_is_seen_however_the_workflow_is_durable(tmp_path: Path, durability: str) -> None:
    async with engine_at(tmp_path) as engine:
        waits = wait_for(id_="first", filter="signal.data == 1"), wait_for(id_="second", lookback="1h")
        await engine.workflows.register(flow(*waits, end("${nodes.second.data}"), settings={"durability": durability}))
        started = await engine.executions.start("flow", wait="rest")
        await engine.signals.deliver("paid", data=2)
        await engine.signals.deliver("paid", data=1)
        assert await engine.executions.result(started.id) == 2


async def test_a_retried_wait_takes_no_signal_from_before_the_retry(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(wait_for(deadline="1h", on_deadline="fail"), THE_ID))
        started = await engine.executions.start("flow", wait="rest")
        clock.skip(engine, 2 * HOUR)
        await until_status(engine, started.id, "failed")
        assert (await engine.signals.deliver("paid", id="while it was failed")).matched == ()
        let_pass(clock, engine, 1_000)
        await engine.control.retry(started.id)
        await until_status(engine, started.id, "waiting")
        assert (await engine.signals.deliver("paid", id="s")).matched == (started.id,)
        assert await engine.executions.result(started.id) == "s"
