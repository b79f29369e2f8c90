"""Break the runtime on purpose, one place at a time, and see that simulations notice: `python tools/break_runtime.py`.

Each way to break it is tried with one seed after the other until a law is broken, by several processes at once. One
that no seed notices is printed, and the program fails: then a law is missing, a fault, or something to do.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.simulation.breaking import broken
from tests.simulation.flows import EVERYTHING
from tests.simulation.mutants import AREAS, MUTANTS
from tests.simulation.unnoticed_mutants import UNNOTICED

from layover.testing.simulation.running import run


def main() -> int:
    """Break it in every way, and say which was noticed by what."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=400, help="how many to try for each")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="those whose name has this in it")
    parser.add_argument("--unnoticed", action="store_true", help="those of which no seed is known that notices")
    parser.add_argument("--small", action="store_true", help="only the first way to break it")
    options = parser.parse_args()
    known = UNNOTICED if options.unnoticed else MUTANTS
    names = [name for name in known if options.only in name][: 1 if options.small else None]
    processes = min(options.processes, len(names))
    seeds = range(options.seed, options.seed + options.seeds)
    if processes == 1:
        found = [noticed(name, seeds) for name in names]
    else:
        with ProcessPoolExecutor(processes) as pool:
            found = list(pool.map(noticed, names, [seeds] * len(names)))
    missed = found.count(False)
    print(f"{len(names) - missed} of {len(names)} were noticed")
    return 1 if missed else 0


def noticed(name: str, seeds: range) -> bool:
    """Break it in one way, and return whether a seed notices."""
    area = next((area for area, ways in AREAS.items() if name in ways), "unnoticed")
    changes = MUTANTS[name] if name in MUTANTS else UNNOTICED[name].changes
    began = monotonic()
    for seed in seeds:
        with broken(changes):
            found = run(seed, EVERYTHING).broken
        if found and not run(seed, EVERYTHING).broken:  # it is the mutant that breaks it
            laws = ", ".join(sorted(one.law for one in found))
            print(f"{area:10} {name}: {laws} by seed {seed}, {monotonic() - began:.1f} s", flush=True)
            return True
    print(f"{area:10} {name}: NOT NOTICED in {len(seeds)} seeds, {monotonic() - began:.1f} s", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
