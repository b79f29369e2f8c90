"""Which seeds are run: some that are always the same, and some that are this commit's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from layover.testing.simulation.report import report
from layover.testing.simulation.running import run

if TYPE_CHECKING:
    from layover.testing.simulation.scenario import Scenario

_ROOT = Path(__file__).parents[2]
_WITHOUT_GIT = 1_000_000
_TWICE_EVERY = 50
SHARES = 10  # in which the seconds are spent, so that the processes of the suite share them
SECONDS = float(os.environ.get("LAYOVER_SIMULATION_SECONDS", "0"))  # for all of them together; 0: one seed in each


def first_seed() -> int:
    """Return the first seed: a fixed one, a given one, or with `commit` one that is this commit's own."""
    given = os.environ.get("LAYOVER_SIMULATION_SEED", "")
    git = shutil.which("git")
    if given != "commit" or git is None:
        return int(given) if given.isdigit() else _WITHOUT_GIT
    told = subprocess.run(  # noqa: S603 - our own words
        [git, "rev-parse", "HEAD"], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    return int(told.stdout[:8], 16) if told.returncode == 0 else _WITHOUT_GIT


def spend(seconds: float, first: int, scenario: Scenario, name: str) -> list[str]:
    """Run seeds for as long as that, at least one; return what is to be told of those that break a law."""
    until, told, seed = monotonic() + seconds, list[str](), first
    while not told and (seed == first or monotonic() < until):
        ran = run(seed, scenario)
        if ran.broken:
            told.append(report(ran, scenario, name))
        if (seed - first) % _TWICE_EVERY == 0 and run(seed, scenario).hash != ran.hash:
            told.append(f"seed {seed} is not the same twice")
        seed += 1
    return told
