"""An execution that gets on by itself for long does so in steps: it does not hold up what else there is to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from layover.runtime.maintenance.verify import violations
from tests.runtime.harness import (
    Between,
    Held,
    Scripted,
    call,
    delay,
    end,
    engine_at,
    engine_on,
    flow,
    until,
    until_seq,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from layover.ports.records import Append, Outcome

ROUNDS = 400
STEP = 20
_A_ROUND = 10  # events, at most: what has begun is decided to its end

_BODY = [delay("none", "0s", next="one"), {"id": "one", "type": "compute", "output": "${index}"}]
LOOP: list[dict[str, object]] = [{"id": "rounds", "type": "loop", "times": ROUNDS, "body": _BODY}]


class Counting(Between):
    """A store that notes how many events come at once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.sizes: list[int] = []

    async def appends_commit(self, appends: Sequence[Append]) -> list[Outcome]:
        self.sizes += [one.count for one in appends]
        return await self.store.appends.commit(appends)


def spinning(durability: str = "step", **fields: object) -> dict[str, object]:
    """Return a workflow whose loop waits for nothing."""
    settings = {"durability": durability}
    return flow(*LOOP, end("${nodes.rounds}"), name="spinning", settings=settings, **fields)


@pytest.mark.parametrize("durability", ["step", "leg"])
async def test_a_loop_of_nodes_that_wait_for_nothing_is_decided_in_steps(
    tmp_path: Path, durability: Literal["step", "leg"]
) -> None:
    store = Counting(tmp_path)
    async with engine_on(store, step_events=STEP, snapshot_every=STEP) as engine:
        await engine.workflows.register(spinning(durability))
        done = await engine.executions.start("spinning", wait="end")
        assert (done.status, done.output) == ("completed", list(range(ROUNDS)))
        assert max(store.sizes) <= 2 * (STEP + _A_ROUND)
        assert await violations(engine.instance.store) == []


async def test_others_have_their_turn_meanwhile(tmp_path: Path) -> None:
    async with engine_at(tmp_path, step_events=STEP) as engine:
        await engine.workflows.register(spinning())
        await engine.workflows.register(flow(end("short"), name="short"))
        long = await engine.executions.start("spinning")
        await engine.executions.start("short", wait="end")
        assert (await engine.queries.get(long.id)).status == "running"
        assert (await engine.control.cancel(long.id)).status == "cancelled"


async def test_it_goes_on_where_its_engine_was_stopped(tmp_path: Path) -> None:
    async with engine_at(tmp_path, step_events=STEP) as engine:
        await engine.workflows.register(spinning())
        long = await engine.executions.start("spinning")
        await until_seq(engine, long.id, 3 * STEP)
    async with engine_at(tmp_path, step_events=STEP) as engine:
        assert len(await engine.queries.history(long.id)) > 0
        assert await engine.executions.result(long.id) == list(range(ROUNDS))
        assert await violations(engine.instance.store) == []


async def test_what_lacks_a_function_does_all_else_first(tmp_path: Path) -> None:
    nodes = [call("lacking", "other"), *LOOP]
    async with engine_at(tmp_path, Scripted(1), step_events=STEP) as engine:
        await engine.workflows.register({"name": "w", "start": ["lacking", "rounds"], "nodes": nodes})
        started = await engine.executions.start("w")
        await until(engine, started.id, lambda head: bool(head.missing))
        told = {one.context_id: one.status for one in await engine.queries.nodes(started.id)}
        assert told["rounds"] == "completed"


async def test_the_result_of_a_call_that_is_out_meanwhile_counts(tmp_path: Path) -> None:
    work = Held()
    nodes = [call("held"), *LOOP]
    async with engine_at(tmp_path, work, step_events=STEP) as engine:
        await engine.workflows.register({"name": "w", "start": ["held", "rounds"], "nodes": nodes})
        started = await engine.executions.start("w")
        (await work.begun()).returns("heard")
        assert (await engine.executions.wait(started.id)).output == {"held": "heard", "rounds": list(range(ROUNDS))}
