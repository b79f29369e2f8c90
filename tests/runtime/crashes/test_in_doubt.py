"""A process dies around a call that must not be made twice: it is looked, or asked, whether it had its effect."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.ports.commit_points import CommitPoint

from .in_doubt_worker import WORKFLOWS, id_of, run
from .workload import Effects
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

POINTS = (
    CommitPoint.APPEND_DECIDED,
    CommitPoint.ROWS_WRITTEN,
    CommitPoint.APPEND_COMMITTED,
    CommitPoint.APPEND_TOLD,
    CommitPoint.CALL_STARTING,
    CommitPoint.CALL_RETURNED,
)
CASES = everywhere(
    [(point, n) for point in POINTS for n in (1, 2, 3)],
    few=[(CommitPoint.ROWS_WRITTEN, 3), (CommitPoint.CALL_RETURNED, 2)],
)


@pytest.mark.parametrize(("world", "point", "n"), CASES, indirect=["world"])
async def test_what_has_happened_does_not_happen_again(world: World, point: CommitPoint, n: int) -> None:
    world.run("in_doubt_worker", die_at=(point, n)).is_killed()
    world.died_at(point)
    await world.is_sound()

    outputs = await run(world.folder, world.address, {})

    await world.is_sound()
    assert outputs == dict.fromkeys(WORKFLOWS, "b")
    counts = Counter(one[:2] for one in Effects(world.folder).read())
    assert counts == {(id_of(name), node): 1 for name in WORKFLOWS for node in "ab"}


async def test_a_process_that_dies_while_it_looks_looks_again(world: World) -> None:
    world.run("in_doubt_worker", die_at=(CommitPoint.CALL_RETURNED, 1)).is_killed()
    world.run("in_doubt_worker", die_at=(CommitPoint.CALL_STARTING, 1)).is_killed()  # the probe is about to be called
    await world.is_sound()
    assert await run(world.folder, world.address, {}) == dict.fromkeys(WORKFLOWS, "b")
    events = [event for _, event in await world.events()]
    assert any(isinstance(event, ev.NodeInDoubt) for event in events)
    assert max(Counter(one[:2] for one in Effects(world.folder).read()).values()) == 1
    await world.is_sound()
