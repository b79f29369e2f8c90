"""A process in which somebody acts, and which dies when it is told to.

`python -m tests.runtime.crashes.audit_worker FOLDER OPTIONS`. Each act has a key and an entry in the audit log, so that
whoever comes after can ask for all of it again.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from layover.bootstrap import open_runtime
from layover.core.ids import uuid8
from layover.ports.records import AuditRow
from layover.runtime.ids import id_from_key
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say

ID = id_from_key("flow", "k")
ACTS = (
    "workflow.save",
    "execution.start",
    "execution.pause",
    "execution.resume",
    "execution.cancel",
    "execution.rewind",
)


async def act(address: str, settings: dict[str, int]) -> None:
    """Do everything; what was done before is only repeated."""

    async def work() -> int:
        return 1

    async with open_runtime(
        address, nodes=[work], settings=msgspec.convert({**PROMPT, **settings}, RuntimeSettings)
    ) as engine:
        await engine.workflows.register(
            "name: flow\nnodes: [{id: a, type: work, next: b}, {id: b, type: form}]", audit=entry(0)
        )
        await engine.executions.start("flow", key="k", on_conflict="return", audit=entry(1))
        await engine.control.pause(ID, by="ann", key="k", audit=entry(2))
        await engine.control.resume(ID, by="ann", key="k", audit=entry(3))
        await engine.control.cancel(ID, by="ann", key="k", audit=entry(4))
        await engine.control.rewind(ID, "a", by="ann", key="k", audit=entry(5))


def entry(number: int) -> AuditRow:
    """Return what is to be written of an act; each time it is another entry."""
    return AuditRow(id=uuid8(f"{ACTS[number]} {asyncio.get_running_loop().time()}"), at=1, user="ann", act=ACTS[number])


async def main(folder: Path, options: Options) -> None:
    Reaper(folder, options).watch_from(asyncio.get_running_loop())
    await act(options.address, options.settings)
    say("done []")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
