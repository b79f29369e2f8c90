"""A process with one function that ends it, and others beside it that only want to come to their end.

`python -m tests.runtime.crashes.poison_worker FOLDER OPTIONS`. What is poisoned ends the process whenever it is called,
the first time when all others are being called. The others go on when it has been laid aside.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec

from layover import NodeContext  # noqa: TC001 - the registry reads the annotation
from layover.bootstrap import open_runtime
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes.worker import PROMPT, Options, say
from tests.runtime.crashes.workload import Effects

INNOCENTS = 5
WORKFLOWS = ("poison", "innocent")


async def main(folder: Path, options: Options) -> None:
    effects, all_begun, laid_aside = Effects(folder), asyncio.Event(), asyncio.Event()
    if effects.read():
        all_begun.set()

    async def poison(context: NodeContext) -> None:
        await all_begun.wait()
        effects.add(context)
        os._exit(1)

    async def innocent(context: NodeContext) -> str:
        effects.add(context)
        if len({execution_id for execution_id, node, _ in effects.read() if node == "innocent"}) == INNOCENTS:
            all_begun.set()
        await laid_aside.wait()
        return "well"

    settings = msgspec.convert({**PROMPT, **options.settings}, RuntimeSettings)
    async with open_runtime(options.address, nodes=[poison, innocent], settings=settings) as engine:
        for name in WORKFLOWS:
            await engine.workflows.register(f"name: {name}\nnodes: [{{id: {name}, type: {name}}}]\n")
        others = [await engine.executions.start("innocent", key=str(n), on_conflict="return") for n in range(INNOCENTS)]
        poisoned = await engine.executions.start("poison", key="poison", on_conflict="return")
        await engine.instance.listeners.until(poisoned.id, lambda head: head.status not in ("running", "pausing"))
        laid_aside.set()
        outputs = await asyncio.gather(*(engine.executions.result(one.id) for one in others))
        found = await engine.queries.get(poisoned.id)
        say(f"done {msgspec.json.encode([found.status, found.paused_reason, outputs]).decode()}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
