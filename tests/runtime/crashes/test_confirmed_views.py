"""A process dies right after it has told of ends: whatever it told is what the database has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.bootstrap import open_runtime

from .confirmed_worker import told, unique

if TYPE_CHECKING:
    from .world import World


async def test_every_returned_output_is_the_durable_one(world: World) -> None:
    world.run("confirmed_worker").is_killed()
    await world.is_sound()
    outputs = told(world.folder)
    assert outputs
    async with open_runtime(world.address, nodes=[unique]) as engine:
        assert {id_: await engine.executions.result(id_) for id_ in outputs} == outputs
