"""Servers to measure, each a process of its own: `layover serve`, and the least that the same stack can do."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sites import folder

ROOT = Path(__file__).parents[1]
if str(ROOT) not in sys.path:
    sys.path.append(str(ROOT))

from tests.load.serving import serving  # noqa: E402 - found since the line above
from tests.load.wire import Wire  # noqa: E402 - as above

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.load.wire import Heard


class Server(NamedTuple):
    """A server and what is needed to ask it."""

    url: str
    pid: int
    key: str = ""

    def cpu(self) -> float:
        """Return the seconds of the processor that it has used, in all of its threads."""
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    @asynccontextmanager
    async def wires(self, count: int) -> AsyncIterator[list[Wire]]:
        """Give so many connections."""
        async with AsyncExitStack() as stack:
            yield [await stack.enter_async_context(Wire(self.url, self.key)) for _ in range(count)]


@contextmanager
def hello() -> Iterator[Server]:
    """Run the least."""
    program = [sys.executable, str(Path(__file__).with_name("http_hello.py"))]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own program
        assert process.stdout is not None
        assert process.stdin is not None
        yield Server(process.stdout.readline().strip(), process.pid)
        process.stdin.close()


@asynccontextmanager
async def surface(
    address: str, flows: dict[str, str] | None = None, environment: dict[str, str] | None = None
) -> AsyncIterator[Server]:
    """Serve a database; no caller is limited in its rate."""
    with folder() as place:
        async with serving(address, place, flows or {}, environment=environment) as found:
            key = await found.key("bench", "operator", "approver")
            yield Server(found.url, found.pid, key)
            if problems := await found.stop():
                raise RuntimeError("\n".join(problems))


async def ask_all(wires: list[Wire], requests: list[bytes]) -> list[Heard]:
    """Send requests over as many connections as there are, each with one on its way; return all answers."""
    waiting = list(reversed(requests))
    answers: list[Heard] = []

    async def go_on(wire: Wire) -> None:
        while waiting:
            answers.append(await wire.send(waiting.pop()))

    await asyncio.gather(*(go_on(wire) for wire in wires))
    return answers
