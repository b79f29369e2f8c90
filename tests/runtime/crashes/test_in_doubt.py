"""A process dies around a call that must not be made twice: its effect is looked for, asked about, or undone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.ports.commit_points import CommitPoint

from .in_doubt_worker import ALL, WORKFLOWS, books_in, id_of, run
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
    assert outputs == dict.fromkeys(ALL, "b")
    counts = Counter(one[:2] for one in Effects(world.folder).read())
    assert counts == {(id_of(name), node): 1 for name in WORKFLOWS for node in "ab"}
    nothing_is_booked_twice(world)


def nothing_is_booked_twice(world: World) -> None:
    """Check that what was booked is freed before it is booked again, and is booked in the end."""
    booked: dict[str, bool] = {}
    for line in books_in(world.folder).read_text().splitlines():
        key, what = line.split()
        assert what == "free" or not booked.get(key), f"{key} is booked twice"
        booked[key] = what == "booked"
    assert booked == {f"{id_of('undone')}/{node}": True for node in "ab"}


async def test_a_process_that_dies_while_it_looks_looks_again(world: World) -> None:
    world.run("in_doubt_worker", die_at=(CommitPoint.CALL_RETURNED, 1)).is_killed()
    world.run("in_doubt_worker", die_at=(CommitPoint.CALL_STARTING, 1)).is_killed()  # the probe is about to be called
    await world.is_sound()
    assert await run(world.folder, world.address, {}) == dict.fromkeys(ALL, "b")
    events = [event for _, event in await world.events()]
    assert any(isinstance(event, ev.NodeInDoubt) for event in events)
    assert max(Counter(one[:2] for one in Effects(world.folder).read()).values()) == 1
    await world.is_sound()


@pytest.mark.parametrize("point", [CommitPoint.CALL_STARTING, CommitPoint.CALL_RETURNED])
async def test_a_process_that_dies_while_it_undoes_undoes_again(world: World, point: CommitPoint) -> None:
    world.run("in_doubt_worker", only=("undone",), die_at=(CommitPoint.CALL_RETURNED, 1)).is_killed()
    world.run(
        "in_doubt_worker", only=("undone",), die_at=(point, 1)
    ).is_killed()  # the undo is about to be called, or was
    await world.is_sound()
    assert await run(world.folder, world.address, {}, ["undone"]) == {"undone": "b"}
    nothing_is_booked_twice(world)
    events = [event for _, event in await world.events()]
    assert sum(isinstance(event, ev.NodeUndone) for event in events) == 1
    lines = books_in(world.folder).read_text().splitlines()
    assert sum(line.endswith("free") for line in lines) == (2 if point is CommitPoint.CALL_RETURNED else 1)
    await world.is_sound()
