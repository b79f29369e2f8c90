"""The `send` node in an engine: one message in the outbox, and an outcome that becomes a command."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import msgspec
import pytest

from layover.core.engine import commands as cmd
from layover.core.engine.command_codec import encode_command
from layover.core.notifications import NOTIFY, Occasion, Sent
from layover.ports.records import Enqueue
from tests.runtime.harness import end, engine_at, flow

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

pytestmark = pytest.mark.usefixtures("each_database")

MAIL = {"id": "m", "type": "send", "via": "mail", "to": "ann@example.org", "text": "Order ${input.n}"}


async def begun(engine: Runtime, **fields: object) -> str:
    await engine.workflows.register(flow({**MAIL, **fields}, end("${nodes.m}")))
    engine.instance.outbox_relay.stop()
    return (await engine.executions.start("flow", {"n": 7}, wait="rest")).id


async def occasion(engine: Runtime, id_: str) -> Occasion:
    [message] = await engine.instance.store.outbox.list_undelivered(id_)
    assert (message.destination, message.kind) == (NOTIFY, NOTIFY)
    return msgspec.json.decode(message.body, type=Occasion)


async def test_what_is_sent_is_written_with_its_point_and_the_outcome_ends_the_wait(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        id_ = await begun(engine)
        (row,) = await engine.points.list(id_)
        found = await occasion(engine, id_)
        assert (row.point.kind, found.kind, found.point) == ("delivery", "send", row.point.id)
        assert found.send == Sent(via="mail", to=("ann@example.org",), text="Order 7", awaited=True)
        kind, body = encode_command(cmd.Delivered(point=row.point.id, id="d-1", at=5))
        for _ in range(2):  # it may arrive twice
            outcome = Enqueue(execution_id=id_, kind=kind, body=body, source=row.point.id, source_n=1)
            await engine.instance.driver.send([outcome])
        assert await engine.executions.result(id_) == {"id": "d-1", "at": 5}


async def test_without_waiting_the_execution_goes_on_and_the_message_is_there(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        id_ = await begun(engine, wait=False)
        output = await engine.executions.result(id_)
        assert isinstance(output, dict)
        assert list(output) == ["id"]
        found = await occasion(engine, id_)
        assert (found.kind, found.point) == ("send", "")
        assert found.send is not None
        assert not found.send.awaited
