"""What one act costs, counted and not timed: `python bench/instructions.py SRC [--small] [--calls] [act ...]`.

SRC is the `src` of another tree, that this one is compared with. Each tree does each act N and 2N times, one after the
other on SQLite, under valgrind, which counts the instructions of the whole process; the difference is that of N acts,
and start-up is not in it. On a busy machine it takes longer, and what services do by the clock is counted too: count
when it is quiet, and twice.
With `--calls` functions are counted instead, those of Python and those of C, which takes seconds and no valgrind.
`--at-once 20` does so many acts side by side: then it is chance how many share a transaction, and figures vary more.
Acts from `get` on are requests to the application (bench/http_acts.py); with `--logs` this tree writes its log.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from http_acts import HTTP_ACTS
from measure import size_of, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engines import Engine, Started

STEPS = 10
_SOURCE = Path(__file__).resolve().parents[1] / "src"
ACTS = ("start", "10 steps", "pause", "resume", "child", "read", *HTTP_ACTS)


# A process of one tree


async def work(x: int) -> int:
    """Return the next number."""
    return x + 1


def _flows() -> list[dict[str, object]]:
    calls: list[dict[str, object]] = [
        {"id": f"n{n}", "type": "work", "input": {"x": "${input.x}"}, "next": f"n{n + 1}"} for n in range(STEPS)
    ]
    calls.append({"id": f"n{STEPS}", "type": "end", "output": f"${{nodes.n{STEPS - 1}}}"})
    child = {"id": "child", "type": "workflow", "workflow": "empty", "input": {"x": "${input.x}"}}
    return [
        {"name": "empty", "nodes": [{"id": "done", "type": "end", "output": "${input.x}"}]},
        {"name": "steps", "nodes": calls},
        {"name": "parent", "nodes": [child]},
        {"name": "question", "nodes": [{"id": "ask", "type": "form", "title": "How many?"}]},
    ]


class Acts:
    """The acts on one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._paused: list[Started] = []
        self._ended: Started | None = None

    async def prepare(self, name: str, times: int) -> None:
        """Make what so many acts need."""
        if name == "resume":
            for _ in range(times):
                await self.pause()
        elif name == "read":
            self._ended = await self._engine.start("steps", {"x": 1}, until="end")

    def named(self, name: str) -> Callable[[], Awaitable[object]]:
        """Return an act."""
        return {
            "start": self.start,
            "10 steps": self.steps,
            "pause": self.pause,
            "resume": self.resume,
            "child": self.child,
            "read": self.read,
        }[name]

    async def start(self) -> None:
        """Start an execution that ends at once."""
        ended = await self._engine.start("empty", {"x": 1}, until="end")
        assert ended.output == 1, ended

    async def steps(self) -> None:
        """Start an execution of ten calls, and wait for its end."""
        ended = await self._engine.start("steps", {"x": 1}, until="end")
        assert ended.output == 2, ended

    async def pause(self) -> None:
        """Start an execution that rests at a form."""
        self._paused.append(await self._engine.start("question", until="rest"))

    async def resume(self) -> None:
        """Find the point of an execution that rests, answer it, and wait for the result."""
        assert await self._engine.resume(self._paused.pop(), {"n": 1}) == {"n": 1}

    async def child(self) -> None:
        """Start an execution with a child that ends at once, and wait for its end."""
        ended = await self._engine.start("parent", {"x": 1}, until="end")
        assert ended.status == "completed", ended

    async def read(self) -> None:
        """Read an execution that has ended."""
        assert self._ended is not None
        await self._engine.execution(self._ended.id)


class CallCounter:
    """Counts the calls of functions on all threads that begin after it is installed."""

    def __init__(self) -> None:
        self.python = self.c = 0

    def install(self) -> None:
        """Count from now on."""
        threading.setprofile(self._count)
        sys.setprofile(self._count)

    def _count(self, _frame: object, event: str, _argument: object) -> None:
        if event == "call":
            self.python += 1
        elif event == "c_call":
            self.c += 1


