"""Whoever brings a signal, opens a wait or makes a call that is to be replied to may die: it is found by another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.ports.commit_points import CommitPoint

from .workload import OUTPUTS, OUTSIDE, tokens_in
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

COPIES = 3

# In this workload every copy brings four signals, looks back three times, and calls once to be replied to.
MOMENTS = [
    *((CommitPoint.SIGNAL_KEPT, n) for n in (1, 2, 3, 4, 9)),
    *((CommitPoint.SIGNAL_TOLD, n) for n in (1, 2, 3, 4, 9)),
    *((CommitPoint.MESSAGES_DELIVERED, n) for n in (1, 2, 3)),
    *((CommitPoint.MESSAGES_SENT, n) for n in (1, 2)),
    *((CommitPoint.COMMAND_COMMITTED, n) for n in (1, 3, 5)),
    *((CommitPoint.APPEND_COMMITTED, n) for n in (2, 5, 8)),
    *((CommitPoint.CALL_RETURNED, n) for n in (2, 5)),
]
FEW = [(CommitPoint.SIGNAL_KEPT, 3), (CommitPoint.SIGNAL_TOLD, 4), (CommitPoint.MESSAGES_DELIVERED, 2)]
CASES = everywhere(MOMENTS, FEW)
LEFT = [(CommitPoint.SIGNAL_KEPT,), (CommitPoint.SIGNAL_TOLD,), (CommitPoint.MESSAGES_DELIVERED,)]


@pytest.mark.parametrize(("world", "point", "n"), CASES, indirect=["world"])
async def test_what_came_from_outside_is_not_lost(world: World, point: CommitPoint, n: int) -> None:
    world.run(die_at=(point, n), only=OUTSIDE, copies=COPIES).is_killed()
    world.died_at(point)
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish(OUTSIDE, COPIES)
    await world.is_sound()
    await world.did_nothing_twice(before, effects)
    await each_signal_was_taken_once(world)
    nobody_reads_a_token(world)


@pytest.mark.parametrize(("world", "point"), everywhere(LEFT, LEFT[:1]), indirect=["world"])
async def test_what_a_dead_process_left_is_brought_by_one_that_lives(world: World, point: CommitPoint) -> None:
    other = world.run(only=OUTSIDE, first_copy=COPIES, copies=COPIES)
    other.until("working")
    world.run(die_at=(point, 2), only=OUTSIDE, copies=COPIES).is_killed()
    world.died_at(point)
    assert other.is_done() == [OUTPUTS[name] for name in OUTSIDE] * 2 * COPIES
    await world.is_sound()
    await each_signal_was_taken_once(world)


async def each_signal_was_taken_once(world: World) -> None:
    """Make sure that no execution has taken a signal at two of its points, and that none is left."""
    taken = [(id_, e.signal["id"]) for id_, e in await world.events() if isinstance(e, ev.PausePointReceived)]
    assert len(set(taken)) == len(taken)


def nobody_reads_a_token(world: World) -> None:
    """Make sure that the tokens are where the function put them, and not in the database."""
    tokens = [line.split()[1].encode() for line in tokens_in(world.folder).read_text().splitlines()]
    assert tokens
    written = b"".join(path.read_bytes() for path in world.folder.glob("crash.db*") if path.is_file())
    for table in world.tables.names():
        rows = world.tables.rows(f"SELECT * FROM {table}")  # noqa: S608 - a name of ours
        written += b" ".join(one if isinstance(one, bytes) else str(one).encode() for row in rows for one in row)
    assert written
    assert not [token for token in tokens if token in written]
