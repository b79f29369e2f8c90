"""`@engine.notifier`: a program reacts to what happens, without polling."""

from __future__ import annotations

import asyncio
import queue
from typing import TYPE_CHECKING

import pytest

from layover import BadUse, Engine, SyncEngine

if TYPE_CHECKING:
    from pathlib import Path

    from layover.model.deliveries import Notification

ASK = {"name": "order", "nodes": [{"id": "ask", "type": "approval", "title": "Approve the order"}]}


async def test_a_program_hears_of_an_opened_pause_and_answers_it(tmp_path: Path) -> None:
    engine = Engine(f"sqlite:///{tmp_path / 'layover.db'}", workflows=[ASK])
    told: asyncio.Queue[Notification] = asyncio.Queue()

    @engine.notifier(on=["pause.opened"])
    async def hear(notification: Notification) -> None:
        await told.put(notification)

    async with engine:
        execution = await engine.start("order")
        notification = await told.get()
        assert (notification.kind, notification.execution_id) == ("pause.opened", execution.id)
        assert notification.point is not None
        assert notification.point["title"] == "Approve the order"
        with pytest.raises(BadUse):
            engine.notifier(hear.function)


def test_an_engine_that_blocks_tells_functions_too(tmp_path: Path) -> None:
    engine = SyncEngine(f"sqlite:///{tmp_path / 'layover.db'}", workflows=[ASK])
    told: queue.SimpleQueue[Notification] = queue.SimpleQueue()

    @engine.notifier(name="hear", on=["pause.opened"])
    def hear(notification: Notification) -> None:
        told.put(notification)

    with engine:
        execution = engine.start("order")
        assert told.get(timeout=60).execution_id == execution.id
