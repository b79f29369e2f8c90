"""What others see of a pause point is what its log says, also when no event names the point."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

from layover.core.ids import child_id
from layover.runtime.verify import violations
from tests.runtime.harness import child, delay, engine_at, flow, until_child, until_status


async def test_a_child_is_not_shown_as_held_once_its_parent_goes_on(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.register(flow(delay(), name="naps"))
        await engine.register(flow(child("a", "naps")))
        started = await engine.start("flow", wait="rest")
        await until_child(engine, child_id(started.id, "a", 1), "waiting")
        await engine.pause(started.id)
        await until_status(engine, started.id, "paused")
        (held,) = await engine.points(started.id)
        await engine.resume(started.id)
        (released,) = await engine.points(started.id)
        assert (held.point.held, released.point.held) == (True, False)
        assert await violations(engine.instance.store) == []
