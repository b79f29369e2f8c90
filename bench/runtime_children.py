"""What is measured in a process of its own: `python bench/runtime_children.py WHAT ADDRESS [SIZE]`, run by the others.

`stuck` begins executions that stop in the middle of their chains, says so, and waits to be killed. `paused` begins
executions that wait for an answer, and tells how much memory the process has. `open` opens a database and tells how
long that took, with and without all that is imported for it.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from importlib import import_module
from time import perf_counter

STUCK_AT = 5
STUCK_LEASE = 2_000  # milliseconds; on a file it is not waited for
CACHE_BYTES = 1_000_000


def _memory(field: str) -> int:
    """Return one of the kernel's figures about this process, in bytes."""
    with open("/proc/self/status") as file:  # noqa: PTH123 - nothing more is to be imported here
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


async def stuck(address: str, size: int) -> None:
    from engines import Engine, settings_of  # noqa: PLC0415 - each child loads what it needs
    from runtime_workloads import chain  # noqa: PLC0415

    out = 0
    all_out, never = asyncio.Event(), asyncio.Event()

    async def work(x: int) -> dict[str, int]:
        nonlocal out
        if x == STUCK_AT:
            out += 1
            if out == size:
                all_out.set()
            await never.wait()
        return {"x": x + 1}

    settings = settings_of(calls=2 * size, lease_ttl=STUCK_LEASE)
    async with Engine(address, nodes=[work], settings=settings) as engine:
        await engine.register(chain())
        for _ in range(size):
            await engine.start("chain", {"x": 0})
        await all_out.wait()
        print("stuck", flush=True)
        await never.wait()


async def paused(address: str, size: int) -> None:
    from engines import settings_of  # noqa: PLC0415 - as above
    from runtime_workloads import engine_at, many, question  # noqa: PLC0415

    definition = question()
    async with engine_at(address, settings_of(cache_bytes=CACHE_BYTES)) as engine:
        await engine.register(definition)
        before = _memory("VmRSS")

        async def pause() -> None:
            await engine.start("question", until="rest")

        await many(pause, size, 100)
        assert await engine.counts() == {"paused": size}
        gc.collect()
        print(before, _memory("VmRSS"), _memory("VmHWM"))


async def opened(address: str, began: float) -> None:
    from engines import Engine  # noqa: PLC0415

    import_module("layover.stores.sqlite" if address.startswith("sqlite:") else "layover.stores.postgres")
    imported = perf_counter()
    async with Engine(address):
        print(imported - began, perf_counter() - imported)


def opened_bare_file(address: str, began: float) -> None:
    """Do what every program has to do: load the driver, open the file, read a row."""
    import apsw  # noqa: PLC0415

    imported = perf_counter()
    db = apsw.Connection(address.removeprefix("sqlite:///"))
    db.execute("SELECT count(*) FROM versions").get  # noqa: B018 - it reads
    print(imported - began, perf_counter() - imported)


async def opened_bare_server(address: str, began: float) -> None:
    """Do the same with a server."""
    import asyncpg  # noqa: PLC0415

    imported = perf_counter()
    server, _, schema = address.partition("?schema=")
    db = await asyncpg.connect(server)
    await db.fetchval(f"SELECT count(*) FROM {schema}.versions")  # noqa: S608 - our own name
    print(imported - began, perf_counter() - imported)
    await db.close()


def main(what: str, address: str, size: str = "0") -> None:
    began = perf_counter()
    match what:
        case "stuck":
            asyncio.run(stuck(address, int(size)))
        case "paused":
            asyncio.run(paused(address, int(size)))
        case "open":
            asyncio.run(opened(address, began))
        case "open_bare" if address.startswith("sqlite:"):
            opened_bare_file(address, began)
        case "open_bare":
            asyncio.run(opened_bare_server(address, began))
        case _:
            sys.exit(f"There is no child {what}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
