"""A process that works on a batch of rewinds, and which dies or stands still when it is told to.

`python -m tests.runtime.crashes.batch_worker FOLDER OPTIONS`. A rewind that is done twice leaves two events.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.bootstrap import open_runtime
from layover.model.batches import BatchBody, BatchOptions, WhichItems
from layover.ports.view_records import ExecutionFilter
from layover.runtime.settings import RuntimeSettings
from layover.service.actor import Actor
from layover.service.permissions import caller_of
from layover.service.service import UserService
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say

if TYPE_CHECKING:
    from layover.model.batches import BatchInfo
    from layover.runtime.runtime import Runtime

NUMBER = 300  # executions: more than two pages of a batch
FLOW = """
name: asking
nodes: [{id: ask, type: form, schema: {type: object}}]
"""
BODY = BatchBody(act="rewind", where=WhichItems(workflow="asking"), options=BatchOptions(to="ask", reason="Once."))


async def prepare(address: str, settings: dict[str, int]) -> None:
    """Start the executions."""
    async with opened(address, settings) as engine:
        await engine.workflows.register(FLOW)
        for n in range(NUMBER):
            await engine.executions.start("asking", n, key=f"k{n}", on_conflict="return")


def opened(address: str, settings: dict[str, int]) -> Runtime:
    """Return an engine on the database."""
    return open_runtime(address, settings=msgspec.convert({**PROMPT, **settings}, RuntimeSettings))


async def work(address: str, settings: dict[str, int]) -> BatchInfo:
    """Make the batch, or find it, and work on it until it is completed."""
    async with opened(address, settings) as engine:
        service = UserService(Actor(engine, caller_of("ann", ("operator",), "test")))
        made = await service.batches.create(BODY, "once")
        found = await service.batches.wait(str(made.id), None)
        await _all_applied(engine)
        return found


async def _all_applied(engine: Runtime) -> None:
    """Wait until all commands are applied: what several processes died over is driven alone, and later."""
    for row in await engine.instance.store.queries.list_executions(ExecutionFilter(limit=10_000)):
        id_ = row.head.execution_id
        await engine.instance.listeners.until(id_, lambda head: head.commands_done >= head.commands_seq)


async def main(folder: Path, options: Options) -> None:
    reaper = Reaper(folder, options)
    reaper.watch_from(asyncio.get_running_loop())
    await work(options.address, options.settings)
    say("done []")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
