"""A process that writes audit entries and seals them, and which dies or stands still when it is told to.

`python -m tests.runtime.crashes.seal_worker FOLDER OPTIONS`. Its entries have ids of its own.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.bootstrap import open_runtime
from layover.runtime.settings import RuntimeSettings
from layover.service.actor import Actor
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say

if TYPE_CHECKING:
    from layover.runtime.runtime import Runtime

ROUNDS, EACH = 4, 3
NEVER = 10**12  # it seals when it is told to


def opened(address: str, settings: dict[str, int]) -> Runtime:
    """Return an engine on the database."""
    return open_runtime(address, settings=msgspec.convert({**PROMPT, "audit_poll": NEVER, **settings}, RuntimeSettings))


async def act_and_seal(address: str, settings: dict[str, int]) -> None:
    """Act a few times, seal, and so on; then seal what others have left."""
    async with opened(address, settings) as engine:
        actor = Actor(engine)
        for _ in range(ROUNDS):
            for _ in range(EACH):
                entry = actor.entry_of_any("workflow.pause", "flow")
                await engine.signals.deliver("s", id=entry.id, audit=entry)
            await engine.instance.sealer.seal_all()
        while await engine.instance.store.seals.is_waiting():
            await engine.instance.sealer.seal_all()


async def main(folder: Path, options: Options) -> None:
    Reaper(folder, options).watch_from(asyncio.get_running_loop())
    await act_and_seal(options.address, options.settings)
    say("done []")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
