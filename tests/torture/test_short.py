"""A few seconds of torture: whatever the moments are, nothing is found that must not be."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from .play import Plot, play


async def test_nothing_breaks_in_a_few_seconds_of_everything(tmp_path: Path) -> None:
    told: list[str] = []
    plot = Plot(seed=7, seconds=3, processes=2, kindly=1)
    problems = await play(plot, tmp_path, told.append)
    assert not problems, "\n".join([*told, *problems])
    assert any(line.startswith("judged") and not line.startswith("judged 0 ") for line in told), told
