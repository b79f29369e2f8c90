"""Simulate the engine under seeds: `python tools/simulate.py --seed 7 --seconds 60`.

Several engines, people, clocks and a database with faults run in virtual time in one process. It goes from seed to seed
until its time is up, and says which law was broken, when, and how to have the same run again; then it finds out which
kinds of faults are needed for that. One seed in fifty runs twice: one that is not the same twice is a fault of its own.

With `--only` it runs one seed, and with `--trace FILE` writes down who did what when.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.simulation.flows import SCENARIOS

from layover.testing.simulation.mixture import drawn
from layover.testing.simulation.oracle import LAWS
from layover.testing.simulation.running import minimal, run

if TYPE_CHECKING:
    from layover.testing.simulation.scenario import Scenario
    from layover.testing.simulation.world import Ran

_TWICE_EVERY = 50


def main() -> int:
    """Simulate, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to go on with the next ones")
    parser.add_argument("--seeds", type=int, help="how many seeds, whatever time they take")
    parser.add_argument("--only", action="store_true", help="one seed, and no other")
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), default="everything")
    parser.add_argument("--trace", type=Path, help="write down what happened in the last run")
    options = parser.parse_args()
    scenario, until = SCENARIOS[options.scenario], monotonic() + options.seconds
    most = 1 if options.only else options.seeds
    faults, began, broken, seconds, steps, done = Counter[str](), monotonic(), 0, 0.0, 0, 0
    for seed in count(options.seed):
        if (done >= most) if most is not None else monotonic() >= until:
            break
        ran = run(seed, scenario, traces=options.trace is not None)
        done, seconds, steps = done + 1, seconds + ran.seconds, steps + ran.steps
        faults.update(ran.counts)
        broken += _tell(ran, scenario, options.scenario)
        if seed % _TWICE_EVERY == 0 and run(seed, scenario).hash != ran.hash:
            print(f"seed {seed} is not the same twice")
            broken += 1
        if options.trace is not None:
            options.trace.write_text("\n".join(ran.lines))
    took = monotonic() - began
    print(f"{done} seeds, {broken} of them broken; {seconds / 3600:.1f} virtual hours, {steps:,} steps in {took:.0f} s")
    print(f"  {seconds / 60 / took:.1f} virtual hours in a minute, {steps / took:,.0f} steps in a second")
    print(f"  {dict(sorted(faults.items()))}")
    return 1 if broken else 0


def _tell(ran: Ran, scenario: Scenario, name: str) -> int:
    for one in ran.broken:
        print(f"seed {ran.seed} ({ran.hash}) breaks {one.law} at {one.at:.3f} s, step {one.step}: {one.seen}")
        print(f"  {LAWS[one.law]}")
        needed = minimal(ran.seed, scenario, one.law)
        print(f"  needed: {', '.join(needed.faults) or 'nothing'}; there were: {', '.join(drawn(ran.seed).faults)}")
        print(f"  again:  python tools/simulate.py --scenario {name} --seed {ran.seed} --only --trace trace.txt")
    sys.stdout.flush()
    return 1 if ran.broken else 0


if __name__ == "__main__":
    sys.exit(main())
