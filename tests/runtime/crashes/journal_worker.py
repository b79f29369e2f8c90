"""A process whose functions record, ask, sleep and put down how far they are, and which dies when it is told to.

`python -m tests.runtime.crashes.journal_worker FOLDER OPTIONS`. What functions do is kept in a file that survives: one
line for each time that one began (`begin`), and for each effect, with the attempt. Every effect has a value of its own.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.bootstrap import open_runtime
from layover.errors import AnswerRefused, WrongState
from layover.nodes.context import NodeContext, SyncNodeContext  # noqa: TC001 - the registry reads the annotations
from layover.ports.records import CLOSED
from layover.runtime.ids import id_from_key
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes import workload
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say

if TYPE_CHECKING:
    from layover.nodes.registry import AnyFunction
    from layover.runtime.runtime import Runtime

NAMES = ("handle", "handle_in_thread")


class Size(msgspec.Struct):
    width: int


class Effects:
    """What functions have done to the world."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "journal_effects"

    def add(self, context: NodeContext | SyncNodeContext, key: str) -> str:
        """Do something for ever, and return what nobody else gets for it."""
        workload.write(self._path, f"{context.execution_id} {key} {context.attempt}\n")
        return f"{key} {uuid.uuid4()}"

    def read(self) -> list[tuple[str, str, int]]:
        """Return all that was ever done."""
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        words = [line.split() for line in lines]
        return [(execution, key, int(attempt)) for execution, key, attempt in words]


def functions(effects: Effects) -> list[AnyFunction]:
    """Return the functions that nodes call: the same, async and in a thread."""

    async def handle(context: NodeContext) -> dict[str, object]:
        effects.add(context, "begin")
        done: dict[str, object] = {"pay": await context.once("pay", effects.add, context, "pay")}
        if context.restored is None:
            await context.checkpoint({"paid": done["pay"]})
        await context.sleep("15ms")
        size = await context.ask("size", Size, title="How large?")
        done["left"], done["right"] = await asyncio.gather(
            context.once("left", effects.add, context, "left"), context.once("right", effects.add, context, "right")
        )
        await context.sleep("15ms", key="nap")
        return {**done, "size": size.width, "restored": context.restored}

    def handle_in_thread(context: SyncNodeContext) -> dict[str, object]:
        effects.add(context, "begin")
        done: dict[str, object] = {"pay": context.once("pay", effects.add, context, "pay")}
        if context.restored is None:
            context.checkpoint({"paid": done["pay"]})
        context.sleep("15ms")
        size = context.ask("size", Size, title="How large?")
        for key in ("left", "right"):
            done[key] = context.once(key, effects.add, context, key)
        context.sleep("15ms", key="nap")
        return {**done, "size": size.width, "restored": context.restored}

    return [handle, handle_in_thread]


def id_of(name: str) -> str:
    """Return the id of the execution of a function."""
    return id_from_key(name, name)


async def run(folder: Path, address: str, settings: dict[str, int]) -> dict[str, object]:
    """Begin everything that was not begun before, do what people have to do, and return what each came to."""
    set_to = msgspec.convert({**PROMPT, **settings}, RuntimeSettings)
    async with open_runtime(address, nodes=functions(Effects(folder)), settings=set_to) as engine:
        for name in NAMES:
            await engine.workflows.register(f"name: {name}\nnodes: [{{id: a, type: {name}}}]\n")
            await engine.executions.start(name, key=name, on_conflict="return")
        outputs = await asyncio.gather(*(_finish(engine, id_of(name)) for name in NAMES))
        return dict(zip(NAMES, outputs, strict=True))


async def _finish(engine: Runtime, execution_id: str) -> object:
    while True:
        head = await engine.instance.listeners.until(execution_id, lambda head: head.status in (*CLOSED, "paused"))
        if head is None or head.status != "paused":
            return await engine.executions.result(execution_id)
        for row in await engine.points.list(execution_id):
            with suppress(AnswerRefused, WrongState):
                await engine.answers.answer(row.point.id, {"width": 3}, by="ann", key=row.point.id)
        await engine.instance.listeners.until(execution_id, lambda head: head.commands_done == head.commands_seq)


async def main(folder: Path, options: Options) -> None:
    Reaper(folder, options).watch_from(asyncio.get_running_loop())
    say(f"done {msgspec.json.encode(await run(folder, options.address, options.settings)).decode()}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
