"""Simulated runs keep all laws, and one seed is one run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from layover.testing.simulation.oracle import LAWS
from layover.testing.simulation.running import minimal, run
from layover.testing.simulation.world import World
from tests.simulation.flows import EVERYTHING

_ROOT = Path(__file__).parents[2]
_FIRST = int(os.environ.get("LAYOVER_SIMULATION_SEED", "1"))


@pytest.mark.parametrize("seed", range(_FIRST, _FIRST + 40))
def test_no_law_is_broken(seed: int) -> None:
    ran = run(seed, EVERYTHING)
    told = [f"{one.law} at {one.at:.3f} s: {one.seen}" for one in ran.broken]
    again = f"python tools/simulate.py --seed {seed} --only --trace trace.txt"
    assert not ran.broken, "\n".join([*told, f"Again: {again}"])
    assert sum(ran.statuses.values()) > 0


@pytest.mark.parametrize("hash_seed", ["0", "12345"])
def test_the_same_seed_is_the_same_run_in_another_process(hash_seed: str) -> None:
    program = (
        "from layover.testing.simulation.running import run\n"
        "from tests.simulation.flows import EVERYTHING\n"
        "print(*(run(seed, EVERYTHING).hash for seed in (4, 2)))"
    )
    told = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program],
        cwd=_ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [run(seed, EVERYTHING).hash for seed in (4, 2)]


def test_a_trace_tells_who_did_what_and_changes_nothing() -> None:
    traced = run(2, EVERYTHING, traces=True)
    assert traced.hash == run(2, EVERYTHING).hash
    assert any("starts" in line for line in traced.lines)
    assert any("dies" in line or "stands still" in line for line in traced.lines)


def test_what_breaks_a_law_is_found_and_cut_down_to_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = World.crash

    def counted(self: World, life: object, why: str) -> None:
        crash(self, life, why)  # type: ignore[arg-type]  # as it comes
        self.oracle.breaks("LIVENESS", "on purpose")

    monkeypatch.setattr(World, "crash", counted)
    seed = next(seed for seed in range(1, 20) if run(seed, EVERYTHING).broken)
    needed = minimal(seed, EVERYTHING, "LIVENESS")
    assert len(needed.faults) == 1
    assert needed.faults[0] in ("crashes", "crashes_at_points", "restarts", "deadly_calls", "missing_functions")
    assert set(LAWS) >= {one.law for one in run(seed, EVERYTHING).broken}
