"""A few seconds of many clients: whatever the moments are, nobody is told what is not so. `tools/` runs it long."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.api.settings import ApiSettings
from tests.api.harness import served
from tests.load.following import CHATTY, Following, Plot
from tests.load.memory import MB, slope_of
from tests.load.playing import Load, play
from tests.load.stories import STORIES
from tests.runtime.harness import address_in

SHORT = Load(seed=7, clients=len(STORIES), seconds=1, at_least=2)


@pytest.mark.usefixtures("each_database")
async def test_clients_of_every_kind_get_true_answers(tmp_path: Path) -> None:
    told: list[str] = []
    problems = await play(SHORT, address_in(tmp_path), tmp_path, told.append)

    assert not problems, "\n".join([*told, *problems])
    for _, story in STORIES:
        assert any(f"'{story.__name__}'" in line for line in told), told
    assert any("no violations" in line for line in told), told


@pytest.mark.usefixtures("each_database")
async def test_readers_get_every_event_although_others_do_not_read(tmp_path: Path) -> None:
    told: list[str] = []
    plot = Plot(executions=2, readers=8, stalled=2, rounds=10, text=300_000)
    async with served(tmp_path, settings=ApiSettings(rate_limit=None, stalled_after=0.5)) as api:
        await api.engine.workflows.register(CHATTY)
        seen = await Following(api.url, await api.key_of("operator"), plot, told.append).play()

    assert not seen.problems, "\n".join([*told, *seen.problems])
    assert seen.events > plot.readers * plot.rounds


@pytest.mark.parametrize(
    ("sizes", "flat"),
    [
        ([50 * MB] * 60, True),
        ([20 * MB + 2 * MB * n for n in range(15)] + [50 * MB] * 45, True),  # warming up
        ([50 * MB + MB * (n % 4) for n in range(60)], True),  # up and down
        ([50 * MB + 0.2 * MB * n for n in range(60)], False),  # 12 MB a minute
        ([20 * MB + 0.07 * MB * n for n in range(60)], False),  # little, but more than a tenth
    ],
)
def test_growing_memory_is_distinguished_from_flat_memory(sizes: list[float], flat: bool) -> None:
    assert slope_of([(float(n), size) for n, size in enumerate(sizes)]).is_flat is flat
