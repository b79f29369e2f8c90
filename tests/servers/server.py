"""A PostgreSQL server of our own, for tests and benches.

The methods of a server wait for it, so a test with tasks of its own calls them in a thread.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Literal, Self

from tests.servers.binaries import DEBIAN, ENVIRONMENT, find_binaries, run_as, server_owner

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from tests.servers.binaries import Origin

Mode = Literal["fast", "immediate"]

PATIENCE = 60.0  # seconds; only a server that fails takes so long
_BETWEEN_LOOKS = 0.01
_SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
# Below those that a system gives to clients: one of them could have the port while the server restarts.
_PORTS = range(20_000, 32_000)
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "autovacuum": "on",
    "synchronous_commit": "on",
    "wal_level": "replica",  # as people have it: it decides how much is written for a commit
}


class PostgresServer:
    """One server with a private folder, which ends with the process that started it."""

    def __init__(
        self,
        *,
        fsync: bool = False,
        which: Origin | None = None,
        settings: Mapping[str, str] | None = None,
        parent: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Without `fsync` a crashed machine loses data, a crashed server does not. `parent` is where the folder is."""
        self._environment = {**ENVIRONMENT, **(environment or {})}
        self._which = which
        self._settings = {**_SETTINGS, "fsync": "on" if fsync else "off", "full_page_writes": "on" if fsync else "off"}
        self._settings.update(settings or {})
        self._parent = parent
        self._owner = server_owner()
        self._folder: Path | None = None
        self._programs = Path()
        self._port = 0
        self._keeper: subprocess.Popen[str] | None = None
        self._pid = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        """Where everything of this server is."""
        assert self._folder is not None, "it was never started"
        return self._folder

    @property
    def pid(self) -> int:
        """The process that all others of the server descend from."""
        assert self._keeper is not None, "it does not run"
        return self._pid

    def address(self, database: str = "postgres") -> str:
        assert self._port, "it was never started"
        return f"postgresql://postgres@127.0.0.1:{self._port}/{database}"

    def log_text(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def start(self) -> None:
        """Start, on the same data and port as before if there was a before, and wait until it takes connections."""
        assert self._keeper is None, "it runs already"
        if self._folder is None:
            self._create()
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        kept = {"command": command, "folder": str(self.folder), "log": str(self._log), "owner": self._owner}
        self._keeper = subprocess.Popen(  # noqa: S603 - our own script
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("keeper.py")), json.dumps(kept)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environment,
            text=True,
            start_new_session=True,  # Ctrl-C is for us, and we end it in order
        )
        assert self._keeper.stdout is not None
        self._pid = int(self._keeper.stdout.readline() or 0)
        if not self._pid:
            self._keeper.wait(PATIENCE)  # it could not start anything, and says so on our own error output
        self._await_ready()

    def stop(self, mode: Mode = "fast") -> None:
        """Stop: `fast` finishes in order, `immediate` leaves the rest to recovery, like a crash. Data stays."""
        self._end(_SIGNALS[mode])

    def is_alive(self) -> bool:
        """Return whether it still runs, for all that we know."""
        return self._keeper is not None and self._keeper.poll() is None

    def restart(self, mode: Mode = "fast") -> None:
        self.stop(mode)
        self.start()

    def kill(self) -> None:
        """Kill its first process, and wait until the others have noticed. Data stays."""
        self._end(signal.SIGKILL)

    def close(self) -> None:
        """Stop and remove everything."""
        if self._keeper is not None:
            self.stop("immediate")
        if self._folder is not None:
            shutil.rmtree(self._folder)
            self._folder = None
        atexit.unregister(self.close)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _create(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="layover-postgres-", dir=self._parent))
        atexit.register(self.close)
        if self._owner:
            os.chown(self._folder, *self._owner)
        self._programs = find_binaries(self._which, self._folder, self._owner)
        arguments = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync", *_locale(self._programs))
        made = run_as(self._owner, self._folder, self._programs / "initdb", "-D", self._data, *arguments)
        if made.returncode != 0:
            raise RuntimeError(f"initdb failed:\n{made.stdout}\n{made.stderr}")
        self._port = _free_port()
        settings = {"unix_socket_directories": str(self._folder), **self._settings, "port": str(self._port)}
        with (self._data / "postgresql.conf").open("a") as written:
            written.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def _await_ready(self) -> None:
        """Wait for what the server writes beside its process id as soon as it takes connections."""
        assert self._keeper is not None
        deadline = monotonic() + PATIENCE
        while monotonic() < deadline:
            try:
                lines = (self._data / "postmaster.pid").read_text().splitlines()
            except FileNotFoundError:
                lines = []
            if len(lines) >= 8 and lines[0] == str(self._pid) and lines[7].strip() == "ready":
                return
            if self._keeper.poll() is not None:
                break
            sleep(_BETWEEN_LOOKS)
        said = self.log_text()
        self._end(signal.SIGKILL)
        raise RuntimeError(f"PostgreSQL did not start:\n{said}")

    def _end(self, how: signal.Signals) -> None:
        assert self._keeper is not None, "it does not run"
        if self._keeper.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(self._pid, how)
            self._keeper.wait(PATIENCE)
        for pipe in (self._keeper.stdin, self._keeper.stdout):
            assert pipe is not None
            pipe.close()
        self._keeper = None


def _locale(programs: Path) -> tuple[str, ...]:
    """Say how text is sorted: as people do where the programs know how, so that what needs the order of bytes shows."""
    if programs.is_relative_to(DEBIAN) and int(programs.parent.name) >= 15:
        return ("--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US")
    return ("--locale=C.UTF-8",)


def _free_port() -> int:
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port is free")
