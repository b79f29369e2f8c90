"""A process dies at every moment that has a name: nothing is lost or done twice, and everything comes to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.commit_points import CommitPoint

from .workload import ALWAYS
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

_OFTEN = (1, 3, 8)
TIMES: dict[CommitPoint, tuple[int, ...]] = {
    CommitPoint.APPEND_DECIDED: _OFTEN,
    CommitPoint.ROWS_WRITTEN: _OFTEN,
    CommitPoint.APPEND_COMMITTED: _OFTEN,
    CommitPoint.APPEND_TOLD: _OFTEN,
    CommitPoint.CALL_RETURNED: _OFTEN,
    CommitPoint.LEASES_RENEWED: (1, 2),
    CommitPoint.LEASES_RELEASED: (1, 2),
}
# The workload has no triggers: test_triggers.py kills a process at these moments, on both databases.
OF_TRIGGERS = {
    CommitPoint.POLL_LEASED,
    CommitPoint.CURSOR_ADVANCED,
    CommitPoint.INPUT_KEPT,
    CommitPoint.INPUT_STARTED,
}
# Nor does it tell anybody of anything: test_deliveries.py does the same at these.
OF_DELIVERIES = {CommitPoint.NOTICE_EXPANDED, CommitPoint.DELIVERY_CLAIMED, CommitPoint.DELIVERY_MADE}
# Nor does it work on batches: test_batches.py does the same at these.
OF_BATCHES = {
    CommitPoint.BATCH_CLAIMED,
    CommitPoint.BATCH_ITEM_DONE,
    CommitPoint.BATCH_ITEMS_DONE,
    CommitPoint.BATCH_ADVANCED,
}
# Nor does anybody act in it, so that there is nothing to seal: test_seals.py does the same at these.
OF_SEALS = {CommitPoint.SEAL_WRITTEN, CommitPoint.SEAL_COMMITTED}
POINTS = [point for point in CommitPoint if point not in OF_TRIGGERS | OF_DELIVERIES | OF_BATCHES | OF_SEALS]
MOMENTS = [(point, n) for point in POINTS for n in TIMES.get(point, (1, 4))]
CASES = everywhere(
    MOMENTS,
    few=[(point, TIMES.get(point, (1, 4))[-1]) for point in POINTS],
    near=[(CommitPoint.ROWS_WRITTEN, 3), (CommitPoint.CALL_RETURNED, 3)],
)


@pytest.mark.parametrize(("world", "point", "n"), CASES, indirect=["world"])
async def test_a_process_may_die_at_any_moment(world: World, point: CommitPoint, n: int) -> None:
    only: tuple[str, ...] = ALWAYS
    stops, settings = 0, dict[str, int]()
    match point:
        case CommitPoint.LEASES_RENEWED:
            only, settings = (*ALWAYS, "patient"), {"lease_ttl": 900}
        case CommitPoint.LEASES_RELEASED:
            stops = n
        case CommitPoint.STATE_LOADED:
            settings = {"cache_bytes": 0}
        case _:
            pass
    world.run(die_at=(point, n), only=only, stops=stops, settings=settings).is_killed()
    world.died_at(point)
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish(only, stops=stops)
    await world.is_sound()
    await world.did_nothing_twice(before, effects)


SHORT = {"step_events": 1}
_IN_STEPS = [(point, n) for point in (CommitPoint.ROWS_WRITTEN, CommitPoint.APPEND_TOLD) for n in (2, 9, 30)]


@pytest.mark.parametrize(("world", "point", "n"), everywhere(_IN_STEPS, few=_IN_STEPS[-1:]), indirect=["world"])
async def test_a_process_may_die_between_the_steps_of_what_waits_for_nothing(
    world: World, point: CommitPoint, n: int
) -> None:
    world.run(die_at=(point, n), settings=SHORT).is_killed()
    world.died_at(point)
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish(settings=SHORT)
    await world.is_sound()
    await world.did_nothing_twice(before, effects)
