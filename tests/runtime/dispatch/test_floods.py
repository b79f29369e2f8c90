"""Commands that come in faster than steps are taken do not keep an execution from going on."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from layover.core.engine.answers import Refused
from layover.core.engine.command_codec import encode_command
from layover.core.engine.commands import CancelPoint
from layover.ports.records import Enqueue
from layover.runtime.runtime import Runtime  # noqa: TC001 - read by pytest
from tests.runtime.harness import Scripted, call, engine_at, fan_out, flow

_SENDERS = 5


async def _flood(engine: Runtime, execution_id: str, source: str) -> int:
    """Send commands one after the other until they are too late; return how many were taken."""
    kind, body = encode_command(CancelPoint(point="none"))
    number = 0
    while True:
        wish = Enqueue(execution_id=execution_id, kind=kind, body=body, source=source, source_n=number)
        (taken,) = await engine.instance.store.commands.enqueue([wish], engine.instance.clock.now())
        if isinstance(taken, Refused):
            return number
        number += 1


async def test_an_execution_gets_to_its_end_under_a_flood_of_commands(tmp_path: Path) -> None:
    work = Scripted("well")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(*(call(f"n{number}") for number in range(6))))
        begun = await engine.executions.start("flow")
        floods = [asyncio.create_task(_flood(engine, begun.id, f"sender {number}")) for number in range(_SENDERS)]
        assert await engine.executions.result(begun.id) == "well"
        sent = sum(await asyncio.gather(*floods))
        row = await engine.instance.store.queries.find_execution(begun.id)
        assert row is not None
        assert row.head.commands_seq == row.head.commands_done == sent
        assert [one.attempt for one in work.calls] == [1] * 6


async def test_a_call_that_waits_for_a_place_gets_one_under_a_flood_of_commands(tmp_path: Path) -> None:
    work = Scripted("well")
    async with engine_at(tmp_path, work, calls=1) as engine:
        await engine.workflows.register(flow(fan_out(call("work"))))
        begun = [await engine.executions.start("flow", list(range(4))) for _ in range(2)]
        floods = [asyncio.create_task(_flood(engine, one.id, "sender")) for one in begun]
        assert [await engine.executions.result(one.id) for one in begun] == [["well"] * 4] * 2
        await asyncio.gather(*floods)
        assert [one.attempt for one in work.calls] == [1] * 8
