"""Failures that are tried again, and those that wait for an operator."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine.events import NodeFailed
from layover.errors import LayoverError, WrongState
from tests.runtime.harness import (
    HOUR,
    HandWound,
    Refused,
    Scripted,
    call,
    end,
    engine_at,
    engine_on,
    flow,
    until_seq,
    until_status,
)

THRICE = {"max_attempts": 3, "delay": "10ms", "multiplier": 1}


async def test_a_failed_call_is_tried_again_until_it_succeeds(tmp_path: Path) -> None:
    work = Scripted(Refused("one"), Refused("two"), "well")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=THRICE)))
        done = await engine.executions.start("flow", wait="end")
        assert done.output == "well"
        assert [one.attempt for one in work.calls] == [1, 2, 3]
        assert {one.idempotency_key for one in work.calls} == {f"{done.id}/a"}
        (node,) = await engine.queries.nodes(done.id)
        assert [one.error.message if one.error else "" for one in node.attempts] == ["one", "two", ""]
        assert [one.cause for one in node.attempts] == ["reached", "retried", "retried"]


async def test_when_all_attempts_have_failed_the_last_error_counts(tmp_path: Path) -> None:
    work = Scripted(Refused("one"), Refused("two"), Refused("three"))
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=THRICE)))
        failed = await engine.executions.start("flow", wait="end")
        assert failed.error is not None
        assert (failed.error.message, failed.error.attempt, len(work.calls)) == ("three", 3, 3)


async def test_an_error_that_is_ignored_is_not_tried_again(tmp_path: Path) -> None:
    work = Scripted(Refused("no"))
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry={**THRICE, "ignore": ["Refused"]})))
        assert (await engine.executions.start("flow", wait="end")).status == "failed"
        assert len(work.calls) == 1


async def test_an_error_is_recognised_by_the_class_above_it(tmp_path: Path) -> None:
    work = Scripted(FileNotFoundError("gone"), Refused("no"))
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry={**THRICE, "retry_on": ["OSError"]})))
        failed = await engine.executions.start("flow", wait="end")
        assert failed.error is not None
        assert (failed.error.type, len(work.calls)) == ("Refused", 2)


async def test_a_function_can_say_that_trying_again_will_not_help(tmp_path: Path) -> None:
    class Final(LayoverError):  # noqa: N818 - it says what the error is
        code = "card_refused"
        retryable = False

    work = Scripted(Final("never"))
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=THRICE)))
        failed = await engine.executions.start("flow", wait="end")
        assert failed.error is not None
        assert (failed.error.code, failed.error.retryable, len(work.calls)) == ("card_refused", False, 1)


async def test_delays_grow_and_are_spread_by_chance(tmp_path: Path) -> None:
    clock, work = HandWound(), Scripted(Refused("no"))
    retry = {"max_attempts": 4, "delay": "10s", "multiplier": 2, "jitter": 0.5}
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(call("a", retry=retry)))
        ids = [(await engine.executions.start("flow", wait="rest")).id for _ in range(8)]
        for attempt in (2, 3, 4):
            clock.skip(engine, 100_000)
            for one in ids:
                await until_seq(engine, one, 4 * attempt + 1)
        waits: list[set[int]] = [set(), set(), set()]
        for one in ids:
            entries = await engine.queries.history(one)
            failed = [(entry.at, entry.event) for entry in entries if isinstance(entry.event, NodeFailed)]
            assert [event.attempt for _, event in failed] == [1, 2, 3, 4]
            for found, (at, event) in zip(waits, failed, strict=False):
                assert event.retry_at is not None
                found.add(event.retry_at - at)
            assert failed[-1][1].retry_at is None
        for found, middle in zip(waits, (10_000, 20_000, 40_000), strict=True):
            assert len(found) > 1
            assert all(middle / 2 <= wait <= middle * 1.5 for wait in found)


async def test_a_retry_that_waits_survives_the_engine(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), Scripted(Refused("no"))) as engine:
        await engine.workflows.register(flow(call("a", retry={"max_attempts": 2, "delay": "1h"})))
        resting = await engine.executions.start("flow", wait="rest")
        assert resting.status == "waiting"
    work = Scripted("well")
    async with engine_on(clock.store(tmp_path), work) as engine:
        assert work.calls == []
        clock.skip(engine, 2 * HOUR)
        assert await engine.executions.result(resting.id) == "well"
        assert [one.attempt for one in work.calls] == [2]


@pytest.mark.parametrize("how", ["retry", "resume"])
async def test_an_incident_waits_for_an_operator_who_can_have_it_tried_again(tmp_path: Path, how: str) -> None:
    work = Scripted(Refused("no"), Refused("no"), "well")
    retry = {"max_attempts": 2, "delay": "1ms", "on_exhausted": "pause"}
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a", retry=retry), end("${nodes.a}")))
        started = await engine.executions.start("flow")
        await until_status(engine, started.id, "paused")
        assert [one.kind for one in (await engine.queries.get(started.id)).waiting_on] == ["incident"]
        assert "waits for an operator: no" in (await engine.queries.why(started.id)).summary
        await (engine.control.retry(started.id) if how == "retry" else engine.control.resume(started.id))
        assert await engine.executions.result(started.id) == "well"
        assert [one.attempt for one in work.calls] == [1, 2, 3]


async def test_a_failed_execution_goes_on_from_what_failed(tmp_path: Path) -> None:
    first, second = Scripted("kept", name="first"), Scripted(Refused("no"), "well", name="second")
    async with engine_at(tmp_path, first, second) as engine:
        await engine.workflows.register(
            flow(call("a", "first"), call("b", "second"), end(["${nodes.a}", "${nodes.b}"]))
        )
        failed = await engine.executions.start("flow", wait="end")
        assert failed.status == "failed"
        again = await engine.control.retry(failed.id, by="ann")
        assert again.error is None
        done = await engine.executions.wait(failed.id)
        assert done.output == ["kept", "well"]
        assert (len(first.calls), [one.attempt for one in second.calls]) == (1, [1, 2])
        assert await engine.lists.counts() == {"completed": 1}


async def test_what_has_not_failed_cannot_be_retried(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end(1)))
        done = await engine.executions.start("flow", wait="end")
        with pytest.raises(WrongState) as refused:
            await engine.control.retry(done.id)
        assert (refused.value.code, refused.value.current_status) == ("wrong_state", "completed")
        assert (await engine.queries.get(done.id)).last_seq == done.last_seq
