"""A process that starts many executions at once, writes down what it was told of each, and dies after some ends.

`python -m tests.runtime.crashes.confirmed_worker FOLDER OPTIONS`. Every call returns something of its own, so an output
that was told and is not in the database shows.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from layover.bootstrap import open_runtime
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes import workload
from tests.runtime.crashes.worker import PROMPT, Options

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

_EXECUTIONS = 50
_ENDS = 5
FLOW = "name: quick\nnodes: [{id: a, type: unique}]\n"


async def unique() -> str:
    """Return what no other call returns."""
    return str(uuid4())


def told(folder: Path) -> dict[str, str]:
    """Return the outputs that were told, by the ids of their executions."""
    words = [line.split() for line in (folder / "told").read_text().splitlines()]
    return {id_: output for id_, status, output in words if status == "completed"}


async def main(folder: Path, options: Options) -> None:
    ends = 0

    async def start(engine: Runtime, number: int) -> None:
        nonlocal ends
        found = await engine.executions.start("quick", wait="end" if number % 2 else None)
        workload.write(folder / "told", f"{found.id} {found.status} {found.output}\n")
        ends += found.closed
        if ends == _ENDS:
            os.kill(os.getpid(), signal.SIGKILL)

    settings = msgspec.convert({**PROMPT, **options.settings}, RuntimeSettings)
    async with open_runtime(options.address, nodes=[unique], settings=settings) as engine:
        await engine.workflows.register(FLOW)
        await engine.workflows.plan_of("quick")  # it is known now, so the creations go together
        await asyncio.gather(*(start(engine, number) for number in range(_EXECUTIONS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
