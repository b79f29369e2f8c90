"""Callbacks: a function is told where to call back, and whoever it tells has one reply."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING, Any

import pytest

from layover.core.engine.events import PausePointBeat
from layover.core.payloads import PayloadNotJson, PayloadTooLarge
from layover.errors import CallbackRefused, ExecutionFailed
from layover.ports.records import PointRow  # noqa: TC001 - read by pytest
from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import (
    HOUR,
    Between,
    HandWound,
    Held,
    Refused,
    Scripted,
    end,
    engine_at,
    engine_on,
    flow,
    form,
    until,
    until_status,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.runtime.runtime import Runtime

BOTH = {"token": "${callback.token}", "url": "${callback.url}"}


def callback(id_: str = "pick", **fields: object) -> dict[str, object]:
    return {"id": id_, "type": "callback", "call": "work", "input": BOTH, **fields}


WHAT_CAME = flow(callback(), end("${nodes.pick}"))


async def waiting(engine: Runtime, work: Held, execution_id: str) -> str:
    """Let the call return, and return the token that it was given once the execution waits for the reply."""
    call = await work.begun()
    call.returns()
    await until_status(engine, execution_id, "waiting")
    return str(call.given["token"])


async def refused(reply: Awaitable[None]) -> str:
    with pytest.raises(CallbackRefused) as found:
        await reply
    return found.value.code


# A reply


async def test_the_reply_is_the_output(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work, public_url="https://flows.example/") as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        assert work.calls[0].given["url"] == f"https://flows.example/api/v1/callbacks/{token}"
        await engine.callbacks.reply(token, {"pallet": [7, None]})
        assert await engine.executions.result(started.id) == {"pallet": [7, None]}
        assert await violations(engine.instance.store) == []


async def test_a_reply_may_be_faster_than_the_call(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        call = await work.begun()
        await engine.callbacks.reply(str(call.given["token"]), "fast")
        assert await refused(engine.callbacks.reply(str(call.given["token"]), "again")) == "token_used"
        call.returns("slow")
        assert await engine.executions.result(started.id) == "fast"


async def test_a_concurrent_workflow_goes_on_from_the_reply_without_the_call(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register({**WHAT_CAME, "settings": {"resume": "concurrent"}})
        started = await engine.executions.start("flow")
        call = await work.begun()
        await engine.callbacks.reply(str(call.given["token"]), "fast")
        assert await engine.executions.result(started.id) == "fast"
        await call.cancelled.wait()


@pytest.mark.parametrize("how", ["returns", "raises"])
async def test_what_the_call_comes_to_after_the_reply_makes_no_difference(tmp_path: Path, how: str) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(
            flow(callback(retry={"max_attempts": 3, "delay": "1ms"}), form(), end("${nodes.pick}"))
        )
        started = await engine.executions.start("flow")
        call = await work.begun()
        await engine.callbacks.reply(str(call.given["token"]), "fast")
        if how == "returns":
            call.returns("slow")
        else:
            call.raises(Refused("slow"))
        await until_status(engine, started.id, "paused")
        (row,) = await engine.points.list(started.id)
        await engine.answers.answer(row.point.id, {}, by="ann")
        assert await engine.executions.result(started.id) == "fast"
        assert len(work.calls) == 1


async def test_a_failure_fails_the_node(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        await engine.callbacks.fail(await waiting(engine, work, started.id), "No pallet.", retryable=False)
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(started.id)
        error = failed.value.error
        assert (error.code, error.message, error.retryable) == ("callback_failed", "No pallet.", False)


async def test_after_a_failure_another_try_has_another_token(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(callback(retry={"max_attempts": 3, "delay": "1ms"}), end("${nodes.pick}")))
        started = await engine.executions.start("flow")
        (await work.begun()).raises(Refused("busy"))
        second = await work.begun()
        second.returns()
        await until_status(engine, started.id, "waiting")
        await engine.callbacks.fail(str(second.given["token"]), "Later.")
        third = await work.begun()
        tokens = [str(call.given["token"]) for call in work.calls]
        assert len(set(tokens)) == 3
        for old in tokens[:2]:
            assert await refused(engine.callbacks.reply(old, "old")) == "token_used"
        await engine.callbacks.reply(tokens[2], "third time")
        third.returns()
        assert await engine.executions.result(started.id) == "third time"


async def test_a_reply_is_taken_while_paused_and_acts_at_resume(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        await engine.control.pause(started.id, "lunch")
        await engine.callbacks.reply(token, "meanwhile")
        await until(engine, started.id, lambda head: head.commands_done == head.commands_seq)
        assert (await engine.queries.get(started.id)).status == "paused"
        assert await refused(engine.callbacks.reply(token, "again")) == "token_used"
        await engine.control.resume(started.id)
        assert await engine.executions.result(started.id) == "meanwhile"


# Refusals


async def test_only_the_first_reply_counts(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine, engine_at(tmp_path) as other:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        replies = [one.callbacks.reply(token, n) for n, one in enumerate((engine, other) * 5)]
        found = await asyncio.gather(*replies, return_exceptions=True)
        (first,) = [n for n, one in enumerate(found) if one is None]
        assert await engine.executions.result(started.id) == first
        assert await refused(engine.callbacks.reply(token, "late")) == "token_used"
        assert await refused(engine.callbacks.fail(token, "late")) == "token_used"
        assert await refused(engine.callbacks.beat(token)) == "token_used"


@pytest.mark.parametrize("token", ["", "no", "x" * 100_000, "\ud800", "\0", 7, b"bytes"])
async def test_an_unknown_token_is_refused(tmp_path: Path, token: str) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        await waiting(engine, work, started.id)
        for reply in (engine.callbacks.reply, engine.callbacks.beat, engine.callbacks.fail):
            assert await refused(reply(token)) == "unknown_token"


async def test_a_reply_that_cannot_be_kept_leaves_the_token_as_it_was(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        with pytest.raises(PayloadNotJson):
            await engine.callbacks.reply(token, object())
        with pytest.raises(PayloadTooLarge):
            await engine.callbacks.reply(token, "x" * 1_000_001)
        await engine.callbacks.reply(token, "well")
        assert await engine.executions.result(started.id) == "well"


async def test_a_failure_may_say_anything(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        await engine.callbacks.fail(token, "\ud800\0" + "x" * 10_000)
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(started.id)
        assert len(failed.value.error.message) == 2_000


async def _cancelled(engine: Runtime, execution_id: str) -> None:
    await engine.control.cancel(execution_id)


async def _given_up(engine: Runtime, execution_id: str) -> None:
    (row,) = await engine.points.list(execution_id)
    await engine.answers.cancel_point(row.point.id)
    await until_status(engine, execution_id, "paused")


async def _rewound(engine: Runtime, execution_id: str) -> None:
    await engine.control.rewind(execution_id, "pick")


@pytest.mark.parametrize("over", [_cancelled, _given_up, _rewound])
async def test_what_is_over_takes_no_reply(tmp_path: Path, over: Callable[[Runtime, str], Awaitable[None]]) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register({"name": "flow", "nodes": [callback(next={"error": "ask"}), form()]})
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        await over(engine, started.id)
        for reply in (engine.callbacks.reply, engine.callbacks.beat, engine.callbacks.fail):
            assert await refused(reply(token)) == "token_used"


# Time


@pytest.mark.parametrize(("on_deadline", "output"), [("continue", None), ("fail", "deadline_passed")])
async def test_a_deadline_ends_the_wait(tmp_path: Path, on_deadline: str, output: object) -> None:
    clock, work = HandWound(), Held()
    wait = callback(deadline="1h", on_deadline=on_deadline, next={"done": "well", "error": "badly"})
    nodes = [wait, end("${nodes.pick}", "well"), end("${errors.pick.code}", "badly")]
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register({"name": "flow", "nodes": nodes})
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        clock.skip(engine, 2 * HOUR)
        assert await engine.executions.result(started.id) == output
        assert await refused(engine.callbacks.reply(token, "late")) == "token_used"


async def test_a_callback_with_heartbeats_is_waited_for_and_a_silent_one_is_not(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work) as engine:
        await engine.workflows.register(flow(callback(heartbeat="1h"), end("${nodes.pick}")))
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        for _ in range(3):
            clock.now += HOUR * 3 // 4
            engine.instance.clock.set(clock.now)
            await engine.callbacks.beat(token)
            await until(engine, started.id, lambda head: head.commands_done == head.commands_seq and not head.owner)
        beats = [one for one in await engine.queries.history(started.id) if isinstance(one.event, PausePointBeat)]
        assert len(beats) == 3
        clock.skip(engine, 2 * HOUR)
        with pytest.raises(ExecutionFailed) as failed:
            await engine.executions.result(started.id)
        assert failed.value.error.code == "heartbeat_timeout"
        assert await refused(engine.callbacks.beat(token)) == "token_used"


async def test_a_callback_without_heartbeats_is_retried(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work) as engine:
        retry = {"max_attempts": 2, "delay": "1h", "jitter": 0}
        await engine.workflows.register(flow(callback(heartbeat="1h", retry=retry), end("${nodes.pick}")))
        started = await engine.executions.start("flow")
        first = await waiting(engine, work, started.id)
        seen = (await engine.queries.get(started.id)).last_seq
        clock.skip(engine, 2 * HOUR)
        await until(engine, started.id, lambda head: head.last_seq > seen and head.owner is None)
        clock.skip(engine, 2 * HOUR)
        second = await waiting(engine, work, started.id)
        assert await refused(engine.callbacks.reply(first, "old")) == "token_used"
        await engine.callbacks.reply(second, "new")
        assert await engine.executions.result(started.id) == "new"


async def test_a_heartbeat_without_a_deadline_writes_nothing(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        before = await engine.queries.get(started.id)
        await engine.callbacks.beat(token)
        assert await engine.instance.store.commands.list_after(started.id, 0) == []
        assert await engine.queries.get(started.id) == before


class Interrupted(Between):
    """A store after whose next look at a point something happens, before whoever looked learns what it saw."""

    happens: Callable[[], Awaitable[object]] | None = None

    async def queries_find_point(self, point_id: str) -> PointRow | None:
        found = await self.store.queries.find_point(point_id)
        if self.happens is not None:
            happens, self.happens = self.happens, None
            await happens()
        return found


async def test_a_reply_that_is_overtaken_by_the_end_of_the_wait_is_refused(tmp_path: Path) -> None:
    store, work = Interrupted(tmp_path), Held()
    async with engine_on(store, work) as engine:
        await engine.workflows.register({"name": "flow", "nodes": [callback(next={"error": "ask"}), form()]})
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        (row,) = await engine.points.list(started.id)

        async def over() -> None:
            await engine.answers.cancel_point(row.point.id)
            await until_status(engine, started.id, "paused")

        store.happens = over
        assert await refused(engine.callbacks.reply(token, "late")) == "token_used"


# After a restart


async def test_a_reply_after_a_restart_counts(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
    async with engine_at(tmp_path) as engine:
        await engine.callbacks.reply(token, "well")
        assert await engine.executions.result(started.id) == "well"


@pytest.mark.parametrize("which", [0, 1])
async def test_after_a_lost_call_both_tokens_work_and_the_first_reply_counts(tmp_path: Path, which: int) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        await work.begun()
        await engine.stop(grace=0)
    async with engine_at(tmp_path, work) as engine:
        await waiting(engine, work, started.id)
        tokens = [str(call.given["token"]) for call in work.calls]
        assert tokens[0] != tokens[1]
        await engine.callbacks.reply(tokens[which], which)
        assert await refused(engine.callbacks.reply(tokens[1 - which], 1 - which)) == "token_used"
        assert await engine.executions.result(started.id) == which


# Without a call


async def test_without_a_call_a_trusted_user_replies_to_the_point(tmp_path: Path) -> None:
    clock = HandWound()
    pick: dict[str, object] = {"id": "pick", "type": "callback", "heartbeat": "1h"}
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(flow(pick, end("${nodes.pick}")))
        done, failed = [await engine.executions.start("flow", wait="rest") for _ in range(2)]
        (first,), (second,) = await engine.points.list(done.id), await engine.points.list(failed.id)
        await engine.callbacks.beat(point=first.point.id)
        await engine.callbacks.reply(point=first.point.id, output="by hand")
        assert await engine.executions.result(done.id) == "by hand"
        assert await refused(engine.callbacks.reply(point=first.point.id)) == "token_used"
        await engine.callbacks.fail(point=second.point.id, message="no")
        assert (await engine.executions.wait(failed.id)).status == "failed"


async def test_only_callbacks_are_replied_to(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(form(), end("${nodes.ask}")))
        asked = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(asked.id)
        for point in (row.point.id, "nowhere"):
            assert await refused(engine.callbacks.reply(point=point, output="forged")) == "unknown_point"
        both: dict[str, Any] = {"token": "t", "point": row.point.id}
        for wrong in (dict[str, Any](), both):
            with pytest.raises(TypeError):
                await engine.callbacks.reply(**wrong)


@pytest.mark.parametrize("durability", ["step", "leg"])
async def test_a_callback_is_durable_before_the_call_however_the_workflow_is(tmp_path: Path, durability: str) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register({**WHAT_CAME, "settings": {"durability": durability}})
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        await engine.callbacks.reply(token, "well")
        assert await engine.executions.result(started.id) == "well"


async def test_nothing_is_known_of_a_token_when_its_execution_is_gone(tmp_path: Path) -> None:
    clock, work = HandWound(), Held()
    async with engine_on(clock.store(tmp_path), work, retention=HOUR) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        await engine.callbacks.reply(token, "well")
        await engine.executions.wait(started.id)
        assert await refused(engine.callbacks.reply(token)) == "token_used"
        clock.now += 2 * HOUR
        engine.instance.clock.set(clock.now)
        assert await engine.instance.purger.clean() == 1
        assert await refused(engine.callbacks.reply(token)) == "unknown_token"


async def test_a_call_need_not_take_its_token(tmp_path: Path) -> None:
    work = Scripted("called")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(callback(input={}), end("${nodes.pick}")))
        started = await engine.executions.start("flow", wait="rest")
        (row,) = await engine.points.list(started.id)
        await engine.callbacks.reply(point=row.point.id, output="well")
        assert await engine.executions.result(started.id) == "well"
