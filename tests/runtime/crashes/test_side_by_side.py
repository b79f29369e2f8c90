"""Two processes share the work on one database; one of them dies under load, and all comes to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.commit_points import CommitPoint

from .workload import ALWAYS, OUTPUTS
from .world import SQLITE, everywhere

if TYPE_CHECKING:
    from .world import World

COPIES, FEWER = {SQLITE: 6}, 2  # they take longer on a server
POINTS = [(CommitPoint.APPEND_COMMITTED,), (CommitPoint.CALL_RETURNED,)]


@pytest.mark.parametrize(("world", "point"), everywhere(POINTS, POINTS[:1], POINTS[1:]), indirect=["world"])
async def test_what_one_leaves_behind_the_other_takes_up(world: World, point: CommitPoint) -> None:
    copies = COPIES.get(world.kind, FEWER)
    other = world.run(first_copy=copies, copies=2 * copies)
    other.until("working")
    world.run(die_at=(point, 20), copies=copies).is_killed()
    world.died_at(point)
    before, effects = await world.completed(), len(world.effects.read())
    await world.is_sound()
    assert other.is_done() == [OUTPUTS[name] for name in ALWAYS] * 3 * copies
    await world.is_sound()
    await world.did_nothing_twice(before, effects)
