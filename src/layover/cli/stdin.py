"""Lines that a person types, waited for without holding up the engine."""

from __future__ import annotations

import asyncio
import os
import sys
import termios

from layover.cli.screen import harmless

_AT_ONCE = 65_536


class StdinLines:
    """The lines of standard input."""

    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        self._typed = b""
        self._over = False

    async def read(self, prompt: str) -> str | None:
        """Print a prompt and return the line that follows; None at the end of the input."""
        sys.stdout.write(f"{harmless(prompt)} ")
        sys.stdout.flush()
        while b"\n" not in self._typed and not self._over:
            await self._readable()
            more = os.read(self._file, _AT_ONCE)
            self._typed += more
            self._over = not more
        if self._over and not self._typed:
            return None
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(errors="replace").strip()

    def forget(self) -> None:
        """Drop what was typed and not read: it was meant for something else."""
        self._typed = b""
        if os.isatty(self._file):
            termios.tcflush(self._file, termios.TCIFLUSH)

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._file, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._file)
