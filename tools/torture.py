"""Play random workflows with everything mixed, on several processes that are killed and stopped; then verify it all.

    python tools/torture.py --seed 7 --minutes 5 --processes 3 [--postgres]

On PostgreSQL it brings its own server, and that is stopped and started as well.

Exits with 1 if anything is not as it must be: prints it with the seed, and keeps the folder with the database and what
the workers wrote. The same seed makes the same workflows and the same choices; when they meet differs from run to run.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.torture.play import Plot, play


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--postgres", action="store_true", help="on a server of its own, instead of a file")
    parser.add_argument("--keep", action="store_true", help="keep the folder even if all is well")
    options = parser.parse_args()
    plot = Plot(
        seed=options.seed,
        seconds=60 * options.minutes,
        processes=options.processes,
        on="postgres" if options.postgres else "sqlite",
        keep=options.keep,
    )
    folder = Path(tempfile.mkdtemp(prefix="layover-torture-"))
    begun = monotonic()

    def say(line: str) -> None:
        print(f"{monotonic() - begun:6.1f}s {line}", flush=True)

    say(f"seed {plot.seed}, {plot.processes} processes on {plot.on}, {folder}")
    problems = asyncio.run(play(plot, folder, say))
    for problem in problems:
        print(f"\n{problem}")
    if problems:
        print(f"\nFAILED with seed {plot.seed}: {len(problems)} findings; all of it is in {folder}")
        return 1
    if not options.keep:
        shutil.rmtree(folder)
    say("all is as it must be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
