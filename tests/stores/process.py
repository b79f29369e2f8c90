"""Another process on the same file: `python -m tests.stores.process <role> <path> <instance>`.

It says what it has done on its output, one line each, and waits for a line on its input before it goes on.
"""

# ruff: noqa: T201 - printing is how it speaks to the test

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from layover.ports.records import Claim, Rest
from layover.ports.view_records import ExecutionFilter
from layover.stores.sqlite import SqliteStore
from tests.stores.conformance import following

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.store import Store

APPENDS = 120
ROOT = Path(__file__).parents[2]


def say(*words: object) -> None:
    print(*words, flush=True)


async def told_to_go_on() -> None:
    if not await asyncio.to_thread(sys.stdin.readline):
        sys.exit("nobody is there any more")


async def hammer(store: Store, instance: str) -> None:
    """Take whatever is free, append to it, give it back; then tell how much of it there is."""
    say("ready")
    await told_to_go_on()
    done = 0
    while done < APPENDS:
        claims = await store.claims.claim(Claim(instance=instance, now=1, lease_until=10**15, most=3))
        for claimed in claims.claimed:
            done += 1
            say("appending", f"{instance}-{done}")
            append = following(claimed.head, events=f"{instance}-{done}".encode(), rest=Rest(wake_at=0))
            (outcome,) = await store.appends.commit([append])
            if outcome.verdict != "passed":
                sys.exit(f"{instance} was {outcome.verdict}")
    say("done")
    await told_to_go_on()
    rows = await store.queries.list_executions(ExecutionFilter(limit=1_000))
    say("sees", sum(row.head.last_seq for row in rows))


async def drive(store: Store, instance: str) -> None:
    """Claim everything and keep it."""
    claims = await store.claims.claim(Claim(instance=instance, now=10, lease_until=10**15, most=100))
    say("drives", len(claims.claimed))
    await told_to_go_on()


async def main(role: str, path: str, instance: str) -> None:
    store = SqliteStore(path, busy_ms=30_000, clock=lambda: 0)
    await store.open(instance)
    await {"hammer": hammer, "drive": drive}[role](store, instance)
    await store.close()


class Other:
    """The other process, from the outside."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def says(self, word: str) -> str:
        """Wait until it says something that begins with a word; return the rest."""
        assert self._process.stdout is not None
        while line := (await self._process.stdout.readline()).decode():
            first, _, rest = line.strip().partition(" ")
            if first == word:
                return rest
        raise AssertionError(f"it ended without saying {word}")

    async def all_said(self, word: str, until: str) -> list[str]:
        """Collect what it says with a word, until it says another."""
        assert self._process.stdout is not None
        found: list[str] = []
        while line := (await self._process.stdout.readline()).decode():
            first, _, rest = line.strip().partition(" ")
            if first == until:
                return found
            if first == word:
                found.append(rest)
        raise AssertionError(f"it ended without saying {until}")

    def go_on(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")

    def send(self, signal: int) -> None:
        self._process.send_signal(signal)

    async def ended(self) -> int:
        return await self._process.wait()


@asynccontextmanager
async def started(role: str, path: Path, instance: str) -> AsyncIterator[Other]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.stores.process",
        role,
        str(path),
        instance,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        yield Other(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
