"""A closed execution that is taken up again: one that comes to its end at once, and one that had never begun."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover import Options
from layover.runtime.verify import violations
from tests.runtime.harness import HOUR, HandWound, end, engine_on, flow, until_status
from tests.runtime.harness import delay as delay_node

COMPUTED = flow({"id": "a", "type": "compute", "output": "${input}"}, end("${nodes.a}"))


async def test_what_ends_in_the_step_that_reopened_it_ended_then(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.register(COMPUTED)
        done = await engine.start("flow", 1, wait="end")
        clock.skip(engine, HOUR)
        again = await engine.rewind(done.id, "a")
        assert done.finished_at is not None
        assert again.finished_at is not None
        assert again.finished_at > done.finished_at
        assert await violations(engine.instance.store) == []


@pytest.mark.parametrize("delay", [None, 3 * HOUR])
async def test_what_failed_in_line_gets_in_line_again(tmp_path: Path, delay: int | None) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), outbox_poll=10) as engine:
        await engine.register(
            flow(delay_node(duration="1d"), settings={"concurrency": {"limit": 1}, "max_pause": "1h"})
        )
        first = await engine.start("flow", wait="rest")
        second = await engine.start("flow", options=Options(delay=delay))
        await engine.pause(second.id)
        clock.skip(engine, 2 * HOUR)
        await until_status(engine, second.id, "failed")
        assert (await engine.retry(second.id)).status == "pending"
        assert await violations(engine.instance.store) == []
        await engine.cancel(first.id)
        clock.skip(engine, 3 * HOUR)
        await until_status(engine, second.id, "waiting")
        assert await violations(engine.instance.store) == []
