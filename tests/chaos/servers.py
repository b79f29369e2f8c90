"""The server processes: started again when they die, as a supervisor does, and asked over HTTP."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .record import now

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from .record import Record

KEY = "chaos-admin-key-of-this-run-0123456789"
LEASE = 4_000  # milliseconds
_ROOT = Path(__file__).parents[2]
_PATIENCE = 20.0  # seconds for one reply
_BETWEEN_LOOKS = 0.1
_LATER = ("rate_limited", "in_progress")


class Server:
    """One place for a process: the same port for every life."""

    def __init__(self, number: int, address: Callable[[], str], folder: Path, environment: Mapping[str, str]) -> None:
        self._number = number
        self._address = address
        self._folder = folder
        self._environment = environment
        self._lives = 0
        self.port = _free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.is_leaving = False  # it was told to stop

    @property
    def name(self) -> str:
        """The name of this life, which its functions write down."""
        return f"{self._number}.{self._lives}"

    def start(self) -> None:
        self._lives += 1
        self.is_leaving = False
        environment = {
            **os.environ,
            **self._environment,
            "CHAOS_PROCESS": self.name,
            "CHAOS_RECORD": str(self._folder / "calls"),
            "CHAOS_FLAGS": str(self._folder / "flags"),
            "CHAOS_KEY": KEY,
            "XDG_RUNTIME_DIR": str(self._folder / "locks"),
        }
        words = [sys.executable, "-m", "tests.chaos.server", self._address(), str(self.port), str(LEASE)]
        with (self._folder / f"server-{self.name}.log").open("wb") as log:
            self.process = subprocess.Popen(words, cwd=_ROOT, env=environment, stdout=log, stderr=log)  # noqa: S603

    def send(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)


class ServerProcesses:
    """So many servers, looked after by a thread of its own."""

    def __init__(self, servers: list[Server], record: Record) -> None:
        self.servers = servers
        self._record = record
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look_after, daemon=True)
        for server in servers:
            self._start(server)
        self._thread.start()

    def _start(self, server: Server) -> None:
        server.start()
        self._record.fault("began", server.name, now(), excuses=False)

    def _look_after(self) -> None:
        while not self._ended.wait(_BETWEEN_LOOKS):
            for server in self.servers:
                self._note(server)

    def _note(self, server: Server) -> None:
        process = server.process
        if process is None or process.poll() is None:
            return
        in_order = process.returncode == 0 and server.is_leaving
        self._record.fault("left" if in_order else "died", server.name, now(), excuses=not in_order)
        self._start(server)

    def end(self) -> None:
        """Stop all in order, and see that they do."""
        self._ended.set()
        self._thread.join()
        for server in self.servers:
            server.send(signal.SIGCONT)
            server.send(signal.SIGTERM)
        for server in self.servers:
            if server.process is None:
                continue
            try:
                code = server.process.wait(30)
            except subprocess.TimeoutExpired:
                self._record.problem(f"server {server.name} did not stop within 30 s of being told")
                server.process.kill()
                server.process.wait()
            else:
                if code not in (0, -signal.SIGTERM):  # which one dies of that does not listen for it yet
                    self._record.problem(f"server {server.name} ended with {code} when it was told to stop")

    def kill(self) -> None:
        """Leave nothing behind."""
        self._ended.set()
        for server in self.servers:
            if server.process is not None and server.process.poll() is None:
                server.process.kill()
                server.process.wait()

    def ask(
        self, chance: Random, method: str, path: str, body: object = None, key: str = ""
    ) -> tuple[int, dict[str, object]] | None:
        """Ask any of them; None if there was no answer."""
        server = chance.choice(self.servers)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_PATIENCE)
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            reply = connection.getresponse()
            read = reply.read()
            return reply.status, json.loads(read) if read else {}
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    def until_answered(
        self, chance: Random, method: str, path: str, body: object = None, *, key: str = "", longest: float = 60
    ) -> tuple[int, dict[str, object]] | None:
        """Ask until there is an answer that is not about the state of the server."""
        end = time.monotonic() + longest
        while time.monotonic() < end:
            reply = self.ask(chance, method, path, body, key)
            if reply is not None and reply[0] < 500 and reply[1].get("code") not in _LATER:
                return reply
            time.sleep(chance.uniform(0.05, 0.3))
        return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
