"""A process dies or stands still while it seals: every entry is in exactly one seal, and the chain is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.ports.access import AuditFilter
from layover.ports.commit_points import CommitPoint
from layover.runtime.audit.verify import verify_audit

from .seal_worker import EACH, ROUNDS, act_and_seal
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

POINTS = [
    (CommitPoint.SEAL_WRITTEN, 1),
    (CommitPoint.SEAL_WRITTEN, 3),
    (CommitPoint.SEAL_COMMITTED, 1),
    (CommitPoint.SEAL_COMMITTED, 3),
]


@pytest.mark.parametrize(("world", "point", "n"), everywhere(POINTS, POINTS), indirect=["world"])
async def test_every_entry_is_in_one_seal_whenever_a_process_dies(world: World, point: CommitPoint, n: int) -> None:
    world.run("seal_worker", die_at=(point, n)).is_killed()
    world.died_at(point)
    written = n * EACH
    sealed = written if point is CommitPoint.SEAL_COMMITTED else written - EACH
    await _is_sealed(world, sealed, waiting=written - sealed)
    await act_and_seal(world.address, {})
    await _is_sealed(world, written + ROUNDS * EACH)


@pytest.mark.parametrize(("world", "point", "n"), everywhere(POINTS, POINTS), indirect=["world"])
async def test_every_entry_is_in_one_seal_when_one_of_two_rivals_dies(world: World, point: CommitPoint, n: int) -> None:
    rival = world.run("seal_worker")
    world.run("seal_worker", die_at=(point, n)).ended()  # the rival may have sealed for it: then it does not die
    rival.is_done()
    await act_and_seal(world.address, {})
    await _is_sealed(world, None)


@pytest.mark.parametrize(
    ("world", "point", "n"),
    everywhere([(CommitPoint.SEAL_COMMITTED, 2)], [(CommitPoint.SEAL_COMMITTED, 2)]),
    indirect=["world"],
)
async def test_a_process_that_stood_still_continues_the_chain_of_its_rival(
    world: World, point: CommitPoint, n: int
) -> None:
    stalled = world.run("seal_worker", stop_at=(point, n))
    stalled.is_stopped()
    await act_and_seal(world.address, {})
    stalled.goes_on()
    stalled.is_done()
    await _is_sealed(world, 2 * ROUNDS * EACH)


async def _is_sealed(world: World, count: int | None, *, waiting: int = 0) -> None:
    """Hold all entries against all seals."""
    await world.is_sound()
    async with world.reading() as store:
        assert store is not None
        found = await verify_audit(store)
        assert (found.findings, found.waiting) == ((), waiting)
        entries = await store.audit.list_entries(AuditFilter(limit=1_000))
        leaves = [
            seal.leaves[at : at + 32]
            for seal in await store.seals.list_seals(0, 1_000)
            for at in range(0, len(seal.leaves), 32)
        ]
        assert sorted(leaves) == sorted(entry.leaf for entry in entries if entry.seal is not None)
        assert len({*leaves}) == len(leaves) == len(entries) - waiting
        assert count is None or len(leaves) == count
