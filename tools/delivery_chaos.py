"""Kill and stop servers while they deliver webhooks to a receiver that misbehaves; judge by what it received.

    python tools/delivery_chaos.py --seed 7 --seconds 30 --servers 2 [--postgres]

Clients start executions that pause, and answer them. Each pause, answer and end is delivered by webhook. Meanwhile
servers are killed or stopped for a while, and the receiver refuses and drops three of ten first attempts, and is slow
with others. In the end everything must have arrived under one id for each occasion, signed and in order; only a request
to answer that was answered meanwhile need not. Signatures are checked by the published library of Standard Webhooks.
Nothing here shares code with the engine. On PostgreSQL it brings its own server.

Exits with 1 if anything is not as it must be, prints it with the seed, and keeps the folder with the database and what
the servers wrote. The same seed makes the same choices; when they meet differs from run to run.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from standardwebhooks import Webhook, WebhookVerificationError

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.servers.postgres import PostgresServer

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY: Final = "an-admin-key-for-chaos-only"
SECRET: Final = "whsec_" + base64.b64encode(b"a key of thirty-two bytes for it").decode()
ORDER: Final = ("pause.opened", "pause.answered", "execution.completed")
CLIENTS: Final = 4
PATIENCE: Final = 180  # seconds until everything has arrived: a claim of a killed server ends after half a minute
PROGRAM: Final = "from layover.cli.main import main; main()"
DEFINITION: Final = {
    "name": "asks",
    "notify": [{"on": list(ORDER), "via": "hook"}],
    "nodes": [
        {"id": "ask", "type": "form", "title": "Well?", "schema": {"type": "object"}, "next": "done"},
        {"id": "done", "type": "end"},
    ],
}


class Receipt(NamedTuple):
    """A delivery that the receiver has taken."""

    id: str
    type: str
    execution_id: str


class _QuietServer(ThreadingHTTPServer):
    """A server whose clients may be killed while they ask."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a connection that was reset."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as the library has it


class Receiver:
    """Takes webhooks, and misbehaves at three of ten first attempts."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)  # noqa: S311 - a run that can be repeated
        self._lock = threading.Lock()
        self.taken: list[Receipt] = []
        self.done: Counter[str] = Counter()
        self.bad: list[str] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                receiver.take(self, body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the library has it
                pass

        self._server = _QuietServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """Check the signature of a request, and answer it in one way or another."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        with self._lock:
            is_first = headers.get("layover-attempt") == "1"
            way = self._chance.choice(("refuse", "drop", "take and drop", *["take"] * 7)) if is_first else "take"
            delay = self._chance.choice((0, 0, 0, 0.05, 0.3)) if is_first else 0
            self.done[way] += 1
            try:
                data = Webhook(SECRET).verify(body, headers)
            except WebhookVerificationError as error:
                self.bad.append(f"bad signature: {error}")
                data = None
            if data is not None and way.startswith("take"):
                self.taken.append(Receipt(headers["webhook-id"], data["type"], data["data"]["execution_id"]))
        sleep(delay)
        if way.endswith("drop"):
            request.close_connection = True
            request.connection.close()
            return
        request.send_response(500 if way == "refuse" else 204)
        request.send_header("content-length", "0")
        request.end_headers()


class Server:
    """A server in a process of its own, which is begun again when it was killed."""

    def __init__(self, folder: Path, number: int, address: str, hook: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._log = (folder / f"server-{number}.log").open("ab")
        destination = {"kind": "webhook", "address": hook, "secret": ["HOOK"], "timeout": "2s"}
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LAYOVER_")},
            "LAYOVER_ADMIN_KEY": KEY,
            "LAYOVER_RATE_LIMIT": "off",
            "LAYOVER_HTTP_PRIVATE": "true",
            "LAYOVER_SECRET_HOOK": SECRET,
            "LAYOVER_DESTINATIONS": json.dumps({"hook": destination}),
            "LAYOVER_LEASE_TTL": "3s",
        }
        self._words = [sys.executable, "-c", PROGRAM, "serve", "--db", address, "--port", str(self.port)]
        self.process = self._begin()

    def _begin(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - ours
            self._words, env=self._environment, stdout=self._log, stderr=self._log, cwd=Path(self._log.name).parent
        )

    def kill(self) -> None:
        """Kill it, and begin it again."""
        self.process.kill()
        self.process.wait()
        self.process = self._begin()

    def stop_for(self, seconds: float) -> None:
        """Let it stand still for a while."""
        self.process.send_signal(signal.SIGSTOP)
        sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        self._log.close()


class Refused(Exception):  # noqa: N818 - it says what happened
    """A server has answered, and not as asked."""


def ask(servers: list[Server], method: str, path: str, body: object = None, until: float = 0) -> Any:
    """Ask one server after the other until one answers."""
    until = until or monotonic() + PATIENCE
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    turn = 0
    while monotonic() < until:
        server, turn = servers[turn % len(servers)], turn + 1
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            read = json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError):
            sleep(0.05)
            continue
        finally:
            connection.close()
        if answer.status >= 500:
            sleep(0.05)
        elif answer.status >= 400 and answer.status != 409:
            raise Refused(f"{method} {path}: {answer.status} {read}")
        else:
            return read
    raise Refused(f"{method} {path}: no server answered")


