"""A server as a process of its own: what it has printed, what it answers, and how it is stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from tests.servers.fork_server import CommandProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

NODES = """
import time

def slowly(seconds: float) -> str:
    time.sleep(seconds)
    return "done"
"""
ASK = "name: ask\nnodes: [{id: review, type: approval, response: {message: soon}}]\n"
SLOW = "name: slow\nnodes: [{id: work, type: slowly, input: {seconds: '${input.seconds}'}}]\n"
PATIENCE = 30


LAYOVER = (sys.executable, "-c", "from layover.cli.main import main; main()", "serve")
WORKER = (*LAYOVER[:-1], "worker")
EXAMPLE = (sys.executable, str(Path(__file__).parents[2] / "examples" / "serve.py"))


class Serving:
    """A server, and what it has printed so far."""

    def __init__(self, folder: Path, *words: str, program: tuple[str, ...] = LAYOVER, **environment: str) -> None:
        command = [*program, *words, *(() if "--port" in words or "worker" in program else ("--port", "0"))]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LAYOVER_")}
        env = {**kept, "PYTHONUNBUFFERED": "1", "COLUMNS": "200", "LAYOVER_RATE_LIMIT": "off", **environment}
        self.process: subprocess.Popen[str] | CommandProcess
        if program in (LAYOVER, WORKER) and "--processes" not in words:
            self.process = CommandProcess(command[3:], folder, env)
        else:  # it begins further ones in the way that it was begun itself
            self.process = subprocess.Popen(  # noqa: S603 - this program
                command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        self.printed = ""
        self._more = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._more:
                self.printed += line
                self._more.notify_all()
        with self._more:
            self.printed += "\n<end>"
            self._more.notify_all()

    def said(self, pattern: str) -> str:
        """Return what a pattern finds in the output, once it does."""
        with self._more:
            found = self._more.wait_for(lambda: re.search(f"{pattern}|<end>", self.printed), PATIENCE)
        match = re.search(pattern, self.printed)
        assert found, self.printed
        assert match, self.printed
        return match[match.lastindex or 0]

    @property
    def url(self) -> str:
        return self.said(r"listening at +(http://\S+)")

    def ask(self, method: str, path: str, body: object = None, key: str = "") -> tuple[int, Any]:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        data = msgspec.json.encode(body) if body is not None else None
        status, answer = sent(method, self.url + path, headers, data)
        return status, msgspec.json.decode(answer)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


def sent(method: str, url: str, headers: dict[str, str], data: bytes | None = None) -> tuple[int, bytes]:
    """Send a request; return what is answered, all of it."""
    place = urlsplit(url)
    with closing(HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE)) as connection:
        connection.request(method, place._replace(scheme="", netloc="").geturl(), data, headers)
        answered = connection.getresponse()
        return answered.status, answered.read()


@contextmanager
def serving(folder: Path, *words: str, program: tuple[str, ...] = LAYOVER, **environment: str) -> Iterator[Serving]:
    """Serve while the block lasts."""
    server = Serving(folder, *words, program=program, **environment)
    try:
        yield server
    finally:
        server.process.terminate()  # one with several processes ends them, too, which a kill would leave behind
        try:
            server.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()
        if server.process.stdout is not None:
            server.process.stdout.close()


ALL = ("--workflows", "flows", "--nodes", "nodes.py")
