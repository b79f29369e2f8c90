"""Put `layover serve` under load by clients of every kind, which check all that they are told; then verify it.

    python tools/load.py --seed 7 --clients 200 --seconds 60 [--postgres]

On PostgreSQL it brings its own server. Exits with 1 if anything is not as it must be: an answer that cannot be, one
that was taken and had no effect, a fault of the server, memory that grows, a database that does not verify. It prints
that with the seed, and keeps the folder with the database and what the server wrote.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.load.playing import Load, database, play

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=1, help="how many processes the server has")
    parser.add_argument("--postgres", action="store_true", help="on a server of its own, instead of a file")
    parser.add_argument("--keep", action="store_true", help="keep the folder even if all is well")
    options = parser.parse_args()
    load = Load(
        seed=options.seed,
        clients=options.clients,
        seconds=options.seconds,
        processes=options.processes,
        on="postgres" if options.postgres else "sqlite",
    )
    folder = Path(tempfile.mkdtemp(prefix="layover-load-"))
    begun = monotonic()

    def say(line: str) -> None:
        print(f"{monotonic() - begun:6.1f}s {line}", flush=True)

    say(f"seed {load.seed}, {load.clients} clients for {load.seconds:g} s on {load.on}, {folder}")
    problems = asyncio.run(_played(load, folder, say))
    for problem in problems:
        print(f"\n{problem}")
    if problems:
        print(f"\nFAILED with seed {load.seed}: {len(problems)} findings; what there is of it is in {folder}")
        return 1
    if not options.keep:
        shutil.rmtree(folder)
    say("all is as it must be")
    return 0


async def _played(load: Load, folder: Path, say: Callable[[str], None]) -> list[str]:
    async with database(load.on, folder) as address:
        return await play(load, address, folder, say)


if __name__ == "__main__":
    sys.exit(main())
