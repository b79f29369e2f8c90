"""A few seconds in which processes race for the same occurrences: none is lost, and none is started twice."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures
from random import Random

import pytest

from .stages import Kind, stage
from .trigger_races import Race, play


@pytest.mark.parametrize("on", ["sqlite", "postgres"])
async def test_each_occurrence_is_started_once_however_many_instances_race_for_it(tmp_path: Path, on: Kind) -> None:
    told: list[str] = []
    race = Race(seed=3, schedules=10, seconds=3, processes=2, disturb_every=8)
    async with stage(on, tmp_path, Random(3)) as database:  # noqa: S311 - a race that can be repeated
        result = await play(race, database, tmp_path, told.append)
    assert not result.problems, "\n".join([*told, *result.problems])
    assert (result.occurrences, result.executions) == (30, 30)
