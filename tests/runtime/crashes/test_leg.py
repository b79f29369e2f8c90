"""A process dies in the middle of a leg that is not written yet: the leg is repeated, and nothing before it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.commit_points import CommitPoint

from . import workload
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

ONLY = ("leg", "leg_form", "leg_parallel")
POINTS = (
    CommitPoint.APPEND_DECIDED,
    CommitPoint.ROWS_WRITTEN,
    CommitPoint.APPEND_COMMITTED,
    CommitPoint.APPEND_TOLD,
    CommitPoint.REST_TOLD,
    CommitPoint.CALL_STARTING,
    CommitPoint.CALL_RETURNED,
    CommitPoint.ANSWER_COMMITTED,
)
ONCE = (CommitPoint.ANSWER_COMMITTED, CommitPoint.REST_TOLD)
CASES = everywhere(
    [(point, n) for point in POINTS for n in ((1,) if point in ONCE else (1, 2, 5))],
    few=[(CommitPoint.ROWS_WRITTEN, 5), (CommitPoint.CALL_RETURNED, 5)],
)


@pytest.mark.parametrize(("world", "point", "n"), CASES, indirect=["world"])
async def test_a_leg_is_repeated_and_nothing_before_it(world: World, point: CommitPoint, n: int) -> None:
    world.run(die_at=(point, n), only=ONLY).is_killed()
    world.died_at(point)
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish(ONLY)
    await world.is_sound()
    again = [one for one in world.effects.read()[effects:] if one[:2] in before]
    assert not again, f"completed, and called again: {again}"


def test_the_workload_has_them() -> None:
    assert all("durability: leg" in workload.WORKFLOWS[name] for name in ONLY)
