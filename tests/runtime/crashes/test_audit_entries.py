"""A process dies while somebody acts: the act and what is written of it are both there, or neither; and never twice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.ports.access import AuditFilter
from layover.ports.commit_points import CommitPoint

from .audit_worker import ACTS, act
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

POINTS = (
    *((CommitPoint.APPEND_DECIDED, n) for n in (1, 2, 3, 4, 5, 6, 7)),
    *((CommitPoint.ROWS_WRITTEN, n) for n in range(1, 13)),
    *((CommitPoint.APPEND_COMMITTED, n) for n in (1, 2, 3, 4, 5, 6)),
    *((CommitPoint.COMMAND_COMMITTED, n) for n in (1, 2, 3)),
    *((CommitPoint.CLAIM_COMMITTED, n) for n in (1, 2)),
)
FEW = [
    *((CommitPoint.APPEND_DECIDED, n) for n in (1, 4)),
    *((CommitPoint.APPEND_COMMITTED, n) for n in (1, 3, 5)),
    *((CommitPoint.COMMAND_COMMITTED, n) for n in (1, 2)),
]

# What each act leaves in the log of its execution, or in its queue.
EVENTS: dict[str, type[ev.DomainEvent]] = {
    "execution.start": ev.ExecutionCreated,
    "execution.rewind": ev.ExecutionReopened,
}
COMMANDS = {"execution.pause": "Pause", "execution.resume": "Resume", "execution.cancel": "Cancel"}


@pytest.mark.parametrize(("world", "point", "n"), everywhere(POINTS, FEW), indirect=["world"])
async def test_there_is_no_act_without_its_entry_and_no_entry_without_its_act(
    world: World, point: CommitPoint, n: int
) -> None:
    world.run("audit_worker", die_at=(point, n)).is_killed()
    world.died_at(point)
    await world.is_sound()
    await _are_both_there(world)

    await act(world.address, {})

    await world.is_sound()
    assert await _are_both_there(world) == Counter(ACTS)


async def _are_both_there(world: World) -> Counter[str]:
    """Hold what was written against what was done; return it."""
    async with world.reading() as store:
        if store is None:
            return Counter()
        written = Counter(one.act for one in await store.audit.list_entries(AuditFilter()))
        done = Counter({"workflow.save": len(await store.definitions.list_versions("flow"))})
        commands = [
            command.kind
            for head in await world.heads()
            for command in await store.commands.list_after(head.execution_id, 0)
        ]
    done.update(what for what, kind in COMMANDS.items() for one in commands if one == kind)
    happened = [event for _, event in await world.events()]
    done.update(what for what, kind in EVENTS.items() for one in happened if isinstance(one, kind))
    assert written == done
    return written