class Client(threading.Thread):
    """Starts executions and answers them, now and then at once."""

    def __init__(self, servers: list[Server], seed: int, number: int, until: float) -> None:
        super().__init__(daemon=True)
        self._servers = servers
        self._chance = Random(f"{seed}/{number}")  # noqa: S311 - a run that can be repeated
        self._number = number
        self._until = until
        self.started: list[str] = []
        self.problems: list[str] = []

    def run(self) -> None:
        """Go on until the time is over."""
        turn = 0
        try:
            while turn == 0 or monotonic() < self._until:
                turn += 1
                self._one(turn)
        except Refused as error:
            self.problems.append(str(error))

    def _one(self, turn: int) -> None:
        servers = self._servers if turn % 2 else self._servers[::-1]
        id_ = f"{self._number:08x}-0000-4000-8000-{turn:012x}"
        ask(servers, "POST", "/api/v1/executions", {"workflow": "asks", "id": id_})
        self.started.append(id_)
        points: list[Any] = []
        while not points:
            points = ask(servers, "GET", f"/api/v1/pause-points?execution_id={id_}")["items"]
        sleep(self._chance.choice((0, 0, 0.1, 0.5)))
        ask(servers, "POST", f"/api/v1/pause-points/{quote(points[0]['id'])}/answer", {"data": {}})


def _disturb(servers: list[Server], chance: Random, until: float) -> Counter[str]:
    done: Counter[str] = Counter()
    while monotonic() < until:
        sleep(chance.uniform(0.2, 2))
        server = chance.choice(servers)
        if chance.random() < 0.5:
            server.kill()
            done["killed"] += 1
        else:
            server.stop_for(chance.choice((0.2, 1, 4)))
            done["stopped"] += 1
    return done


def _deliveries(servers: list[Server], query: str) -> list[Any]:
    found: list[Any] = []
    cursor = ""
    while True:
        page = ask(servers, "GET", f"/api/v1/deliveries?limit=100&{query}{cursor}")
        found += page["items"]
        if not page.get("next"):
            return found
        cursor = f"&cursor={quote(page['next'])}"


def _wait(servers: list[Server], executions: int) -> list[Any]:
    """Wait until every occasion is a delivery, and none is pending."""
    until = monotonic() + PATIENCE
    while True:
        found = _deliveries(servers, "")
        pending = sum(1 for one in found if one["state"] == "pending")
        if (not pending and len(found) >= len(ORDER) * executions) or monotonic() > until:
            return found
        sleep(0.5)


def judge(started: list[str], deliveries: list[Any], receiver: Receiver) -> list[str]:
    """Return what is not as it must be."""
    problems = list(receiver.bad)
    problems += [f"{one['id']} is {one['state']}" for one in deliveries if one["state"] not in ("sent", "moot")]
    moot = {one["execution_id"] for one in deliveries if one["state"] == "moot" and one["kind"] == ORDER[0]}
    ids: dict[tuple[str, str], set[str]] = {}
    first: dict[tuple[str, str], int] = {}
    for place, one in enumerate(receiver.taken):
        ids.setdefault((one.execution_id, one.type), set()).add(one.id)
        first.setdefault((one.execution_id, one.type), place)
    for id_ in started:
        places = [first.get((id_, kind)) for kind in ORDER]
        if places[0] is None and id_ in moot:
            places = places[1:]
        if None in places:
            problems.append(f"{id_}: lost, of {ORDER} arrived {places}")
        elif places != sorted(places, key=lambda place: place or 0):
            problems.append(f"{id_}: out of order, {places}")
    problems += [f"{id_}: {kind} under {len(found)} ids" for (id_, kind), found in ids.items() if len(found) > 1]
    return problems


@contextmanager
def database(folder: Path, *, postgres: bool) -> Iterator[str]:
    """Give the address of an empty database."""
    if not postgres:
        yield f"sqlite:///{folder / 'chaos.db'}"
        return
    server = PostgresServer()
    try:
        server.start()
        yield f"{server.address()}?schema=chaos"
    finally:
        server.close()


def play(options: argparse.Namespace, folder: Path) -> list[str]:
    """Play, and return what is not as it must be."""
    receiver = Receiver(options.seed)
    with database(folder, postgres=options.postgres) as address:
        servers = [Server(folder, number, address, receiver.url) for number in range(options.servers)]
        try:
            ask(servers, "POST", "/api/v1/workflows", DEFINITION)
            until = monotonic() + options.seconds
            clients = [Client(servers, options.seed, number, until) for number in range(CLIENTS)]
            for client in clients:
                client.start()
            done = _disturb(servers, Random(options.seed), until)  # noqa: S311 - as above
            for client in clients:
                client.join(PATIENCE)
            started = [id_ for client in clients for id_ in client.started]
            found = _wait(servers, len(started))
        finally:
            for server in servers:
                server.end()
    states = Counter(one["state"] for one in found)
    print(f"{len(started)} executions, {len(found)} deliveries: {dict(states)}; servers {dict(done)}")
    repeated = len(receiver.taken) - len({one.id for one in receiver.taken})
    print(f"the receiver: {dict(receiver.done)}; {repeated} taken again under their id")
    return [*(one for client in clients for one in client.problems), *judge(started, found, receiver)]


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--postgres", action="store_true", help="on a server of its own, instead of a file")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="layover-deliveries-"))
    print(f"seed {options.seed}, {options.servers} servers for {options.seconds:g} s, {folder}", flush=True)
    problems = play(options, folder)
    for problem in problems[:50]:
        print(problem)
    if problems:
        print(f"FAILED with seed {options.seed}: {len(problems)} findings; all of it is in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
