"""A closed execution that is taken up again: one that comes to its end at once, and one that had never begun."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - pytest reads the annotations of fixtures

import pytest

from layover.core.engine import events as ev
from layover.core.moments import Moment
from layover.ports.errors import StoreUnavailable
from layover.ports.records import Claim, Claims  # noqa: TC001 - as the store has it
from layover.runtime.maintenance.verify import violations
from layover.runtime.operations.start_options import Options
from layover.runtime.queries.legs import leg_id, legs
from tests.runtime.harness import (
    HOUR,
    Between,
    HandWound,
    Held,
    Refused,
    Scripted,
    call,
    end,
    engine_at,
    engine_on,
    flow,
    until_status,
)
from tests.runtime.harness import delay as delay_node

COMPUTED = flow({"id": "a", "type": "compute", "output": "${input}"}, end("${nodes.a}"))


async def test_what_ends_in_the_step_that_reopened_it_ended_then(tmp_path: Path) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path)) as engine:
        await engine.workflows.register(COMPUTED)
        done = await engine.executions.start("flow", 1, wait="end")
        clock.skip(engine, HOUR)
        again = await engine.control.rewind(done.id, "a")
        assert done.finished_at is not None
        assert again.finished_at is not None
        assert again.finished_at > done.finished_at
        assert await violations(engine.instance.store) == []


@pytest.mark.parametrize("delay", [None, 3 * HOUR])
async def test_what_failed_in_line_gets_in_line_again(tmp_path: Path, delay: int | None) -> None:
    clock = HandWound()
    async with engine_on(clock.store(tmp_path), outbox_poll=10) as engine:
        await engine.workflows.register(
            flow(delay_node(duration="1d"), settings={"concurrency": {"limit": 1}, "max_pause": "1h"})
        )
        first = await engine.executions.start("flow", wait="rest")
        second = await engine.executions.start("flow", options=Options(delay=delay))
        await engine.control.pause(second.id)
        clock.skip(engine, 2 * HOUR)
        await until_status(engine, second.id, "failed")
        assert (await engine.control.retry(second.id)).status == "pending"
        assert await violations(engine.instance.store) == []
        await engine.control.cancel(first.id)
        clock.skip(engine, 3 * HOUR)
        await until_status(engine, second.id, "waiting")
        assert await violations(engine.instance.store) == []


class Away(Between):
    """A store that cannot look for commands once, after it has given out an execution."""

    is_claimed = has_failed = False

    async def claims_claim(self, claim: Claim) -> Claims:
        claims = await self.store.claims.claim(claim)
        self.is_claimed = self.is_claimed or claim.execution_id is not None
        return claims

    async def commands_is_enqueued(self, execution_id: str, source: str) -> bool:
        if self.is_claimed and not self.has_failed:
            self.has_failed = True
            raise StoreUnavailable("The database is away.")
        return await self.store.commands.is_enqueued(execution_id, source)


async def test_a_failed_reopening_can_be_repeated_at_once(tmp_path: Path) -> None:
    async with engine_on(Away(tmp_path), Scripted(Refused("no"), "well")) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        failed = await engine.executions.start("flow", wait="end")
        with pytest.raises(StoreUnavailable):
            await engine.control.retry(failed.id, key="k")
        await engine.control.retry(failed.id, key="k")

        assert (await engine.executions.wait(failed.id)).output == "well"
        assert await violations(engine.instance.store) == []


# Legs


async def test_a_retry_begins_a_leg_and_the_one_before_ends_with_the_failure(tmp_path: Path) -> None:
    work = Scripted(Refused("no"), "done")
    async with engine_at(tmp_path, work) as engine:
        await engine.workflows.register(flow(call("a"), end("${nodes.a}")))
        failed = await engine.executions.start("flow", wait="end")
        await engine.control.retry(failed.id)
        done = await engine.executions.wait(failed.id)
        first, second = await engine.queries.legs(failed.id)
        assert (first.cause, second.cause) == ("created", "retry")
        assert (first.to_seq, second.from_seq, second.to_seq) == (failed.last_seq, failed.last_seq + 1, done.last_seq)
        events = [one.event for one in await engine.queries.history(failed.id)]
        assert isinstance(events[second.from_seq], ev.ExecutionReopened)
        assert {first.instance, second.instance} == {engine.instance.id}
        assert await violations(engine.instance.store) == []


async def test_a_rewind_that_ends_at_once_has_a_leg_of_its_own(tmp_path: Path) -> None:
    async with engine_at(tmp_path) as engine:
        await engine.workflows.register(COMPUTED)
        done = await engine.executions.start("flow", 1, wait="end")
        again = await engine.control.rewind(done.id, "a")
        first, second = await engine.queries.legs(done.id)
        assert (second.cause, second.parent, second.id) == ("rewind", first.id, leg_id(done.id, 2))
        assert (first.to_seq, second.from_seq, second.to_seq) == (done.last_seq, done.last_seq + 1, again.last_seq)
        assert await violations(engine.instance.store) == []


def test_in_logs_of_earlier_releases_the_leg_begins_with_the_reopening_too() -> None:
    log: list[ev.AnyEvent] = [
        ev.LegStarted(cause="created", instance="i"),
        ev.ExecutionFailed(error=ev.Error(code="failed", message="no")),
        ev.ExecutionReopened(why="retry", nodes=("a",)),
        ev.NodeScheduled(node="a", node_type="work", attempt=2),
        ev.LegStarted(cause="woken", instance="i"),
    ]
    first, second = legs("x", [(seq, 10 * seq, event) for seq, event in enumerate(log)])
    assert (first.from_seq, first.to_seq) == (0, 1)
    assert (second.cause, second.from_seq, second.to_seq, second.started_at) == ("retry", 2, 4, Moment.of(20))


async def test_a_call_that_was_out_when_its_execution_failed_is_made_again_once(tmp_path: Path) -> None:
    work, bad = Held(), Held("bad")
    async with engine_at(tmp_path, work, bad) as engine:
        await engine.workflows.register(
            flow(
                {"id": "s", "type": "compute", "output": 1, "next": ["a", "b"]}, call("a", next=None), call("b", "bad")
            )
        )
        started = await engine.executions.start("flow")
        await work.begun()
        (await bad.begun()).raises(Refused("no"))
        assert (await engine.executions.wait(started.id)).status == "failed"
        await engine.control.retry(started.id)
        (await work.begun()).returns()
        (await bad.begun()).returns()
        assert (await engine.executions.wait(started.id)).status == "completed"
        attempts = {
            one.context_id: [try_.attempt for try_ in one.attempts] for one in await engine.queries.nodes(started.id)
        }
        assert (attempts["a"], attempts["b"]) == ([1, 2], [1, 2])
