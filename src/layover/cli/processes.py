"""Several processes that serve one socket: each is an instance of its own, and one that dies is started again.

The process that starts them holds the end of a pipe, and they hold the other: when it is gone, however it ended, they
stop as if they were told to. Else they would hold the port, and nothing would replace them.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from layover.cli.exits import DONE
from layover.cli.process_folder import process_folder
from layover.cli.screen import note, say

if TYPE_CHECKING:
    import asyncio

_SOCKET = "LAYOVER_LISTEN_FD"  # the number of the socket that a process inherits
_SUPERVISOR = "LAYOVER_SUPERVISOR_FD"  # the number of the pipe whose end means that the supervisor is gone
_SLOT = "LAYOVER_METRICS_SLOT"  # the file in which a process keeps its metrics for the others
_LOOK = 0.2  # seconds between two looks
_SOON = 1.0  # seconds: a process that lives shorter than this is not started again at once
_PROGRAM = "from layover.cli.main import main; main()"


@cache
def inherited() -> socket.socket | None:
    """Return the socket that this process inherited, if it did."""
    number = os.environ.pop(_SOCKET, "")
    return socket.socket(fileno=int(number)) if number.isdigit() else None


@cache
def metrics_slot() -> Path | None:
    """Return the file in which this process keeps its metrics for the others, if there are others."""
    path = os.environ.pop(_SLOT, "")  # which programs that functions start must not take for theirs
    return Path(path) if path else None


def stop_with_supervisor(loop: asyncio.AbstractEventLoop) -> None:
    """Stop as by SIGTERM when the process that started this one is gone, if one did."""
    number = os.environ.pop(_SUPERVISOR, "")
    if number.isdigit():
        pipe = int(number)

        def stop() -> None:
            loop.remove_reader(pipe)
            os.kill(os.getpid(), signal.SIGTERM)

        loop.add_reader(pipe, stop)


class _Process:
    """One of them."""

    def __init__(self, listening: socket.socket, supervisor: int, slot: Path) -> None:
        self._fd = listening.fileno()
        self._supervisor = supervisor
        self._slot = slot
        self.start()

    def start(self) -> None:
        self.began = time.monotonic()
        given = {_SOCKET: str(self._fd), _SUPERVISOR: str(self._supervisor), _SLOT: str(self._slot)}
        command = [sys.executable, "-c", _PROGRAM, *sys.argv[1:]]
        # In a group of its own: Ctrl-C in a terminal comes to us, and we tell them once.
        self.popen = subprocess.Popen(  # noqa: S603 - this program, with what it was given itself
            command, env={**os.environ, **given}, pass_fds=[self._fd, self._supervisor], process_group=0
        )

    def tend(self) -> None:
        """Start it again if it has died; one that dies at once has time to find what it needs."""
        if self.popen.poll() is not None and time.monotonic() - self.began > _SOON:
            note(f"process {self.popen.pid} ended with {self.popen.returncode}; another takes its place")
            self.start()


def supervise(count: int, listening: socket.socket) -> int:
    """Serve with so many processes until told to stop; told again, tell them again."""
    with process_folder() as folder:
        return _supervise(listening, [folder / str(number) for number in range(count)])


def _supervise(listening: socket.socket, slots: list[Path]) -> int:
    asked: list[float] = []

    def stop(_number: int, _frame: object) -> None:
        asked.append(time.monotonic())
        for one in processes:
            with suppress(ProcessLookupError):
                one.popen.send_signal(signal.SIGTERM)

    processes: list[_Process] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    theirs, _ours = os.pipe()  # ours is closed when this process ends
    processes += [_Process(listening, theirs, slot) for slot in slots]
    say(f"  {len(slots)} processes: {', '.join(str(one.popen.pid) for one in processes)}")
    sys.stdout.flush()
    while not asked:
        time.sleep(_LOOK)
        for one in processes:
            if not asked:
                one.tend()
    for one in processes:
        if one.began > asked[0]:  # it was started while the signal came, and was not told
            one.popen.terminate()
        one.popen.wait()
    say("Stopped.")
    return DONE
