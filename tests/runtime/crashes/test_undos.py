"""A process dies in a call that can be undone: the undo gets what it was promised, then the call is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.bootstrap import open_runtime
from layover.core.engine import events as ev
from layover.ports.commit_points import CommitPoint

from .undo_worker import ID, calls_in, run
from .world import POSTGRES, SQLITE

if TYPE_CHECKING:
    from .world import World

pytestmark = pytest.mark.parametrize("world", [SQLITE, POSTGRES], indirect=True)


async def test_an_undo_gets_the_input_and_the_key_of_the_lost_call_and_the_call_begins_anew(world: World) -> None:
    world.run("undo_worker", only=("undo",), die_at=(CommitPoint.CALL_RETURNED, 1)).is_killed()
    assert await run(world.folder, world.address, {}) == "completed"
    lost, undone, again = calls_in(world.folder)
    assert (lost.what, undone.what, again.what) == ("charge", "refund", "charge")
    assert lost.input == undone.input == again.input == [7, 42]
    assert lost.key == undone.key == again.key
    assert lost.token < undone.token < again.token
    assert (lost.begun, again.begun) == (1, 3)  # what it had recorded was forgotten
    await world.is_sound()


async def test_a_person_who_is_asked_may_have_it_undone_and_the_undo_may_be_lost_as_well(world: World) -> None:
    world.run("undo_worker", only=("pause",), die_at=(CommitPoint.CALL_RETURNED, 1)).is_killed()
    assert await run(world.folder, world.address, {}, "pause") == "paused"
    async with open_runtime(world.address) as engine:  # without the function: it is asked about, not called
        (row,) = await engine.points.list(ID)
        assert row.point.details["otherwise"] == ["repeat", "undo", "fail"]
        await engine.answers.answer(row.point.id, {"happened": False, "otherwise": "undo"}, by="ann")
    world.run("undo_worker", only=("pause",), die_at=(CommitPoint.CALL_RETURNED, 1)).is_killed()
    assert [one.what for one in calls_in(world.folder)] == ["charge", "refund"]
    assert await run(world.folder, world.address, {}, "pause") == "completed"
    assert [one.what for one in calls_in(world.folder)] == ["charge", "refund", "refund", "charge"]
    events = [event for _, event in await world.events()]
    assert sum(isinstance(event, ev.NodeUndone) for event in events) == 1
    await world.is_sound()


async def test_a_call_that_was_given_up_is_asked_about_again_by_a_retry(world: World) -> None:
    world.run("undo_worker", only=("pause",), die_at=(CommitPoint.CALL_RETURNED, 1)).is_killed()
    assert await run(world.folder, world.address, {}, "pause") == "paused"
    async with open_runtime(world.address) as engine:
        (row,) = await engine.points.list(ID)
        await engine.answers.answer(row.point.id, {"happened": False, "otherwise": "fail"}, by="ann")
    assert await run(world.folder, world.address, {}, "pause") == "failed"
    assert [one.what for one in calls_in(world.folder)] == ["charge"]
    async with open_runtime(world.address) as engine:
        await engine.control.retry(ID)
    assert await run(world.folder, world.address, {}, "pause") == "paused"
    assert [one.what for one in calls_in(world.folder)] == ["charge"]
    await world.is_sound()
