"""Processes that begin with everything imported: `python -m tests.runtime.crashes.fork_server HANDLE`.

To begin Python and to import an engine takes longer than most processes here live. So one process imports everything,
and then does nothing but fork, and wait for what it has forked. Each child is a process like any other: it has a life
of its own, and can be killed and stopped.

It is asked over a socket, whose end is its own end.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import random
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).parents[3]
_PROGRAMS = ("worker", "audit_worker", "in_doubt_worker", "journal_worker", "poison_worker", "confirmed_worker")
_ALSO = ("layover.stores.sqlite", "layover.stores.postgres")  # which an engine imports when it needs one


class Begin(msgspec.Struct, tag=True, frozen=True):
    """Begin a program; its input, output and errors come with this."""

    program: str
    folder: str
    options: str
    environment: dict[str, str]


class Await(msgspec.Struct, tag=True, frozen=True):
    """Wait until a child has ended, or has been stopped."""

    pid: int
    stopped: bool


class ForkServer:
    """The process that begins the others, itself begun when it is first needed."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, wanted: Begin, streams: Sequence[int]) -> int:
        """Begin a process with three streams; return its id."""
        return self._ask(wanted, streams)

    def status(self, pid: int, *, stopped: bool = False) -> int:
        """Wait until a process has ended, or has been stopped; return how, as the system tells it."""
        return self._ask(Await(pid, stopped))

    def close(self) -> None:
        """End it."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait()
            self._line = self._process = None

    def _ask(self, what: Begin | Await, streams: Sequence[int] = ()) -> int:
        line = self._line or self._open()
        socket.send_fds(line, [msgspec.json.encode(what) + b"\n"], streams)
        return int(_line_from(line, [])[0])

    def _open(self) -> socket.socket:
        self._line, theirs = socket.socketpair()
        words = [sys.executable, "-m", "tests.runtime.crashes.fork_server", str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this program
                words, cwd=_ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
        return self._line


fork_server = ForkServer()


def _line_from(line: socket.socket, streams: list[int]) -> tuple[bytes, list[int]]:
    """Return what the other side says, and the streams that came with it; nothing at its end."""
    said = b""
    while not said.endswith(b"\n"):
        more, handles, _, _ = socket.recv_fds(line, 65_536, 3)
        streams += handles
        if not more:
            return b"", streams
        said += more
    return said, streams


def _import_all() -> None:
    """Import what any program needs, and have everything made that is made once in a process."""
    for name in _ALSO:
        importlib.import_module(name)
    for name in _PROGRAMS:
        importlib.import_module(f"tests.runtime.crashes.{name}")
    plan = importlib.import_module("layover.core.plan")
    workload = importlib.import_module("tests.runtime.crashes.workload")
    for name, graph in workload.WORKFLOWS.items():
        plan.load(f"name: {name}\nnodes: {graph}\n")


def _become(child: Begin, streams: list[int]) -> None:
    """Be the process that was asked for."""
    for number, handle in enumerate(streams):
        os.dup2(handle, number)
        os.close(handle)
    os.environ.clear()
    os.environ.update(child.environment)
    random.seed()
    program = importlib.import_module(f"tests.runtime.crashes.{child.program}")
    worker = importlib.import_module("tests.runtime.crashes.worker")
    options = msgspec.json.decode(child.options, type=worker.Options)
    asyncio.run(program.main(Path(child.folder), options))


def main(line: socket.socket) -> None:
    _import_all()
    decoder = msgspec.json.Decoder(Begin | Await)
    while True:
        said, streams = _line_from(line, [])
        if not said:
            return
        asked = decoder.decode(said)
        if isinstance(asked, Await):
            _, answer = os.waitpid(asked.pid, os.WUNTRACED if asked.stopped else 0)
        else:
            answer = os.fork()
            if answer == 0:
                line.close()
                _become(asked, streams)
                return
            for handle in streams:
                os.close(handle)
        line.sendall(b"%d\n" % answer)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
