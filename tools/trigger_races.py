"""Let processes race for the occurrences of schedules, kill and stop them meanwhile; count what was started.

    python tools/trigger_races.py --seed 7 --schedules 50 --seconds 200 --processes 3 [--postgres]

That is one race for each schedule and second. The processes disagree about the time. On PostgreSQL it brings its own
server.

Exits with 1 if an occurrence was lost or started twice: prints it with the seed, and keeps the folder with the database
and what the processes wrote. The same seed makes the same choices; when they meet differs from run to run.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.torture.stages import stage
from tests.torture.trigger_races import Race, Result, play


async def race_on(race: Race, folder: Path, *, postgres: bool) -> Result:
    """Race on a database of its own."""
    begun = monotonic()

    def say(line: str) -> None:
        print(f"{monotonic() - begun:6.1f}s {line}", flush=True)

    chance = Random(race.seed)  # noqa: S311 - a race that can be repeated
    async with stage("postgres" if postgres else "sqlite", folder, chance) as database:
        result = await play(race, database, folder, say)
    say(f"{result.occurrences} occurrences, {result.executions} executions, {result.lost_claims} claims too late")
    say(f"mishaps: {result.mishaps}")
    return result


def main() -> int:
    """Race, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=200)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--postgres", action="store_true", help="on a server of its own, instead of a file")
    options = parser.parse_args()
    race = Race(
        seed=options.seed,
        schedules=options.schedules,
        seconds=options.seconds,
        processes=options.processes,
        skew=30_000 if options.postgres else 1_000,  # a server has its own clock, by which all instances go
    )
    folder = Path(tempfile.mkdtemp(prefix="layover-races-"))
    print(f"seed {race.seed}, {race.processes} processes, {race.schedules} schedules for {race.seconds}s, {folder}")
    result = asyncio.run(race_on(race, folder, postgres=options.postgres))
    for problem in result.problems[:100]:
        print(problem)
    if result.problems:
        print(f"FAILED with seed {race.seed}: {len(result.problems)} findings; all of it is in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
