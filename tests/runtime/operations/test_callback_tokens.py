"""Tokens are secret: whoever was told one has it, and it is found nowhere else."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest  # noqa: TC002 - read by pytest

from layover.nodes.context import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.runtime.execution.callback_tokens import hash_of
from tests.runtime.harness import Held, Refused, end, engine_at, flow, until, until_status
from tests.runtime.operations.test_callbacks import WHAT_CAME, callback, refused, waiting

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime


async def test_a_token_is_nowhere_but_where_it_was_sent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    tokens: list[str] = []

    def work(context: NodeContext, token: str, url: str) -> object:
        tokens.append(token)
        if context.attempt == 1:
            raise Refused(f"cannot reach {url}")
        return {token: [url, {"sent": token}]}

    async with engine_at(tmp_path, work, snapshot_at_rest=1, snapshot_every=1, blocked_after=1) as engine:
        await engine.workflows.register(flow(callback(retry={"max_attempts": 3, "delay": "1ms"}), end("${nodes.pick}")))
        started = [await engine.executions.start("flow") for _ in range(2)]
        for one in started:  # both have been called twice, and wait for the reply
            await until(engine, one.id, lambda head: head.status == "waiting" and len(tokens) == 4)
        (row,) = await engine.points.list(started[0].id)
        of_point = {await _point(engine, token): token for token in tokens}
        good = of_point.pop(row.point.id)
        (row,) = await engine.points.list(started[1].id)
        bad = of_point.pop(row.point.id)
        await engine.callbacks.reply(good, {"echo": good, good: [f"at {good}."]})
        await engine.callbacks.fail(bad, f"nobody at {bad}", retryable=False)
        assert await engine.executions.result(started[0].id) == {"echo": "[token]", "[token]": ["at [token]."]}
        failed = await engine.executions.wait(started[1].id)
        assert failed.error is not None
        assert failed.error.message == "nobody at [token]"
        for token in tokens:
            assert token not in await refused(engine.callbacks.reply(token))
        shown = repr([[await engine.queries.history(one.id), await engine.queries.nodes(one.id)] for one in started])
        shown += repr(engine.instance.driver.active) + repr([await engine.points.list(one.id) for one in started])
    files = await asyncio.to_thread(_contents, tmp_path)
    for token in tokens:
        assert token not in caplog.text
        assert token not in shown
        assert token.encode() not in files
    assert b"[token]" in files


def _contents(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


async def _point(engine: Runtime, token: str) -> str:
    wait = await engine.instance.store.queries.find_token(hash_of(token))
    assert wait is not None
    return wait.point


async def test_what_a_function_puts_down_has_no_token_in_it(tmp_path: Path) -> None:
    tokens: list[str] = []

    async def work(context: NodeContext, token: str, url: str) -> None:
        tokens.append(token)
        await context.checkpoint({"sent": url})
        assert await context.once("sent", lambda: [token, url]) == ["[token]", url.replace(token, "[token]")]

    async with engine_at(tmp_path, work, snapshot_at_rest=1, snapshot_every=1) as engine:
        await engine.workflows.register(flow(callback(), end("${nodes.pick}")))
        started = await engine.executions.start("flow")
        await until_status(engine, started.id, "waiting")
    assert tokens[0].encode() not in await asyncio.to_thread(_contents, tmp_path)


async def test_not_even_a_part_of_a_token_is_left_at_the_end_of_a_long_text(tmp_path: Path) -> None:
    tokens: list[str] = []

    async def work(token: str, url: str) -> None:  # noqa: ARG001 - it is given both
        tokens.append(token)
        raise Refused("x" * 1_980 + token)

    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        failed = await engine.executions.start("flow", wait="end")
        assert failed.error is not None
        assert failed.error.message == "x" * 1_980 + "[token]"


async def test_no_part_of_a_token_is_left_in_a_message(tmp_path: Path) -> None:
    work = Held()
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(WHAT_CAME)
        started = await engine.executions.start("flow")
        token = await waiting(engine, work, started.id)
        await engine.callbacks.fail(token, "x" * 1_980 + token)
        failed = await engine.executions.wait(started.id)
        assert failed.error is not None
        assert failed.error.message == "x" * 1_980 + "[token]"
