"""A process that tells a function of ended executions, and which dies or stands still when it is told to.

`python -m tests.runtime.crashes.delivery_worker FOLDER OPTIONS`. The function writes what it is told outside of the
engine: the id of the delivery, the number of the event's execution, and the kind.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.model.deliveries import Notification  # noqa: TC001 - as in a program, where it is read
from layover.nodes.notifier import notifier
from layover.ports.delivery_records import DeliveryFilter
from layover.runtime.runtime import Runtime
from layover.runtime.settings import RuntimeSettings
from layover.stores.postgres import PostgresStore
from layover.stores.sqlite import SqliteStore
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say

if TYPE_CHECKING:
    from layover.ports.store import Store

NUMBER = 3  # executions
FLOW = """
name: told
nodes: [{id: a, type: compute, output: "${input}"}]
"""


def told_in(folder: Path) -> list[tuple[str, str]]:
    """Return the delivery and the execution of each call that was made."""
    path = folder / "told"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(id_, execution) for id_, _, execution in (line.partition(" ") for line in lines)]


def later_store(address: str, milliseconds: int) -> Store:
    """Return a store whose time is later: what a dead process has claimed is due."""
    ahead = SqliteStore if address.startswith("sqlite") else PostgresStore
    clock = _Ahead(milliseconds)
    return ahead(address.removeprefix("sqlite:///"), clock=clock)


class _Ahead:
    def __init__(self, milliseconds: int) -> None:
        self._ahead = milliseconds

    def __call__(self) -> int:
        return round(datetime.now(UTC).timestamp() * 1000) + self._ahead


async def serve(folder: Path, store: Store, settings: dict[str, int]) -> None:
    """Start executions, and tell of them until nothing is left to tell."""

    @notifier(on=["execution.completed"])
    async def tell(notification: Notification) -> None:
        with (folder / "told").open("a") as file:
            file.write(f"{notification.id} {notification.execution_id}\n")

    chosen = msgspec.convert({**PROMPT, **settings}, RuntimeSettings)
    async with Runtime(store, nodes=[tell], settings=chosen) as engine:
        await engine.workflows.register(FLOW)
        for n in range(NUMBER):
            await engine.executions.start("told", n, key=f"k{n}", on_conflict="return")
        sent = DeliveryFilter(state="sent")
        while len(await engine.instance.store.deliveries.list_deliveries(sent)) < NUMBER:
            engine.instance.delivery_sender.hint()


async def main(folder: Path, options: Options) -> None:
    reaper = Reaper(folder, options)
    reaper.watch_from(asyncio.get_running_loop())
    await serve(folder, later_store(options.address, 0), options.settings)
    say("done []")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
