"""Parents and children whose process dies between any two commits: each child is one, and each parent hears once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.ports.commit_points import CommitPoint

from .workload import FAMILIES, OUTPUTS
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

COPIES = 3
TIMES: dict[CommitPoint, tuple[int, ...]] = {
    CommitPoint.ROWS_WRITTEN: (2, 5, 9, 14),
    CommitPoint.APPEND_COMMITTED: (2, 4, 7, 11, 16),
    CommitPoint.REST_TOLD: (1, 3, 6),
    CommitPoint.CLAIM_COMMITTED: (2, 5),
    CommitPoint.COMMAND_COMMITTED: (1, 2, 4, 6),
    CommitPoint.MESSAGES_DELIVERED: (1, 2, 3, 5, 7),
    CommitPoint.MESSAGES_SENT: (1, 2, 3, 5),
}
FEW = [(CommitPoint.ROWS_WRITTEN, 9), (CommitPoint.COMMAND_COMMITTED, 4), (CommitPoint.MESSAGES_DELIVERED, 3)]
CASES = everywhere([(point, n) for point, times in TIMES.items() for n in times], FEW)


@pytest.mark.parametrize(("world", "point", "n"), CASES, indirect=["world"])
async def test_families_survive_the_death_of_their_process(world: World, point: CommitPoint, n: int) -> None:
    world.run(die_at=(point, n), only=FAMILIES).is_killed()
    world.died_at(point)
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish(FAMILIES)
    await world.is_sound()
    await world.did_nothing_twice(before, effects)
    await each_was_begun_and_heard_once(world)


@pytest.mark.parametrize(
    ("world", "point"),
    everywhere(
        [(CommitPoint.APPEND_COMMITTED,), (CommitPoint.MESSAGES_DELIVERED,)], few=[(CommitPoint.MESSAGES_DELIVERED,)]
    ),
    indirect=["world"],
)
async def test_what_one_leaves_undelivered_the_other_delivers(world: World, point: CommitPoint) -> None:
    other = world.run(first_copy=COPIES, copies=COPIES, only=FAMILIES)
    other.until("working")
    world.run(die_at=(point, 8), copies=COPIES, only=FAMILIES).is_killed()
    world.died_at(point)
    before, effects = await world.completed(), len(world.effects.read())
    await world.is_sound()
    assert other.is_done() == [OUTPUTS[name] for name in FAMILIES] * 2 * COPIES
    await world.is_sound()
    await world.did_nothing_twice(before, effects)
    await each_was_begun_and_heard_once(world)


async def each_was_begun_and_heard_once(world: World) -> None:
    """Hold what parents wanted against what there is: each child that was wanted is there, and no other."""
    events = await world.events()
    wanted = {
        str(one.details["child"]) for _, one in events if isinstance(one, ev.PausePointOpened) and one.kind == "child"
    }
    parted = {
        str(one.output["execution_id"])
        for _, one in events
        if isinstance(one, ev.NodeCompleted) and isinstance(one.output, dict) and "execution_id" in one.output
    }
    begun = [one.id for _, one in events if isinstance(one, ev.ExecutionCreated) and one.parent is not None]
    assert sorted(begun) == sorted(wanted | parted)
    heard = [one.point for _, one in events if isinstance(one, ev.PausePointAnswered)]
    assert len(set(heard)) == len(heard)
