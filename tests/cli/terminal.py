"""A real terminal for tests: a process on a pseudo-terminal, which is typed into and read from.

Nothing sleeps: a test waits for what the process prints, and fails if that never comes.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import signal
    from pathlib import Path
    from types import TracebackType

PATIENCE = 60.0  # seconds; only a test that fails waits so long
_COMMANDS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][0-9A-B]|\x1b[=>78]")

# A process has to take a terminal as its own for Ctrl-C to reach it.
_ON_TERMINAL = (
    "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "from layover.cli.main import main; sys.argv[0] = 'layover'; main()"
)


class Terminal:
    """`layover` as a person runs it."""

    def __init__(self, *words: str, folder: Path, rows: int = 40, columns: int = 100) -> None:
        self._ours, theirs = os.openpty()
        self.resize(rows, columns)
        env = {key: value for key, value in os.environ.items() if key not in ("LAYOVER_DB", "COLUMNS", "LINES")}
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-c", _ON_TERMINAL, *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            env={**env, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,
        )
        os.close(theirs)
        self.printed = ""  # with what moves the cursor
        self._read_to = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._ours)

    @property
    def text(self) -> str:
        """What was printed, without what moves the cursor."""
        return _COMMANDS.sub("", self.printed)

    def type(self, text: str) -> None:
        """Type something; a newline is the return key."""
        os.write(self._ours, text.encode())

    def control_c(self) -> None:
        """Press Ctrl-C."""
        self.type("\x03")

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self._process.send_signal(number)

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, wanted: str) -> str:
        """Return what is printed up to a text, from where the last such look ended."""
        while (at := self.text.find(wanted, self._read_to)) < 0:
            assert self._read(), f"it ended without printing {wanted!r}:\n{self.text}"
        found = self.text[self._read_to : at + len(wanted)]
        self._read_to = at + len(wanted)
        return found

    def end(self) -> int:
        """Return the exit code, once there is one."""
        while self._read():
            pass
        return self._process.wait(PATIENCE)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._ours], [], [], PATIENCE)
        assert ready, f"nothing more was printed:\n{self.text}"
        try:
            more = os.read(self._ours, 65_536)
        except OSError:  # the last process on the terminal has ended
            return False
        self.printed += more.decode(errors="replace")
        return bool(more)
