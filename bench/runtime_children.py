"""What is measured in a process of its own: `python bench/runtime_children.py WHAT PATH [SIZE]`, run by the others.

`stuck` begins executions that stop in the middle of their chains, says so, and waits to be killed. `paused` begins
executions that wait for an answer, and tells how much memory the process has. `open` opens a file and tells how long
that took, with and without all that is imported for it.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from importlib import import_module
from time import perf_counter

STUCK_AT = 5
CACHE_BYTES = 1_000_000


def _memory(field: str) -> int:
    """Return one of the kernel's figures about this process, in bytes."""
    with open("/proc/self/status") as file:  # noqa: PTH123 - nothing more is to be imported here
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


async def stuck(path: str, size: int) -> None:
    from layover.bootstrap import Engine  # noqa: PLC0415 - each child loads what it needs
    from layover.runtime.settings import Settings  # noqa: PLC0415
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

    async with Engine(f"sqlite:///{path}", nodes=[work], settings=Settings(calls=2 * size)) as engine:
        await engine.register(chain())
        for _ in range(size):
            await engine.start("chain", {"x": 0})
        await all_out.wait()
        print("stuck", flush=True)
        await never.wait()


async def paused(path: str, size: int) -> None:
    from layover.runtime.settings import Settings  # noqa: PLC0415
    from runtime_workloads import engine_at, many, question  # noqa: PLC0415

    definition = question()
    async with engine_at(path, Settings(cache_bytes=CACHE_BYTES)) as engine:
        await engine.register(definition)
        before = _memory("VmRSS")

        async def pause() -> None:
            await engine.start("question", wait="rest")

        await many(pause, size, 100)
        assert await engine.counts() == {"paused": size}
        gc.collect()
        print(before, _memory("VmRSS"), _memory("VmHWM"))


async def opened(path: str, began: float) -> None:
    from layover.bootstrap import Engine  # noqa: PLC0415

    import_module("layover.stores.sqlite")
    imported = perf_counter()
    async with Engine(f"sqlite:///{path}"):
        print(imported - began, perf_counter() - imported)


def opened_bare(path: str, began: float) -> None:
    """Do what nobody can do without: load the driver, open the file, read a row."""
    import apsw  # noqa: PLC0415

    imported = perf_counter()
    db = apsw.Connection(path)
    db.execute("SELECT count(*) FROM versions").get  # noqa: B018 - it reads
    print(imported - began, perf_counter() - imported)


def main(what: str, path: str, size: str = "0") -> None:
    began = perf_counter()
    match what:
        case "stuck":
            asyncio.run(stuck(path, int(size)))
        case "paused":
            asyncio.run(paused(path, int(size)))
        case "open":
            asyncio.run(opened(path, began))
        case "open_bare":
            opened_bare(path, began)
        case _:
            sys.exit(f"There is no child {what}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
