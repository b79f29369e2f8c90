"""A process whose lost call can be undone, and which dies when it is told to.

`python -m tests.runtime.crashes.undo_worker FOLDER OPTIONS`. What is called, with what, is in a file that survives.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from layover import NodeContext  # noqa: TC001 - the registry reads the annotations
from layover.bootstrap import open_runtime
from layover.ports.records import CLOSED
from layover.runtime.ids import id_from_key
from layover.runtime.settings import RuntimeSettings
from tests.runtime.crashes.worker import PROMPT, Options, Reaper, say
from tests.runtime.crashes.workload import write

DEFINITION = """
name: pay
variables: {amount: 7}
nodes:
  - {id: charge, type: charge, on_crash: %s, input: {amount: "${vars.amount}", item: "${input.item}"}}
"""
ID = id_from_key("pay", "pay")


class Called(msgspec.Struct, frozen=True):
    """A call of the function or of its undo, and what it was given."""

    what: str
    input: list[int]
    key: str
    token: int
    begun: object = None  # the attempt that has recorded that it began


def calls_in(folder: Path) -> list[Called]:
    """Return the calls so far, in order."""
    lines = (folder / "calls").read_text().splitlines()
    return [msgspec.json.decode(line, type=Called) for line in lines]


async def run(folder: Path, address: str, settings: dict[str, int], on_crash: str = "undo") -> str:
    """Begin the execution if it was not begun before; return its status when it has ended or waits for a person."""

    async def charge(amount: int, item: int, context: NodeContext) -> str:
        begun = await context.once("begun", lambda: context.attempt)
        _note(folder, Called("charge", [amount, item], context.idempotency_key, context.fencing_token, begun))
        return "charged"

    async def refund(amount: int, item: int, context: NodeContext) -> None:
        _note(folder, Called("refund", [amount, item], context.idempotency_key, context.fencing_token))

    async with open_runtime(
        address,
        nodes=[charge],
        undos={"charge": refund},
        settings=msgspec.convert({**PROMPT, **settings}, RuntimeSettings),
    ) as engine:
        await engine.workflows.register(DEFINITION % on_crash)
        await engine.executions.start("pay", {"item": 42}, key="pay", on_conflict="return")
        head = await engine.instance.listeners.until(ID, lambda head: head.status in (*CLOSED, "paused"))
        return head.status if head is not None else "gone"


def _note(folder: Path, called: Called) -> None:
    write(folder / "calls", msgspec.json.encode(called).decode() + "\n")


async def main(folder: Path, options: Options) -> None:
    Reaper(folder, options).watch_from(asyncio.get_running_loop())
    (on_crash,) = options.only
    found = await run(folder, options.address, options.settings, on_crash)
    say(f"done {msgspec.json.encode(found).decode()}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Options)))
