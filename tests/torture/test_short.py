"""A few seconds of torture: whatever the moments are, nothing is found that must not be."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from .play import Plot, play
from .stages import Kind  # noqa: TC001 - as above


@pytest.mark.parametrize("on", ["sqlite", "postgres"])
async def test_nothing_breaks_in_a_few_seconds_of_everything(tmp_path: Path, on: Kind) -> None:
    told: list[str] = []
    plot = Plot(seed=7, seconds=3, processes=2, kindly=1, on=on, disturb_stage_every=(0.5, 1.5))
    problems = await play(plot, tmp_path, told.append)
    assert not problems, "\n".join([*told, *problems])
    assert any(line.startswith("judged") and not line.startswith("judged 0 ") for line in told), told
