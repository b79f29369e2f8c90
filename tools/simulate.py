"""Simulate the engine under seeds: `python tools/simulate.py --seed 7 --seconds 60`.

Several engines, people, clocks and a database with faults run in virtual time in one process. It goes from seed to seed
until its time is up, and says which law was broken, at which step, with which kinds of faults, and how to have the same
run again. One seed in fifty runs twice: one that is not the same twice is a fault of its own.

With `--only` it runs one seed, with `--faults a,b` only with these kinds of faults, and with `--trace FILE` it writes
down who did what when. With `--shuffled`, callbacks of one instance run in any order, too. asyncio promises that they
do not, so what that finds counts once it is confirmed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import count
from pathlib import Path
from time import monotonic, process_time

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.simulation.flows import SCENARIOS

from layover.testing.simulation.mixture import FAULTS, Mixture, drawn
from layover.testing.simulation.report import report
from layover.testing.simulation.running import run

TWICE_EVERY = 50


def main() -> int:
    """Simulate, and say what came of it."""
    options = _options()
    scenario, until = SCENARIOS[options.scenario], monotonic() + options.seconds
    most = 1 if options.only else options.seeds
    faults, began, used, broken, seconds, steps, done = Counter[str](), monotonic(), process_time(), 0, 0.0, 0, 0
    for seed in count(options.seed):
        if (done >= most) if most is not None else monotonic() >= until:
            break
        mixture = _mixture(seed, options.faults, shuffled=options.shuffled)
        ran = run(seed, scenario, mixture, traces=options.trace is not None)
        done, seconds, steps = done + 1, seconds + ran.seconds, steps + ran.steps
        faults.update(ran.counts)
        if ran.broken:
            print(report(ran, scenario, options.scenario, mixture), flush=True)
            broken += 1
        if seed % TWICE_EVERY == 0 and run(seed, scenario, mixture).hash != ran.hash:
            print(f"seed {seed} is not the same twice")
            broken += 1
        if options.trace is not None:
            options.trace.write_text("\n".join(ran.lines))
    took, used = monotonic() - began, process_time() - used
    print(f"{done} seeds, {broken} of them broken; {seconds / 3600:.1f} virtual hours, {steps:,} steps in {took:.0f} s")
    print(
        f"  in a minute of one core: {seconds / 60 / used:.1f} virtual hours, {done * 60 / used:.0f} seeds; "
        f"{steps / used:,.0f} steps in a second of it"
    )
    print(f"  {dict(sorted(faults.items()))}")
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to go on with the next ones")
    parser.add_argument("--seeds", type=int, help="how many seeds, whatever time they take")
    parser.add_argument("--only", action="store_true", help="one seed, and no other")
    parser.add_argument("--faults", help=f"only these kinds, or none: {', '.join(FAULTS)}")
    parser.add_argument("--shuffled", action="store_true", help="also the callbacks of one instance run in any order")
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), default="everything")
    parser.add_argument("--trace", type=Path, help="write down what happened in the last run")
    return parser.parse_args()


def _mixture(seed: int, faults: str | None, *, shuffled: bool) -> Mixture:
    found = drawn(seed, shuffled=shuffled)
    return found if faults is None else found.with_only(faults.split(","))


if __name__ == "__main__":
    sys.exit(main())
