"""The wall clock of the servers and of their database, which can be stepped while they run.

A few lines of C are loaded before libc; without a C compiler nothing is stepped, and the run says so.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).with_name("clock.c")


class WallClock:
    """An offset to the time of the machine, in a file that is mapped into the processes."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self._file.write_bytes(bytes(8))
        self._file.chmod(0o644)
        self._library = folder / "clock.so"
        self.offset = self._latest = 0
        compiler = shutil.which("cc") or shutil.which("gcc")
        self.can_be_stepped = False
        if compiler is not None:
            command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(self._library), str(_SOURCE), "-ldl"]
            self.can_be_stepped = subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to have this clock."""
        if not self.can_be_stepped:
            return {}
        return {"LD_PRELOAD": str(self._library), "CHAOS_CLOCK": str(self._file)}

    def step(self, milliseconds: int) -> None:
        """Step by so much; what has it mapped sees it at once."""
        self.offset += milliseconds
        self._latest = max(self._latest, self.offset)
        with self._file.open("r+b", buffering=0) as file:
            file.write(self.offset.to_bytes(8, "little", signed=True))

    def put_right(self) -> None:
        """Step to the latest that it ever was.

        While no server runs, nothing but the calendar tells the time: what was due by one that was ahead would wait.
        """
        self.step(self._latest - self.offset)
