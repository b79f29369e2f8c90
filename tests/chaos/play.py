"""One run: people, faults, an end at which nothing is disturbed, and the judgement."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from tests.servers.server import PostgresServer

from .disk import Disk
from .faults import Faults
from .flows import FLOWS
from .judge import Judge
from .line import Line
from .people import CLOSED, Person
from .record import Record, entries
from .servers import Server, ServerProcesses
from .wall_clock import WallClock

if TYPE_CHECKING:
    from collections.abc import Callable

_SETTLED = 120.0  # seconds in which everything must come to its end
_BETWEEN_LINES = 15.0


class Plan(NamedTuple):
    """What is played."""

    seed: int
    seconds: float
    processes: int
    people: int
    postgres: bool = False


def play(plan: Plan, folder: Path, say: Callable[[str], None]) -> list[str]:
    """Play, and return what is not as it must be."""
    with ExitStack() as left:
        return _play(plan, folder, say, left)


def _play(plan: Plan, folder: Path, say: Callable[[str], None], left: ExitStack) -> list[str]:
    chance = Random(plan.seed)  # noqa: S311 - chance, not secrets
    record, ended = Record(), threading.Event()
    for name in ("flags", "locks"):
        (folder / name).mkdir()
    clock = WallClock(folder)
    disk = Disk(folder / "disk", "1g" if plan.postgres else "64m")
    left.callback(disk.close)
    lines: list[Line] = []
    database = _database(plan, disk, clock, left)
    servers: list[Server] = []
    for number in range(plan.processes):
        address = database.address
        if plan.postgres:
            line = Line("127.0.0.1", database.port)
            left.callback(line.close)
            lines.append(line)
            address = address.replace(f":{database.port}/", f":{line.port}/")
        servers.append(Server(number, lambda address=address: address, folder, clock.environment))  # type: ignore[misc]
    processes = ServerProcesses(servers, record)
    left.callback(processes.kill)
    _register(processes, chance)
    faults = Faults(
        processes, record, chance, clock=clock, disk=disk, lines=lines, after_full=database.start_if_it_died
    )  # fmt: skip
    left.callback(faults.close)
    people = [Person(processes, record, folder, f"{plan.seed} {number}", ended) for number in range(plan.people)]
    for can_be, what in (
        (clock.can_be_stepped, "clock steps: no C compiler"),
        (disk.can_be_full, "full disks: no mount"),
    ):
        if not can_be:
            say(f"left out: {what}")
    for person in people:
        person.start()
    end, line_at = time.monotonic() + plan.seconds, time.monotonic()
    while time.monotonic() < end:
        if time.monotonic() >= line_at:
            say(f"{len(record.starts)} started, {len(record.outputs)} seen to complete; {dict(faults.done)}")
            line_at = time.monotonic() + _BETWEEN_LINES
        time.sleep(chance.uniform(0.3, 2))
        faults.one()
    clock.put_right()
    say("nothing is disturbed any more")
    ended.set()
    for person in people:
        person.join()
    ends = _settle(processes, record, chance, say)
    processes.end()
    (folder / "faults").write_text("".join(f"{fault}\n" for fault in record.faults))
    judge = Judge(record, entries(folder / "calls"), ends)
    died = Counter(fault.kind for fault in record.faults)
    say(f"judged {len(record.starts)} executions, {judge.calls} calls of which {judge.repeated} were repeated, ")
    say(f"  {len(record.holds)} pauses, {len(record.outputs)} outputs told; {dict(faults.done)}; {dict(died)}")
    return [*record.problems, *judge.findings(), *_verified(database.address)]


def _register(processes: ServerProcesses, chance: Random) -> None:
    for flow in FLOWS:
        reply = processes.until_answered(chance, "POST", "/api/v1/workflows", flow)
        if reply is None or reply[0] not in (200, 201):
            raise RuntimeError(f"{flow['name']} was not accepted: {reply}")


def _settle(
    processes: ServerProcesses, record: Record, chance: Random, say: Callable[[str], None]
) -> dict[str, dict[str, object]]:
    """Bring everything to its end: approve, resume and retry what waits for a person; return how each ended."""
    ends: dict[str, dict[str, object]] = {}
    until = time.monotonic() + _SETTLED
    while time.monotonic() < until and (open_ := [id_ for id_ in record.starts if not _is_over(ends.get(id_), record)]):
        for id_ in open_:
            reply = processes.until_answered(chance, "GET", f"/api/v1/executions/{id_}", longest=30)
            if reply is not None and reply[0] == 200:
                ends[id_] = reply[1]
                record.told(reply[1])
                _help(processes, chance, reply[1], record.starts[id_])
        time.sleep(0.2)
    if still := [id_ for id_ in record.starts if not _is_over(ends.get(id_), record)]:
        say(f"{len(still)} are still open after {_SETTLED:.0f} s")
    for id_ in still[:5]:
        reply = processes.until_answered(chance, "GET", f"/api/v1/executions/{id_}/why", longest=30)
        say(f"  {id_}: {reply}")
    return ends


def _is_over(end: dict[str, object] | None, record: Record) -> bool:
    if end is None:
        return False
    if record.starts[str(end["id"])] == "poison" and end["status"] == "paused":
        return True
    return end["status"] in CLOSED and not (end["status"] == "failed" and end["id"] in record.retried)


def _help(processes: ServerProcesses, chance: Random, execution: dict[str, object], workflow: str) -> None:
    id_, status = execution["id"], execution["status"]
    if workflow == "poison":
        return
    if status == "paused" and workflow == "ask":
        found = processes.until_answered(chance, "GET", f"/api/v1/approvals?execution_id={id_}")
        items = found[1].get("items") if found is not None else None
        if isinstance(items, list) and items:
            processes.until_answered(chance, "POST", f"/api/v1/approvals/{items[0]['id']}/approve", {})
    elif status == "paused":
        processes.until_answered(chance, "POST", f"/api/v1/executions/{id_}/resume", {})
    elif status == "failed":
        processes.until_answered(chance, "POST", f"/api/v1/executions/{id_}/retry", {})


def _verified(address: str) -> list[str]:
    words = [str(Path(sys.executable).with_name("layover")), "verify", "--db", address]
    found = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    return [] if found.returncode == 0 else [f"layover verify: {found.stdout}{found.stderr}"]


class _Database:
    """A file on a disk."""

    port = 0

    def __init__(self, address: str) -> None:
        self.address = address

    def start_if_it_died(self) -> None:
        """Start it again if the full disk ended it."""


class _Server(_Database):
    """A server of our own, on a disk of its own."""

    def __init__(self, server: PostgresServer) -> None:
        super().__init__(server.address())
        self.port = urlsplit(self.address).port or 0
        self._server = server

    def start_if_it_died(self) -> None:
        if not self._server.is_alive():
            self._server.restart()


def _database(plan: Plan, disk: Disk, clock: WallClock, left: ExitStack) -> _Database:
    if not plan.postgres:
        return _Database(f"sqlite:///{disk.folder / 'chaos.db'}")
    no_socket = {"unix_socket_directories": ""}  # its path could be too long
    server = PostgresServer(parent=disk.folder, settings=no_socket, environment=clock.environment)
    left.callback(server.close)
    server.start()
    return _Server(server)