async def measured(address: str, name: str, numbers: tuple[int, int, int], *, counts_calls: bool, logs: bool) -> None:
    """Do an act so many times; the numbers are how many are prepared, how many are done, and how many at once."""
    from engines import Engine  # noqa: PLC0415 - only the processes that are measured load the engine
    from http_acts import HttpActs  # noqa: PLC0415 - as above
    from runtime_workloads import many  # noqa: PLC0415 - as above

    prepared, times, at_once = numbers
    if logs:
        from layover.logs import configure_logging  # noqa: PLC0415 - only this tree has it

        configure_logging("info", stream=Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115, ASYNC230 - before anything is counted

    counter = CallCounter()
    if counts_calls:
        counter.install()
    async with Engine(address, nodes=[work]) as engine:
        for flow in _flows():
            await engine.register(flow)
        acts = HttpActs(engine) if name in HTTP_ACTS else Acts(engine)
        await acts.prepare(name, prepared)
        await many(acts.named(name), times, at_once)
        sys.setprofile(None)
    print(counter.python, counter.c)


# Both


class Counted(NamedTuple):
    """What N acts took; without start-up."""

    instructions: float
    python: float
    c: float


class Runner(NamedTuple):
    """How acts are counted, and where what is compiled is kept: compiling would be most of a process."""

    compiled: Path
    at_once: int
    counts_calls: bool
    logs: bool  # of this tree

    def compile(self, source: Path) -> None:
        """Have a tree compiled, which is not counted."""
        self._replace(counts_calls=True).cost(source, ACTS[0], 1)

    def cost(self, source: Path, name: str, times: int) -> Counted:
        """Return what one act takes in one tree."""
        once, twice = (self._run(source, name, 2 * times, number) for number in (times, 2 * times))
        return Counted(*((b - a) / times for a, b in zip(once, twice, strict=True)))

    def _run(self, source: Path, name: str, prepared: int, times: int) -> Counted:
        command = [sys.executable, __file__, "--measured", name, str(prepared), str(times), str(self.at_once)]
        if not self.counts_calls:
            command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *command]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(source), "PYTHONHASHSEED": "0", "PYTHONPYCACHEPREFIX": str(self.compiled)}
        with TemporaryDirectory() as place:
            flags = ["--calls"] if self.counts_calls else []
            flags += ["--logs"] if self.logs and source == _SOURCE else []
            ended = subprocess.run(  # noqa: S603 - ourselves
                [*command, f"sqlite:///{place}/engine.db", *flags],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
        if ended.returncode:
            sys.exit(ended.stderr)
        python, c = map(int, ended.stdout.split())
        found = re.search(r"I\s+refs:\s+([\d,]+)", ended.stderr)
        return Counted(int(found[1].replace(",", "")) if found else 0, python, c)


def compare(runner: Runner, trees: list[Path], names: list[str], times: int) -> None:
    """Show both trees side by side."""
    kinds = ("python", "c") if runner.counts_calls else ("instructions",)
    for tree in trees:
        runner.compile(tree)
    rows: list[tuple[str, ...]] = [("", *(word for kind in kinds for word in (f"{kind} before", "now", "ratio")))]
    for name in names:
        before, now = (runner.cost(tree, name, times) for tree in trees)
        pairs = [(getattr(before, kind), getattr(now, kind)) for kind in kinds]
        rows.append((name, *(cell for a, b in pairs for cell in (f"{a:,.0f}", f"{b:,.0f}", f"{b / a:.3f}"))))
    print(table(f"One act on SQLite, {runner.at_once} at once", rows))


def main(words: list[str]) -> None:
    """Compare two trees, or be one of them."""
    counts_calls = "--calls" in words
    at_once = int(words[words.index("--at-once") + 1]) if "--at-once" in words else 1
    if words[0] == "--measured":
        name, address = words[1], words[5]
        numbers = int(words[2]), int(words[3]), int(words[4])
        asyncio.run(measured(address, name, numbers, counts_calls=counts_calls, logs="--logs" in words))
        return
    given = [word for index, word in enumerate(words) if not word.startswith("--") and words[index - 1] != "--at-once"]
    source, *names = given
    if unknown := [name for name in names if name not in ACTS]:
        sys.exit(f"There is no act {', '.join(unknown)}; there are: {', '.join(ACTS)}.")
    if not counts_calls and which("valgrind") is None:
        sys.exit("Instructions are counted by valgrind, which is not installed; `--calls` does without.")
    times = size_of(words).of(100, quick=50, small=2)
    with TemporaryDirectory() as compiled:
        runner = Runner(Path(compiled), at_once, counts_calls, logs="--logs" in words)
        compare(runner, [Path(source).resolve(), _SOURCE], names or list(ACTS), times)


if __name__ == "__main__":
    main(sys.argv[1:])
