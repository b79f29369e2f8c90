"""Disturb servers in every way that the world does, and judge by what their functions wrote down.

    python tools/chaos.py --seed 7 --minutes 20 --processes 3 [--postgres]

Several processes serve one database over HTTP, with fewer threads than calls and a short lease. People start, approve,
pause and retry; processes are killed, stopped and told to stop, functions kill or block theirs, connections fall
silent, the disk is full, the clock is stepped. Every call writes itself down, and the judge compares that with what the
people were told: it shares no code with the engine.

Exits with 1 if anything is not as it must be, prints it with the seed, and keeps the folder with the database, what
each server wrote, and what was done when (`faults`). The same seed makes the same choices; when they meet differs from
run to run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.chaos.play import Plan, play

_MOST_PRINTED = 30


def main() -> int:
    """Play, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--postgres", action="store_true", help="on a server of its own, instead of a file")
    parser.add_argument("--keep", action="store_true", help="keep the folder even if all is well")
    options = parser.parse_args()
    plan = Plan(options.seed, 60 * options.minutes, options.processes, options.people, options.postgres)
    folder = Path(tempfile.mkdtemp(prefix="layover-chaos-"))
    folder.chmod(0o755)  # the database's server may run as another user
    begun = monotonic()

    def say(line: str) -> None:
        print(f"{monotonic() - begun:6.1f}s {line}", flush=True)

    say(f"seed {plan.seed}, {plan.processes} processes on {'PostgreSQL' if plan.postgres else 'SQLite'}, {folder}")
    findings = play(plan, folder, say)
    for finding in findings[:_MOST_PRINTED]:
        print(f"\n{finding}")
    if len(findings) > _MOST_PRINTED:
        print(f"\n... and {len(findings) - _MOST_PRINTED} more, in {folder / 'findings'}")
        (folder / "findings").write_text("\n".join(findings))
    if findings:
        print(f"\nFAILED with seed {plan.seed}: {len(findings)} findings; all of it is in {folder}")
        return 1
    if not options.keep:
        shutil.rmtree(folder)
    say("all is as it must be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
