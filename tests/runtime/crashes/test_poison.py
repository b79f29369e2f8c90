"""A function that ends its process, under a supervisor that starts it again: nobody else comes to harm."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev

from .poison_worker import INNOCENTS
from .world import NEIGHBOURS, SQLITE

if TYPE_CHECKING:
    from .world import World

MOST_TAKEOVERS = 5
# Whoever is a suspect is driven alone for so long that no machine is too slow to see who it is.
SETTINGS = {"recovery_backoff": 20, "suspect_alone": 1_000, "max_takeovers": MOST_TAKEOVERS}


# Where it is seen at once that a process is dead: elsewhere each of its ends would take as long as a lease.
@pytest.mark.parametrize("world", [SQLITE, NEIGHBOURS], indirect=True)
async def test_one_that_ends_its_process_is_laid_aside_and_all_others_complete(world: World) -> None:
    process, restarts = world.run("poison_worker", settings=SETTINGS), 0
    while process.ended()[0] == 1 and restarts < 2 * MOST_TAKEOVERS:
        process, restarts = world.run("poison_worker", settings=SETTINGS), restarts + 1
    status, reason, outputs = process.is_done()
    assert outputs == ["well"] * INNOCENTS
    assert status == "paused"
    assert f"lost {MOST_TAKEOVERS + 1} instances" in str(reason)
    calls = Counter((id_, node) for id_, node, _ in world.effects.read())
    assert [count for (_, node), count in calls.items() if node == "poison"] == [MOST_TAKEOVERS + 1]
    # Beside it when it first did it, beside it when nobody knew yet who it was, and alone or beside each other.
    assert max(count for (_, node), count in calls.items() if node == "innocent") <= 4
    assert not [event for _, event in await world.events() if isinstance(event, ev.NodeFailed)]
    await world.is_sound()
