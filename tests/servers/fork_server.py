"""Processes that begin with everything imported: `python -m tests.servers.fork_server HANDLE KIND`.

To begin Python and to import an engine takes longer than most processes here live. So one process imports everything,
and then does nothing but fork, and wait for what it has forked. Each child is a process like any other: it has a life
of its own, and can be killed and stopped. There is one such process for the workers of the crash tests, and one for
commands of `layover`.

It is asked over a socket, whose end is its own end.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import io
import os
import random
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import IO, TYPE_CHECKING, Literal, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Kind = Literal["crashes", "commands"]

_ROOT = Path(__file__).parents[2]
_CRASHES = _ROOT / "tests" / "runtime" / "crashes"
_COMMANDS = _ROOT / "src" / "layover" / "cli"
_COMMAND = "layover"
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

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._lock = Lock()
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
        with self._lock:
            line = self._line or self._open()
            socket.send_fds(line, [msgspec.json.encode(what) + b"\n"], streams)
            return int(_line_from(line, [])[0])

    def _open(self) -> socket.socket:
        self._line, theirs = socket.socketpair()
        words = [sys.executable, "-m", "tests.servers.fork_server", str(theirs.fileno()), self._kind]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this program
                words,
                cwd=_ROOT,
                env={**os.environ, "PYTHONUTF8": "1"},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        return self._line


workers = ForkServer("crashes")
commands = ForkServer("commands")


def run_command(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: bytes = b""
) -> tuple[int, bytes, bytes]:
    """Run a command of `layover` as a process without a terminal; return its exit code, and what it has written."""
    written = (bytearray(), bytearray())
    ours, theirs = zip(*(os.pipe() for _ in written), strict=True)
    wanted = Begin(_COMMAND, str(folder), msgspec.json.encode(list(words)).decode(), dict(environment))
    with TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        pid = commands.begin(wanted, (given.fileno(), *theirs))
    for handle in theirs:
        os.close(handle)
    reading = [Thread(target=_read, args=one) for one in zip(ours, written, strict=True)]
    for one in reading:
        one.start()
    for one in reading:  # to the end, which is that of the process: to wait for it holds up all others
        one.join()
    code = os.waitstatus_to_exitcode(commands.status(pid))
    return code, bytes(written[0]), bytes(written[1])


class CommandProcess:
    """A command of `layover` that runs, and can be asked as a `subprocess.Popen` is; its errors are in its output."""

    def __init__(self, words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        ours, theirs = os.pipe()
        wanted = Begin(_COMMAND, str(folder), msgspec.json.encode(list(words)).decode(), dict(environment))
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - no file
            self.pid = commands.begin(wanted, (nothing.fileno(), theirs, theirs))
        os.close(theirs)
        self.stdout = open(ours, encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115 - no file; closed by its reader
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, if it has ended."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code, once it has ended."""
        if self.returncode is None:
            handle = os.pidfd_open(self.pid)  # whose end is seen here, though it is a child of another process
            try:
                if not select.select([handle], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(_COMMAND, timeout or 0)
            finally:
                os.close(handle)
            self.returncode = os.waitstatus_to_exitcode(commands.status(self.pid))
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _read(handle: int, into: bytearray) -> None:
    with open(handle, "rb") as stream:
        into += stream.read()


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


def _import_all(kind: Kind) -> None:
    """Import what any program needs, and have everything made that is made once in a process."""
    for name in _ALSO:
        importlib.import_module(name)
    if kind == "commands":
        for path in sorted(_COMMANDS.glob("[a-z]*.py")):
            importlib.import_module(f"layover.cli.{path.stem}")
        return
    for path in sorted(_CRASHES.glob("*worker.py")):
        importlib.import_module(f"tests.runtime.crashes.{path.stem}")
    plan = importlib.import_module("layover.core.plan")
    workload = importlib.import_module("tests.runtime.crashes.workload")
    for name, graph in workload.WORKFLOWS.items():
        plan.load(f"name: {name}\nnodes: {graph}\n")


def _open_streams(*, is_buffered: bool) -> None:
    """Have streams of one's own, as a process that begins."""
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process lives
    out = open(1, "wb", buffering=-1 if is_buffered else 0, closefd=False)  # noqa: SIM115 - as above
    sys.stdout = io.TextIOWrapper(cast("IO[bytes]", out), write_through=not is_buffered)
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - as above


def _become(child: Begin, streams: list[int]) -> None:
    """Be the process that was asked for."""
    for number, handle in enumerate(streams):
        os.dup2(handle, number)
        os.close(handle)
    os.environ.clear()
    os.environ.update(child.environment)
    random.seed()
    if child.program == _COMMAND:
        _open_streams(is_buffered="PYTHONUNBUFFERED" not in child.environment)
        os.chdir(child.folder)
        sys.argv = [_COMMAND, *msgspec.json.decode(child.options, type=list[str])]
        importlib.import_module("layover.cli.main").main()
        return
    program = importlib.import_module(f"tests.runtime.crashes.{child.program}")
    worker = importlib.import_module("tests.runtime.crashes.worker")
    options = msgspec.json.decode(child.options, type=worker.Options)
    asyncio.run(program.main(Path(child.folder), options))


def main(line: socket.socket, kind: Kind) -> None:
    _import_all(kind)
    gc.collect()
    gc.freeze()  # children neither copy nor look through what they share
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
    main(socket.socket(fileno=int(sys.argv[1])), "commands" if sys.argv[2] == "commands" else "crashes")
