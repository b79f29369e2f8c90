"""Simulated runs keep all laws, and one seed is one run.

Further seeds run for `LAYOVER_SIMULATION_SECONDS` (0, as it is by default, for one seed in each share), from
`LAYOVER_SIMULATION_SEED` on; `commit` stands for a seed that is this commit's own, so that each commit tries others.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from layover.testing.simulation.instances import Instances
from layover.testing.simulation.mixture import drawn
from layover.testing.simulation.oracle import LAWS, Broken
from layover.testing.simulation.report import report
from layover.testing.simulation.running import minimal, run
from layover.testing.simulation.world import World
from tests.simulation.flows import EVERYTHING
from tests.simulation.seeds import SECONDS, SHARES, first_seed, spend

_ROOT = Path(__file__).parents[2]
_FIXED = 20
_TWICE = 10 * int(os.environ.get("LAYOVER_TORTURE", "0")) or 2  # seeds that run in several processes; torture has 200


@pytest.mark.parametrize("seed", range(1, 1 + _FIXED))
def test_no_law_is_broken(seed: int) -> None:
    ran = run(seed, EVERYTHING)
    assert not ran.broken, report(ran, EVERYTHING, "everything")
    assert sum(ran.statuses.values()) > 0


@pytest.mark.parametrize("share", range(SHARES))
def test_no_law_is_broken_by_further_seeds(share: int) -> None:
    told = spend(SECONDS / SHARES, first_seed() + share * 1_000_000, EVERYTHING, "everything")
    assert not told, "\n".join(told)


@pytest.mark.parametrize("hash_seed", ["0", "12345"])
def test_the_same_seed_is_the_same_run_in_another_process_and_order(hash_seed: str) -> None:
    program = (
        "from layover.testing.simulation.running import run\n"
        "from tests.simulation.flows import EVERYTHING\n"
        f"print(*(run(seed, EVERYTHING).hash for seed in reversed(range(2, {2 + _TWICE}))))"
    )
    told = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program],
        cwd=_ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [run(seed, EVERYTHING).hash for seed in range(2, 2 + _TWICE)]
    assert told.stdout.split() == here[::-1]
    assert len(set(here)) == len(here)


def test_a_trace_has_starts_and_faults_and_changes_nothing() -> None:
    traced = run(2, EVERYTHING, traces=True)
    assert traced.hash == run(2, EVERYTHING).hash
    assert any("starts" in line for line in traced.lines)
    assert any("dies" in line or "stands still" in line for line in traced.lines)


def test_what_breaks_a_law_is_found_and_cut_down_to_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = Instances.crash

    def counted(self: Instances, life: object, why: str) -> None:
        crash(self, life, why)  # type: ignore[arg-type]  # as it comes
        self._world.oracle.breaks("LIVENESS", "on purpose")

    monkeypatch.setattr(Instances, "crash", counted)
    seed = next(seed for seed in range(1, 20) if run(seed, EVERYTHING).broken)
    needed = minimal(seed, EVERYTHING, "LIVENESS")
    assert len(needed.faults) == 1
    assert needed.faults[0] in ("crashes", "crashes_at_points", "restarts", "deadly_calls", "missing_functions")
    assert set(LAWS) >= {one.law for one in run(seed, EVERYTHING).broken}


def test_a_report_has_law_step_and_hash_and_a_command_that_has_the_same_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crash = Instances.crash

    def counted(self: Instances, life: object, why: str) -> None:
        crash(self, life, why)  # type: ignore[arg-type]  # as it comes
        self._world.oracle.breaks("LIVENESS", "on purpose")

    monkeypatch.setattr(Instances, "crash", counted)
    seed = next(seed for seed in range(1, 20) if run(seed, EVERYTHING).broken)
    told = report(run(seed, EVERYTHING), EVERYTHING, "everything")
    faults = told.partition("--faults ")[2].partition(" ")[0]
    again = run(seed, EVERYTHING, drawn(seed).with_only(faults.split(",")))
    (one,) = again.broken
    assert told.startswith(f"seed {seed} ({again.hash}) breaks LIVENESS at {one.at:.3f} s, step {one.step}: on purpose")
    assert f"python tools/simulate.py --scenario everything --seed {seed} --only --faults {faults}" in told
    assert LAWS["LIVENESS"] in told


def test_seeds_of_a_commit_stop_at_the_first_that_breaks_a_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYOVER_SIMULATION_SEED", "7")
    assert first_seed() == 7
    assert spend(0, 7, EVERYTHING, "everything") == []
    monkeypatch.setattr(World, "noted", lambda self, *_: self.oracle.broken.setdefault("VERIFY", _BROKEN))
    (told,) = spend(60, 7, EVERYTHING, "everything")
    assert told.startswith("seed 7 ")


_BROKEN = Broken("VERIFY", 1.0, 1, "on purpose")


def test_nothing_is_left_of_a_run_in_memory() -> None:
    run(71_004, EVERYTHING)  # its instances are killed while appends wait for their outcome
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, World)]
