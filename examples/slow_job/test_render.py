"""The job is tested with a farm that does nothing until the test reports, and with a crash at every moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from render import render
from render_farm import RenderFarm, render_farm

from layover import CallbackRefused
from layover.testing import survives_crashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from layover.testing import Layover

FILM = {"film": "harbour"}
DONE = {"file": "harbour.mp4"}


@pytest.fixture
def farm() -> Iterator[RenderFarm]:
    with render_farm(seconds=3600) as found:  # it takes jobs, and never comes to report
        yield found


def tokens(farm: RenderFarm) -> list[str]:
    return [job["report_to"].rpartition("/")[2] for job in farm.jobs]


async def test_a_second_report_changes_nothing(layover: Layover, farm: RenderFarm) -> None:
    await layover.register(render(farm.address))
    execution = await layover.start("render", FILM)
    assert (execution.status, len(farm.jobs)) == ("waiting", 1)
    (token,) = tokens(farm)
    await layover.callback(token).complete(DONE)
    with pytest.raises(CallbackRefused, match="no longer waits"):
        await layover.callback(token).complete({"file": "another.mp4"})
    assert await execution.result() == DONE


async def test_a_farm_that_is_silent_gets_the_job_again(layover: Layover, farm: RenderFarm) -> None:
    await layover.register(render(farm.address))
    execution = await layover.start("render", FILM)
    await layover.skip("9m")
    await layover.callback(tokens(farm)[0]).heartbeat()
    await layover.skip("9m")
    assert len(farm.jobs) == 1
    await layover.skip("2m")
    first, second = tokens(farm)
    with pytest.raises(CallbackRefused):
        await layover.callback(first).complete(DONE)
    await layover.callback(second).complete(DONE)
    assert await execution.result() == DONE


@survives_crashes(most=30)
async def test_a_crash_at_any_moment_loses_no_report(layover: Layover, farm: RenderFarm) -> None:
    farm.jobs.clear()
    await layover.register(render(farm.address))
    execution = await layover.start("render", FILM)
    for token in reversed(tokens(farm)):  # after a crash there may be two, and both are valid
        try:
            await layover.callback(token).complete(DONE)
        except CallbackRefused as refused:
            assert refused.code == "token_used"  # noqa: PT017 - most of the time there is only one
    assert await execution.result() == DONE
