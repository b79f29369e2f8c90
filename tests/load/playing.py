"""Load from beginning to end: clients with their stories for as long as asked, then what is left is held against it."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Literal

import msgspec

from layover.bootstrap import inspectable_store
from tests.servers.server import PostgresServer

from .clients import Client, Ledger
from .flows import FLOWS
from .memory import FEWEST, Slope, sample, slope_of
from .serving import serving
from .stories import STORIES
from .wire import Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from .serving import Serving

Kind = Literal["sqlite", "postgres"]

_TELL_EVERY = 5.0
_MOST_PROBLEMS = 20  # after so many nobody needs more of them
_PROGRAM = "from layover.cli.main import main; main()"


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """How many ask for how long; the same seed makes the same choices, but the moments differ."""

    seed: int
    clients: int
    seconds: float
    on: Kind = "sqlite"
    processes: int = 1  # of the server
    at_least: int = 1  # stories that each client tells, however short the time


@asynccontextmanager
async def database(kind: Kind, folder: Path) -> AsyncIterator[str]:
    """Give the address of an empty database."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'load.db'}"
        return
    server = PostgresServer()
    try:
        await asyncio.to_thread(server.start)
        yield f"{server.address()}?schema=load"
    finally:
        await asyncio.to_thread(server.close)


async def play(load: Load, address: str, folder: Path, say: Callable[[str], None]) -> list[str]:
    """Put a server under load, and return what must not be, each as a text for people."""
    ledger = Ledger()
    samples: list[tuple[float, float]] = []
    async with serving(address, folder, FLOWS, load.processes) as server:
        watching = asyncio.create_task(sample(lambda: server.resident, samples))
        telling = asyncio.create_task(_tell(ledger, server, say))
        began = monotonic()
        await _all_ask(load, server, ledger)
        took = monotonic() - began
        for task in (watching, telling):
            task.cancel()
        say(f"{ledger.requests} requests in {took:.0f} s, {ledger.requests / took:.0f} a second; {dict(ledger.done)}")
        ledger.problems += await server.stop()
    ledger.problems += _judged(slope_of(samples), len(samples), say) if samples else []
    ledger.problems += await _compared(address, ledger, say)
    ledger.problems += await verified(address, say)
    return ledger.problems


async def _all_ask(load: Load, server: Serving, ledger: Ledger) -> None:
    shared = {
        "viewer": await server.key("viewer", "viewer"),
        "approver": await server.key("approver", "approver"),
        "stranger": "lay_" + "x" * 43,
        "nobody": "",
    }
    async with AsyncExitStack() as stack:
        clients: list[Client] = []
        for number in range(load.clients):
            own = await server.key(f"op-{number}", "operator")
            keys = {"operator": own, "second": own, **shared}
            wires = {name: await stack.enter_async_context(Wire(server.url, key)) for name, key in keys.items()}
            chance = Random(load.seed * 1_000_003 + number)  # noqa: S311 - it keeps no secret
            clients.append(Client(number, wires, chance, ledger))
        end = monotonic() + load.seconds
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(_ask(client, end, load.at_least))


async def _ask(client: Client, end: float, at_least: int) -> None:
    """Tell one story after the other until the time is over; the last one is told to its end."""
    ledger = client.ledger
    weights, stories = [weight for weight, _ in STORIES], [story for _, story in STORIES]
    # Each client begins with another one, so that few clients tell all of them.
    story = stories[client.number % len(stories)]
    told = 0
    while (monotonic() < end or told < at_least) and len(ledger.problems) < _MOST_PROBLEMS:
        try:
            await story(client)
            ledger.done[story.__name__] += 1
        except Exception as error:  # noqa: BLE001 - an answer that cannot even be looked at is a finding, too
            ledger.problems.append(f"{client.name}, {story.__name__}: {error!r}")
        (story,) = client.chance.choices(stories, weights)
        told += 1


async def _tell(ledger: Ledger, server: Serving, say: Callable[[str], None]) -> None:
    while True:
        await asyncio.sleep(_TELL_EVERY)
        say(f"{ledger.requests} requests, {len(ledger.ends)} executions, {server.resident / 1e6:.1f} MB")


def _judged(slope: Slope, count: int, say: Callable[[str], None]) -> list[str]:
    say(f"memory: {slope}")
    if count < FEWEST or slope.is_flat:
        return []
    return [f"The memory of the server grows: {slope}."]


async def _compared(address: str, ledger: Ledger, say: Callable[[str], None]) -> list[str]:
    """Return which executions are not in the database as a client saw them end."""
    store = inspectable_store(address)
    await store.open_to_read()
    try:
        problems = []
        for execution_id, status in ledger.ends.items():
            row = await store.queries.find_execution(execution_id)
            found = row.head.status if row is not None else "gone"
            if found != status:
                problems.append(f"{execution_id} ended as {status}, and is {found}.")
        counts = await store.queries.count_by_status()
    finally:
        await store.close()
    say(f"in the database: {counts}")
    missing = sum(counts.values()) - len(ledger.ends)
    # One that failed on the way may have left something that nobody saw end.
    if missing and not ledger.problems:
        problems.append(f"There are {missing} executions more than clients have started.")
    return problems


async def verified(address: str, say: Callable[[str], None]) -> list[str]:
    """Return what `layover verify` finds."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _PROGRAM,
        "verify",
        address,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    text = printed.decode(errors="replace").strip()
    say(f"verify: {text.splitlines()[-1] if text else ''}")
    return [f"layover verify ended with {process.returncode}:\n{text}"] if process.returncode else []
