"""`layover serve` as a process of its own, with keys for whoever asks it; and what it uses of the memory."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ADMIN_KEY = "an-admin-key-for-load-only"
_ROOT = Path(__file__).parents[2]
_PROGRAM = "from layover.cli.main import main; main()"
_LISTENING = re.compile(r"listening at +(http://\S+)")
_READY = re.compile(r"Ctrl-C stops it")
_PATIENCE = 60  # seconds to begin and to end, on a machine that is busy with other things
_BETWEEN_LOOKS = 0.02
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_SHOWN = 5


class Serving:
    """A server that runs."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, url: str) -> None:
        self._process = process
        self._log = log
        self.url = url

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def resident(self) -> int:
        """The bytes of memory that it has, with the processes that it has started."""
        return sum(_resident(pid) for pid in (self.pid, *_children(self.pid)))

    async def key(self, user: str, *roles: str) -> str:
        """Return a key for somebody."""
        async with Wire(self.url, ADMIN_KEY) as admin:
            body = {"name": f"for {user}", "user": user, "roles": list(roles)}
            made = await admin.ask("POST", "/api/v1/keys", body)
            assert made.status == 201, made
            return str(made.json["key"])

    async def stop(self) -> list[str]:
        """Tell it to stop, and return what was wrong with how it did, or with what it wrote."""
        self._process.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(self._process.wait, _PATIENCE)
        except subprocess.TimeoutExpired:
            return [f"The server did not stop within {_PATIENCE} s of being told."]
        ended = self._process.returncode
        return [*([f"The server ended with {ended}."] if ended else []), *self._complaints()]

    def _complaints(self) -> list[str]:
        """Return what it wrote about faults of its own."""
        lines = self._log.read_text(errors="replace").splitlines()
        bad = [n for n, line in enumerate(lines) if line.startswith("Traceback") or " ERROR " in line]
        return ["The server wrote:\n" + "\n".join(lines[max(0, n - 1) : n + 40]) for n in bad[:_MOST_SHOWN]]


@asynccontextmanager
async def serving(
    address: str,
    folder: Path,
    flows: dict[str, str],
    processes: int = 1,
    *,
    environment: dict[str, str] | None = None,
) -> AsyncIterator[Serving]:
    """Serve workflows while the block lasts; nobody is told that they ask too often."""
    (folder / "flows").mkdir(exist_ok=True)
    for name, text in flows.items():
        (folder / "flows" / f"{name}.yaml").write_text(text)
    log = folder / "server.log"
    words = ["serve", "--db", address, "--port", "0", "--workflows", str(folder / "flows")]
    words += ["--processes", str(processes)] if processes > 1 else []
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAYOVER_")}
    usual = {**kept, "LAYOVER_ADMIN_KEY": ADMIN_KEY, "LAYOVER_RATE_LIMIT": "off", "COLUMNS": "200"}
    with log.open("wb") as written:
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own program, begun in a moment
            [sys.executable, "-u", "-c", _PROGRAM, *words],
            cwd=_ROOT,
            env={**usual, **(environment or {})},
            stdout=written,
            stderr=written,
        )
    try:
        yield Serving(process, log, await _url(process, log))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _resident(pid: int) -> int:
    """Return the bytes of memory that a process has; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0


async def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    """Return where it listens, once it says that it is ready."""
    async with asyncio.timeout(_PATIENCE):
        while True:
            said = log.read_text(errors="replace")  # noqa: ASYNC240 - a few lines
            found = _LISTENING.search(said)
            if found is not None and _READY.search(said):
                return found[1]
            if process.poll() is not None:
                raise RuntimeError(f"The server did not start:\n{said}")
            await asyncio.sleep(_BETWEEN_LOOKS)
