"""A key that is used again after its execution was purged, while a child of that one is still there."""

from __future__ import annotations

import asyncio
from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from typing import TYPE_CHECKING

import pytest

from tests.runtime.harness import child, end, engine_at, flow

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime


async def _purge(engine: Runtime, execution_id: str) -> None:
    """Delete one execution, once all that it had to send has arrived."""
    while not await engine.instance.store.retention.purge([execution_id]):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0)


@pytest.mark.parametrize("detached", [False, True])
async def test_it_starts_a_child_of_its_own(tmp_path: Path, *, detached: bool) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(flow(end("${input}"), name="echo"))
        await engine.workflows.register(
            flow(child("a", "echo", input="${input}", detached=detached), end("${nodes.a}"))
        )
        first = await engine.executions.start("flow", 1, key="k", wait="end")
        await _purge(engine, first.id)
        again = await engine.executions.start("flow", 2, key="k")
        while await engine.instance.store.outbox.list_undelivered(again.id):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
        assert len(await engine.lists.list(workflow="echo")) == 2
