"""Batches over many executions, whose processes are killed again and again; count what was done with plain SQL.

    python tools/batch_kills.py --seed 7 --executions 100000 --kills 10 [--postgres]

It starts executions that wait for a person, begins a batch that rewinds all of them, and kills the process that works
on it, with SIGKILL, after numbers of items that follow from the seed. Some processes are stopped first, so that the
next one takes their batch over, and go on for a moment before they are killed. Then each execution has to have one
rewind in its log, one entry in the audit log, and one item.

A second batch answers all of them with a canary in which some executions fail after their answers. It is killed as
well, has to stop behind its canary with nothing answered beyond it, and to answer the rest once it is told to go on.

What is judged is read by `tests/torture/batch_ledger.py`, without the engine. The peak memory of every process is
noted as the system counts it; none may have more than it needs for a few hundred. On PostgreSQL the tool brings its own
server, durable as people have it. It exits with 1 if anything is wrong, and keeps what the processes have logged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.servers.server import PostgresServer
from tests.torture.batch_ledger import read_ledger

from layover import Engine, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

FLOW = {
    "name": "asking",
    "variables": {"is_broken": False},
    "nodes": [
        {"id": "ask", "type": "form", "schema": {"type": "object"}},
        {"id": "check", "type": "set", "values": {"found": "${100 / (vars.is_broken ? 0 : 1)}"}},
    ],
    "edges": [{"from": "ask", "to": "check"}],
}
SHARE = 0.1  # of the canary
ROLES = ["operator", "approver"]
LEASE = 3  # seconds: for so long a batch is left to a process that has died
SETTINGS = Settings(lease_ttl=f"{LEASE}s", poll="200ms")
AT_ONCE = 200  # starts
MOST_MEMORY = 96  # MB of a process, however many executions there are

REWIND = {"act": "rewind", "where": {"workflow": "asking"}, "to": "ask", "idempotency_key": "rewinds"}
ANSWER = {
    "act": "answer",
    "where": {"workflow": "asking", "node": "ask"},
    "data": {},
    "canary": {"share": SHARE, "watch": "2s"},
    "idempotency_key": "answers",
}


class WrongOutcomeError(Exception):
    """Something is not as it was promised."""


# One process


async def fill(db: str, number: int) -> None:
    """Start executions that wait for a person."""
    async with Engine(db, settings=SETTINGS) as engine:
        await engine.register(FLOW)
        for first in range(0, number, AT_ONCE):
            some = range(first, min(first + AT_ONCE, number))
            await asyncio.gather(*(engine.start("asking", n, idempotency_key=f"k{n}") for n in some))


async def work(db: str, asked: dict[str, object], *, goes_on: bool) -> None:
    """Work on a batch until it is at rest, and tell how far it is. `goes_on`: one that has stopped is continued."""
    async with Engine(db, settings=SETTINGS, user="ann", roles=ROLES) as engine:
        batch = await engine.batch(**asked)  # type: ignore[arg-type]
        if goes_on and (await batch.refresh()).status == "stopped":
            await batch.continue_()
        while (await batch.refresh()).status not in ("completed", "stopped", "failed"):
            print(batch.done, flush=True)
            await asyncio.sleep(0.02)


# Their lives


class Death(NamedTuple):
    """When a process is killed: after so many items of the batch; some are stopped for a while before."""

    after: int
    is_stopped_first: bool


class Lives:
    """The processes that work on batches, one after another."""

    def __init__(self, db: str, log: Path) -> None:
        self._db = db
        self._log = log
        self._late: list[tuple[subprocess.Popen[str], Timer]] = []
        self.memory: list[int] = []  # MB at most, of each
        self.killed = 0

    def live(self, asked: dict[str, object], death: Death | None, *, goes_on: bool = False) -> None:
        """Let a process work until its death; without one, until the batch is at rest."""
        plan = json.dumps([asked, goes_on])
        command = [sys.executable, __file__, "--work", plan, "--db", self._db]
        with self._log.open("a") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)  # noqa: S603 - this script
        memory = 0
        for line in process.stdout or ():
            # Not `ru_maxrss`: that counts what this process had when it forked, too.
            memory = _peak_memory(process.pid) or memory
            if death is not None and int(line) >= death.after:
                self._end(process, death, memory)
                return
        self.memory.append(memory)
        if process.wait() != 0:
            raise WrongOutcomeError(f"A process that was not killed ended with {process.returncode}.")

    def _end(self, process: subprocess.Popen[str], death: Death, memory: int) -> None:
        self.memory.append(memory)
        self.killed += 1
        how = "stopped, later killed" if death.is_stopped_first else "killed"
        print(f"  {how} after {death.after:,} items, {memory} MB", flush=True)
        if not death.is_stopped_first:
            _kill(process)
            return
        process.send_signal(signal.SIGSTOP)

        def go_on() -> None:
            process.send_signal(signal.SIGCONT)
            last = Timer(1.0, _kill, [process])
            self._late.append((process, last))
            last.start()

        # Not longer: it may stand still with the lock of the file, and then nobody else can write.
        timer = Timer(1.5 * LEASE, go_on)
        self._late.append((process, timer))
        timer.start()

    def join(self) -> None:
        """Wait for the deaths of those that were stopped before."""
        while self._late:
            process, timer = self._late.pop(0)
            timer.join()
            if not self._late:
                process.wait()


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _peak_memory(pid: int) -> int:
    """Return the MB that a process has had at most; 0 if it is about to end."""
    found = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmHWM")]
    return int(found[0].split()[1]) // 1024 if found else 0


def deaths(chance: Random, kills: int, first: int, last: int) -> list[Death]:
    """Choose when processes die, in order."""
    moments = sorted(chance.randrange(first, last) for _ in range(kills))
    return [Death(moment, is_stopped_first=chance.random() < 0.3) for moment in moments]


# The play


def rewind_all(db: str, number: int, lives: Lives, dying: list[Death]) -> None:
    """Have one batch rewind all, and judge that it did so once."""
    began = monotonic()
    for death in dying:
        lives.live(REWIND, death)
    lives.live(REWIND, None)
    took = monotonic() - began
    lives.join()
    print(
        f"rewound: {number:,} items in {took:.0f} s with {lives.killed} kills, {number / took:.0f} items/s", flush=True
    )
    _check(asyncio.run(read_ledger(db)).faults_of_rewinds())
    print("each execution was rewound once")


def answer_all(db: str, number: int, lives: Lives, chance: Random, kills: int) -> None:
    """Have one batch answer all, with a canary that fails, and judge that it stopped where it must."""
    canary = math.ceil(number * SHARE)
    broken = asyncio.run(break_some(db, chance, canary))
    for death in deaths(chance, kills, 0, canary):
        lives.live(ANSWER, death)
    lives.live(ANSWER, None)
    lives.join()
    _check(asyncio.run(read_ledger(db)).faults_of_canary(canary))
    print(f"{broken} of the canary of {canary:,} failed: the batch stopped behind it, and nothing beyond was answered")
    began = monotonic()
    for death in deaths(chance, kills, canary, number):
        lives.live(ANSWER, death, goes_on=True)
    lives.live(ANSWER, None, goes_on=True)
    rest, took = number - canary, monotonic() - began
    lives.join()
    print(f"answered: the other {rest:,} items in {took:.0f} s with {kills} kills, {rest / took:.0f} items/s")
    _check(asyncio.run(read_ledger(db)).faults_of_answers())
    print("each execution was answered once")


async def break_some(db: str, chance: Random, canary: int) -> int:
    """Have some executions of the canary fail once they are answered; return how many."""
    async with Engine(db, settings=SETTINGS, user="ann", roles=ROLES) as engine:
        where = {"workflow": "asking", "node": "ask"}
        planned = await engine.batch("answer", where, data={}, dry_run=True)
        first = planned.sample[:canary]
        chosen = chance.sample(first, chance.randint(1, min(3, len(first))))
        for item in chosen:
            execution = await engine.execution(str(item.execution_id))
            await (await execution.pause()).resume({"is_broken": True})
        return len(chosen)


def _check(faults: list[str]) -> None:
    if faults:
        raise WrongOutcomeError("\n".join(faults))


def play(db: str, given: argparse.Namespace, log: Path) -> None:
    """Fill the database, have both batches done, and look at the memory of all processes."""
    chance, lives = Random(given.seed), Lives(db, log)  # noqa: S311 - it can be repeated
    began = monotonic()
    asyncio.run(fill(db, given.executions))
    print(f"{given.executions:,} executions started in {monotonic() - began:.0f} s", flush=True)
    rewind_all(db, given.executions, lives, deaths(chance, given.kills, 1, given.executions))
    answer_all(db, given.executions, lives, chance, -(-given.kills // 3))
    print(f"{len(lives.memory)} processes, {lives.killed} of them killed: {min(lives.memory)}-{max(lives.memory)} MB")
    if max(lives.memory) > MOST_MEMORY:
        raise WrongOutcomeError(f"The memory of the processes grows with what they do: {lives.memory} MB.")


@contextmanager
def database(folder: Path, *, postgres: bool) -> Iterator[str]:
    """Give the address of an empty database."""
    if not postgres:
        yield f"sqlite:///{folder / 'batch.db'}"
        return
    with PostgresServer(fsync=True) as server:
        yield f"{server.address()}?schema=batches"


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--postgres", action="store_true", help="on a server of its own, instead of a file")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--db", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        asked, goes_on = json.loads(given.work)
        asyncio.run(work(given.db, asked, goes_on=goes_on))
        return 0
    folder = Path(tempfile.mkdtemp(prefix="layover-batches-"))
    print(f"seed {given.seed}, {given.executions:,} executions, {given.kills} kills, load {os.getloadavg()[0]:.1f}")
    try:
        with database(folder, postgres=given.postgres) as db:
            play(db, given, folder / "processes.log")
    except WrongOutcomeError as wrong:
        print(f"FAILED with seed {given.seed}: {wrong}\nWhat is left of it is in {folder}.")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
