"""A batch over many executions, whose process is killed again and again; count what was done.

    python tools/batch_kills.py --executions 100000 --kills 10 [--db ADDRESS]

It starts executions that wait for a person, begins a batch that rewinds all of them, and kills the process that works
on it after each part of the items. Then it holds every log against the promise: one rewind for each execution, and one
audit entry. At the end a batch answers all of them with a canary, in which one execution fails after its answer: the
batch has to stop there, and to answer the rest only once it is told to go on. It prints how long the batch took, and
the memory of its processes, which does not depend on how many items there are. Without `--db` it uses an SQLite file in
a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from layover import Engine, Settings

FLOW = {
    "name": "asking",
    "variables": {"is_broken": False},
    "nodes": [
        {"id": "ask", "type": "form", "schema": {"type": "object"}},
        {"id": "check", "type": "set", "values": {"found": "${100 / (vars.is_broken ? 0 : 1)}"}},
    ],
    "edges": [{"from": "ask", "to": "check"}],
}
KEY = "batch-kills"
SHARE = 0.1  # of the canary
SETTINGS = Settings(lease_ttl="3s", poll="200ms")
AT_ONCE = 200  # starts


async def fill(db: str, number: int) -> None:
    """Start executions that wait for a person."""
    async with Engine(db, settings=SETTINGS) as engine:
        await engine.register(FLOW)
        for first in range(0, number, AT_ONCE):
            some = range(first, min(first + AT_ONCE, number))
            await asyncio.gather(*(engine.start("asking", n, idempotency_key=f"k{n}") for n in some))


async def work(db: str) -> None:
    """Work on the batch until it is completed; tell how far it is, and how much memory this process has had."""
    async with Engine(db, settings=SETTINGS, user="ann", roles=["operator"]) as engine:
        batch = await engine.batch("rewind", {"workflow": "asking"}, to="ask", idempotency_key=KEY)
        while (await batch.refresh()).status != "completed":
            _say(batch.done)
            await asyncio.sleep(0.05)
        _say(batch.done)


def _say(done: int) -> None:
    sys.stdout.write(f"{done} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}\n")
    sys.stdout.flush()


def one_life(db: str, until: int | None) -> tuple[int, int]:
    """Let a process work until so many items are done, and kill it then; return how many were, and its memory in MB."""
    command = [sys.executable, __file__, "--work", "--db", db]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - it is this script
        done = memory = 0
        for line in process.stdout or ():
            done, memory = map(int, line.split())
            if until is not None and done >= until:
                process.send_signal(signal.SIGKILL)
                break
    if until is None and process.returncode != 0:
        raise SystemExit(f"The last process ended with {process.returncode}.")
    return done, memory // 1024


async def try_canary(db: str, number: int) -> None:
    """Answer all with a canary of which one fails: the batch stops behind it, and goes on when it is told to."""
    async with Engine(db, settings=SETTINGS, user="ann", roles=["operator", "approver"]) as engine:
        where = {"workflow": "asking", "node": "ask"}
        canary = {"share": SHARE, "watch": "2s"}
        planned = await engine.batch("answer", where, data={}, dry_run=True)
        broken = await engine.execution(str(planned.sample[0].execution_id))  # it fails once it is answered
        await (await broken.pause()).resume({"is_broken": True})
        batch = await engine.batch("answer", where, data={}, canary=canary, idempotency_key="canary")
        await batch.wait()
        first, counts = -int(-number * SHARE // 1), await engine.counts()
        found = (batch.status, batch.code, batch.done, counts.get("failed"), counts.get("paused"))
        if found != ("stopped", "canary_failed", first, 1, number - first):
            raise SystemExit(f"The canary did not stop the batch where it must: {found}.")
        await (await batch.continue_()).wait()
        counts = await engine.counts()
        found = (batch.status, batch.code, batch.done, counts.get("failed"), counts.get("completed"))
        if found != ("completed", None, number, 1, number - 1):
            raise SystemExit(f"The batch did not go on as it must: {found}.")


async def judge(db: str, number: int) -> None:
    """Hold the log of every execution against the promise."""
    async with Engine(db, drive=False) as engine:
        (batch,) = await engine.batches().all()
        figures = (batch.status, batch.total, batch.done, batch.skipped, batch.failed)
        if figures != ("completed", number, number, 0, 0):
            raise SystemExit(f"The batch is {figures}.")
        items = Counter([item.target async for item in batch.items(status="done")])
        entries = Counter([entry.target async for entry in engine.audit(act="execution.rewind")])
        rewound = Counter[int]()
        async for one in engine.executions(workflow="asking"):
            handle = await engine.execution(one.id)
            rewound[[event.type async for event in handle.history()].count("NodeRewound")] += 1
        if rewound != {1: number} or len(items) != number or {*items.values(), *entries.values()} != {1}:
            raise SystemExit(f"Not each once: rewinds {dict(rewound)}, {len(items)} items, {len(entries)} entries.")


def main() -> None:
    """Fill a database, kill processes, and judge what they did."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--executions", type=int, default=100_000)
    options.add_argument("--kills", type=int, default=10)
    options.add_argument("--db", default="")
    options.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.work:
        asyncio.run(work(given.db))
        return
    with tempfile.TemporaryDirectory() as folder:
        db = given.db or f"sqlite:///{Path(folder) / 'batch.db'}"
        began = time.monotonic()
        asyncio.run(fill(db, given.executions))
        print(f"{given.executions:,} executions started in {time.monotonic() - began:.0f} s")
        began, memory = time.monotonic(), list[int]()
        for n in range(1, given.kills + 1):
            done, used = one_life(db, given.executions * n // (given.kills + 1))
            memory.append(used)
            print(f"killed after {done:,} items, {used} MB")
        done, used = one_life(db, None)
        memory.append(used)
        took = time.monotonic() - began
        kept = f"{min(memory)} to {max(memory)} MB"
        print(f"completed: {done:,} items in {took:.0f} s with {given.kills} kills, {kept}")
        asyncio.run(judge(db, given.executions))
        print("each item was done once")
        asyncio.run(try_canary(db, given.executions))
        print(f"the canary of {SHARE:.0%} stopped its batch, which went on when it was told to")


if __name__ == "__main__":
    main()
