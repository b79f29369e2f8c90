"""How a run that breaks a law is told: which law, when, with which faults, and how to have the same run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.testing.simulation.mixture import drawn
from layover.testing.simulation.oracle import LAWS
from layover.testing.simulation.running import minimal, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.testing.simulation.mixture import Mixture
    from layover.testing.simulation.scenario import Scenario
    from layover.testing.simulation.world import Ran


def report(ran: Ran, scenario: Scenario, name: str, mixture: Mixture | None = None) -> str:
    """Return what is to be told of a run that breaks laws; its faults are switched off one by one for that."""
    return "\n".join(line for one in ran.broken for line in _lines(ran, one.law, scenario, name, mixture))


def _lines(ran: Ran, law: str, scenario: Scenario, name: str, mixture: Mixture | None) -> Iterator[str]:
    given = mixture or drawn(ran.seed)
    needed = minimal(ran.seed, scenario, law, given)
    again = run(ran.seed, scenario, needed)
    one = next(one for one in again.broken if one.law == law)
    faults = ",".join(needed.faults)
    yield f"seed {ran.seed} ({again.hash}) breaks {law} at {one.at:.3f} s, step {one.step}: {one.seen}"
    yield f"  {LAWS[law]}"
    yield f"  needed: {faults or 'no fault'}; there were: {','.join(given.faults)}"
    command = f"python tools/simulate.py --scenario {name} --seed {ran.seed} --only --faults {faults or 'none'}"
    command += " --shuffled" if given.shuffled else ""
    yield f"  again:  {command} --trace trace.txt"
