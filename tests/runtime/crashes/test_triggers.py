"""A process dies while it serves triggers: each occurrence and each signal has one execution in the end."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from layover.ports.commit_points import CommitPoint
from layover.ports.trigger_records import InputFilter

from .trigger_worker import OCCURRENCES, SENT, SIGNALS, TICKING, lines_in, serve
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

POINTS = [
    *((CommitPoint.INPUT_KEPT, n) for n in (1, 2, 4, 5)),
    *((CommitPoint.INPUT_STARTED, n) for n in (1, 3, 5)),
    *((CommitPoint.CURSOR_ADVANCED, n) for n in (1, 2)),
    *((CommitPoint.SIGNAL_TOLD, n) for n in (1, 3)),
    *((CommitPoint.ROWS_WRITTEN, n) for n in (2, 4, 6, 8)),
    *((CommitPoint.APPEND_COMMITTED, n) for n in (1, 3)),
]


@pytest.mark.parametrize(("world", "point", "n"), everywhere(POINTS, POINTS[:9]), indirect=["world"])
async def test_each_input_starts_one_execution(world: World, point: CommitPoint, n: int) -> None:
    world.run("trigger_worker", die_at=(point, n)).is_killed()
    world.died_at(point)
    await world.is_sound()

    await serve(world.folder, world.address, {})

    await world.is_sound()
    await _has_started_each_once(world)


async def test_processes_race_for_the_same_inputs(world: World) -> None:
    racers = [world.run("trigger_worker") for _ in range(3)]
    for racer in racers:
        racer.is_done()
    await world.is_sound()
    await _has_started_each_once(world)


async def _has_started_each_once(world: World) -> None:
    """Hold the inputs against the executions, and against what was done outside."""
    async with world.reading() as store:
        assert store is not None
        inputs = [
            one
            for trigger in (SENT, TICKING)
            for one in await store.triggers.list_inputs(InputFilter(trigger_id=trigger))
        ]
    assert Counter(one.state for one in inputs) == {"started": SIGNALS + OCCURRENCES}
    executions = {one.execution_id for one in inputs}
    assert {head.execution_id for head in await world.heads()} == executions
    assert len(executions) == SIGNALS + OCCURRENCES
    assert set(lines_in(world.folder).read_text().split()) == executions  # a call may be made again, after a crash
