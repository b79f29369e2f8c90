"""The point of Layover in a minute: `make demo`, or `python examples/demo.py`.

A workflow with a branch, a retry, two pauses side by side and an approval runs in a process of its own. While it waits
for people, that process is killed with `kill -9`. Another process takes it up; the pauses are answered in another order
than they were opened, the approval is given, and the workflow finishes exactly where it stood. What every node did is
written to a file beside the database, so that anybody can see that nothing was done twice.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from layover import Engine, ExecutionHandle, NodeContext, PausePointHandle, Settings
from layover.admin import verify

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

WORKFLOW = """
name: launch
nodes:
  - {id: draft, type: write_text, next: long}
  - {id: long, type: condition, if: size(nodes.draft) > 10, next: {true: prepare, false: done}}
  - id: prepare
    type: parallel
    branches:
      - id: legal
        body:
          - {id: lawyer, type: form, title: May we say this?, schema: {type: object, required: [ok]}, next: file}
          - {id: file, type: file_away}
      - id: print
        body:
          - {id: proof, type: form, title: Is the proof right?, schema: {type: object, required: [ok]}, next: press}
          - {id: press, type: print_it, retry: {max_attempts: 3, delay: 50ms}}
    next: release
  - {id: release, type: approval, title: "Send ${size(nodes.draft)} characters to everybody?", next: done}
  - {id: done, type: end, output: {text: "${nodes.draft}", released_by: "${nodes.release.by}"}}
"""
KEY = "the-demo"
DONE_ONCE = {"draft": 1, "file:prepare.legal": 1, "press:prepare.print": 2}  # the press jams at its first attempt


def functions(folder: Path) -> list[Callable[..., Awaitable[str]]]:
    """Return what the nodes do; each leaves a line in a file when it is called."""

    def note(context: NodeContext) -> None:
        with (folder / "calls").open("a") as file:
            file.write(f"{context.context_id}\n")

    async def write_text(context: NodeContext) -> str:
        note(context)
        return "Nothing is lost when we pause."

    async def file_away(context: NodeContext) -> str:
        note(context)
        return "filed"

    async def print_it(context: NodeContext) -> str:
        note(context)
        if context.attempt == 1:
            raise RuntimeError("the press is jammed")
        return "printed"

    return [write_text, file_away, print_it]


async def work(folder: Path) -> None:
    """Run the workflow, in a process that may die at any moment."""
    settings = Settings(poll="50ms")
    database = database_in(folder)
    async with Engine(database, nodes=functions(folder), workflows=[WORKFLOW], settings=settings) as engine:
        execution = await engine.start("launch", idempotency_key=KEY, until="rest")
        say(f"{execution.id} {execution.status}")
        await engine.serve()


class Worker:
    """A process that runs the workflow."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, __file__, "work", str(folder)]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)  # noqa: S603 - this program
        self.pid = self._process.pid

    async def resting(self) -> list[str]:
        """Return what it says once the workflow has come to rest."""
        out = self._process.stdout
        line = await asyncio.to_thread(out.readline) if out is not None else ""
        if not line:
            raise SystemExit("The worker ended before the workflow came to rest.")
        return line.split()

    def end(self, how: signal.Signals) -> int:
        """Send it a signal, and wait for its end."""
        self._process.send_signal(how)
        return self._process.wait()


async def demo(folder: Path) -> None:
    """Play all of it, and say what is seen."""
    say("1. A process runs the workflow until it needs people.")
    first = Worker(folder)
    id_, status = await first.resting()
    say(f"   process {first.pid}: execution {id_} is {status}")

    say("\n2. That process is killed with kill -9. Nothing runs now; the truth is one file.")
    say(f"   exit code {first.end(signal.SIGKILL)}")

    say("\n3. Another process takes it up. Asked why it stands still, the execution says:")
    second = Worker(folder)
    await second.resting()
    # This process only looks and answers: the other one drives.
    async with Engine(database_in(folder), drive=False) as engine:
        execution = await engine.execution(id_)
        for reason in sorted((await execution.why()).reasons, key=lambda one: one.context_id or ""):
            say(f"   {reason.text}")

        say("\n4. People answer, the second question first.")
        ann, bea = engine.as_user("ann", ["approver"]), engine.as_user("bea", ["approver"])
        for context_id in ("proof:prepare.print", "lawyer:prepare.legal"):
            await (await ann.execution(id_)).answer(context_id, {"ok": True})
            say(f"   {context_id} is answered")
        release = await until_asked(await bea.execution(id_), "release")
        say("\n5. Both branches are done, one of them after a retry. Now a person has to approve.")
        await release.approve()
        say(f"   it is approved; the result is {await execution.result()}")

        say("\n6. What was called, by all processes together:")
        called = Counter((folder / "calls").read_text().split())
        for node, count in called.items():
            say(f"   {node}: {count} call{'s, since the press was jammed once' if count > 1 else ''}")
    found = (await verify(database_in(folder))).violations
    if second.end(signal.SIGTERM) != 0:
        raise SystemExit("The second process did not stop cleanly.")
    if called != DONE_ONCE or found:
        raise SystemExit(f"Something was lost or done twice: {dict(called)} {found}")
    say("\nNothing was lost, nothing was done twice, and every law that `layover verify` knows holds.")


async def until_asked(execution: ExecutionHandle, context_id: str) -> PausePointHandle:
    """Return the point at which a node waits, once it does."""
    while True:
        async for point in execution.points():
            if point.context_id == context_id:
                return point
        await asyncio.sleep(0.02)


def database_in(folder: Path) -> str:
    """Return the address of the database of the demo."""
    return f"sqlite:///{folder / 'demo.db'}"


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        asyncio.run(work(Path(sys.argv[2])))
    else:
        with tempfile.TemporaryDirectory() as place:
            asyncio.run(demo(Path(place)))
