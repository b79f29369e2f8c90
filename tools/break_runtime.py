"""Break the runtime on purpose, one place at a time, and see that simulations notice: `python tools/break_runtime.py`.

Each way to break it is tried with one seed after the other until a law is broken. One that no seed notices is printed,
and the program fails: then a law is missing, or a fault.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import monotonic

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.simulation.flows import EVERYTHING
from tests.simulation.mutants import MUTANTS, broken

from layover.testing.simulation.running import run


def main() -> int:
    """Break it in every way, and say which was noticed by what."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=100, help="how many to try for each")
    parser.add_argument("--small", action="store_true", help="only the first way to break it")
    options = parser.parse_args()
    missed = 0
    for name, changes in list(MUTANTS.items())[: 1 if options.small else None]:
        began = monotonic()
        with broken(changes):
            found = next(
                (ran for seed in range(options.seeds) if (ran := run(options.seed + seed, EVERYTHING)).broken), None
            )
        missed += found is None
        laws = ", ".join(one.law for one in found.broken) if found is not None else "NOT NOTICED"
        seed = f" by seed {found.seed}" if found is not None else ""
        print(f"{name}: {laws}{seed}, {monotonic() - began:.1f} s", flush=True)
    print(f"{missed} were not noticed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
