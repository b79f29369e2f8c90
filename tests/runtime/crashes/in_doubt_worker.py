"""A process whose functions must not be called twice, and which dies when it is told to.

`python -m tests.runtime.crashes.in_doubt_worker FOLDER OPTIONS`. Each function has an effect, in a file that survives.
Whoever is asked whether it happened, a probe or a person, looks there. What is undone is in another file, in its order.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover import NOT_HAPPENED, Happened, NodeContext
from layover.bootstrap import open_runtime
from layover.errors import AnswerRefused, WrongState
from layover.ports.records import CLOSED
from layover.runtime.ids import id_from_key
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say
from tests.runtime.crashes.workload import Effects, write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.runtime.runtime import Runtime

WORKFLOWS = {
    "probed": "[{id: a, type: pay, on_crash: probe, next: b}, {id: b, type: pay, on_crash: probe}]",
    "asked": "[{id: a, type: pay, on_crash: pause, next: b}, {id: b, type: pay, on_crash: pause}]",
}
UNDONE = "[{id: a, type: book, on_crash: undo, next: b}, {id: b, type: book, on_crash: undo}]"
ALL = {**WORKFLOWS, "undone": UNDONE}


def id_of(name: str) -> str:
    """Return the id of the execution of a workflow."""
    return id_from_key(name, name)


def books_in(folder: Path) -> Path:
    """Return where it is kept what was booked, and what was freed again, by idempotency key."""
    return folder / "books"


async def run(folder: Path, address: str, settings: dict[str, int], only: Iterable[str] = ALL) -> dict[str, object]:
    """Begin everything that was not begun before, say what has happened, and return what each came to."""
    names = sorted(only)
    effects = Effects(folder)

    async def pay(context: NodeContext) -> str:
        effects.add(context)
        return context.context_id

    async def paid(context: NodeContext) -> object:
        return Happened(context.context_id) if _has(effects, context.execution_id, context.context_id) else NOT_HAPPENED

    async def book(context: NodeContext) -> str:
        write(books_in(folder), f"{context.idempotency_key} booked\n")
        return context.context_id

    async def unbook(context: NodeContext) -> None:
        write(books_in(folder), f"{context.idempotency_key} free\n")

    async with open_runtime(
        address,
        nodes=[pay, book],
        probes={"pay": paid},
        undos={"book": unbook},
        settings=msgspec.convert({**PROMPT, **settings}, RuntimeSettings),
    ) as engine:
        for name in names:
            await engine.workflows.register(f"name: {name}\nnodes: {ALL[name]}\n")
            await engine.executions.start(name, key=name, on_conflict="return")
        outputs = await asyncio.gather(*(_finish(engine, effects, id_of(name)) for name in names))
        return dict(zip(names, outputs, strict=True))


def _has(effects: Effects, execution_id: str, node: str) -> bool:
    return any(one[:2] == (execution_id, node) for one in effects.read())


async def _finish(engine: Runtime, effects: Effects, execution_id: str) -> object:
    while True:
        head = await engine.instance.listeners.until(execution_id, lambda head: head.status in (*CLOSED, "paused"))
        if head is None or head.status != "paused":
            return await engine.executions.result(execution_id)
        for row in await engine.points.list(execution_id):
            node = row.point.node
            said = {"happened": _has(effects, execution_id, node), "output": node}
            with suppress(AnswerRefused, WrongState):
                await engine.answers.answer(row.point.id, said, by="ann", key=row.point.id)
        await engine.instance.listeners.until(execution_id, lambda head: head.commands_done == head.commands_seq)


async def main(folder: Path, options: Options) -> None:
    Reaper(folder, options).watch_from(asyncio.get_running_loop())
    found = await run(folder, options.address, options.settings, ALL.keys() & options.only or ALL)
    say(f"done {msgspec.json.encode(found).decode()}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
