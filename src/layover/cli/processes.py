"""Several processes that serve one socket: each is an instance of its own, and one that dies is started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache

from layover.cli.exits import DONE
from layover.cli.screen import note, say

_SOCKET = "LAYOVER_LISTEN_FD"  # the number of the socket that a process has from whoever started it
_LOOK = 0.2  # seconds between two looks
_SOON = 1.0  # seconds: a process that lives shorter than this is not started again at once
_PROGRAM = "from layover.cli.main import main; main()"


@cache
def inherited() -> socket.socket | None:
    """Return the socket that this process has from whoever started it, if it has."""
    number = os.environ.pop(_SOCKET, "")
    return socket.socket(fileno=int(number)) if number.isdigit() else None


class _Process:
    """One of them."""

    def __init__(self, listening: socket.socket) -> None:
        self._fd = listening.fileno()
        self.start()

    def start(self) -> None:
        self.began = time.monotonic()
        environment = {**os.environ, _SOCKET: str(self._fd)}
        command = [sys.executable, "-c", _PROGRAM, *sys.argv[1:]]
        # In a group of its own: Ctrl-C in a terminal comes to us, and we tell them once.
        self.popen = subprocess.Popen(  # noqa: S603 - this program, with what it was given itself
            command, env=environment, pass_fds=[self._fd], process_group=0
        )

    def tend(self) -> None:
        """Start it again if it has died; one that dies at once has time to find what it needs."""
        if self.popen.poll() is not None and time.monotonic() - self.began > _SOON:
            note(f"process {self.popen.pid} ended with {self.popen.returncode}; another takes its place")
            self.start()


def supervise(count: int, listening: socket.socket) -> int:
    """Serve with so many processes until told to stop; told again, tell them again."""
    asked: list[float] = []

    def stop(_number: int, _frame: object) -> None:
        asked.append(time.monotonic())
        for one in processes:
            with suppress(ProcessLookupError):
                one.popen.send_signal(signal.SIGTERM)

    processes: list[_Process] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    processes += [_Process(listening) for _ in range(count)]
    say(f"  {count} processes: {', '.join(str(one.popen.pid) for one in processes)}")
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
