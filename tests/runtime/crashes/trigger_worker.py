"""A process that serves triggers, and which dies when it is told to.

`python -m tests.runtime.crashes.trigger_worker FOLDER OPTIONS`. A sender brings each signal under an id of its own, and
brings all of them again after a crash; a schedule has two occurrences. Each execution writes a line outside of the
engine.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.bootstrap import open_runtime
from layover.core.ids import trigger_id
from layover.ports.trigger_records import InputFilter
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

SIGNALS = 4
OCCURRENCES = 2
FLOW = """
name: fired
triggers:
  - {name: sent, type: signal, signal: sent}
  - {name: ticking, type: schedule, every: 1s, times: 2, overlap: allow, catch_up: {which: all, within: 1h}}
nodes: [{id: a, type: write_line, input: {text: "${execution.id}"}}]
"""
SENT, TICKING = trigger_id("fired", "sent"), trigger_id("fired", "ticking")


def lines_in(folder: Path) -> Path:
    """Return the file in which each execution leaves a line."""
    return folder / "lines"


async def serve(folder: Path, address: str, settings: dict[str, int]) -> None:
    """Bring all signals, and serve until everything has come to its end."""

    async def write_line(text: str) -> None:
        with lines_in(folder).open("a") as file:
            file.write(f"{text}\n")

    chosen = msgspec.convert({**PROMPT, **settings}, RuntimeSettings)
    async with open_runtime(address, nodes=[write_line], settings=chosen) as engine:
        await engine.workflows.register(FLOW)
        for n in range(SIGNALS):
            await engine.signals.deliver("sent", data={"n": n}, id=f"s{n}")
        await _all_started(engine)
        for id_ in await started(engine, SENT) + await started(engine, TICKING):
            await engine.executions.wait(id_)


async def _all_started(engine: Runtime) -> None:
    """Look until everything has started: nothing tells when an input has."""
    while len(await started(engine, SENT)) < SIGNALS:
        pass
    while len(await started(engine, TICKING)) < OCCURRENCES:
        pass


async def started(engine: Runtime, trigger: str) -> list[str]:
    """Return the executions that a trigger has started."""
    inputs = await engine.instance.store.triggers.list_inputs(InputFilter(trigger_id=trigger, state="started"))
    return [one.execution_id for one in inputs]


async def main(folder: Path, options: Options) -> None:
    Reaper(folder, options).watch_from(asyncio.get_running_loop())
    await serve(folder, options.address, options.settings)
    say("done []")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
