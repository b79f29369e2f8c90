"""A process stands still for longer than its lease, another takes over, and then the first goes on as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine import events as ev
from layover.ports.commit_points import CommitPoint
from layover.ports.records import Claim

from .workload import OUTPUTS
from .world import POSTGRES, everywhere

if TYPE_CHECKING:
    from .world import World

# Not among them: one that is about to call has begun.
POINTS = [
    (CommitPoint.APPEND_DECIDED, 2),
    (CommitPoint.APPEND_COMMITTED, 1),
    (CommitPoint.APPEND_COMMITTED, 2),
    (CommitPoint.APPEND_TOLD, 1),
    (CommitPoint.APPEND_TOLD, 2),
    (CommitPoint.CALL_RETURNED, 1),
    (CommitPoint.CALL_RETURNED, 2),
]
CASES = everywhere(POINTS, [(CommitPoint.APPEND_DECIDED, 2), (CommitPoint.CALL_RETURNED, 1)])
# On SQLite nobody could go on: who stands still there holds the lock that everybody writes under.
CASES += [pytest.param(POSTGRES, CommitPoint.ROWS_WRITTEN, n, id=f"{POSTGRES}-rows_written-{n}") for n in (3, 4)]


@pytest.mark.parametrize(("world", "point", "n"), CASES, indirect=["world"])
async def test_an_instance_that_stood_still_too_long_writes_nothing(world: World, point: CommitPoint, n: int) -> None:
    stopped = world.run(stop_at=(point, n), only=("chain",), settings={"lease_ttl": 300})
    stopped.is_stopped()
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish(only=("chain",))
    (head,), done = await world.heads(), world.effects.read()

    stopped.goes_on()
    assert stopped.is_done() == [OUTPUTS["chain"]]
    assert await world.heads() == [head], "a late result changed something"
    assert world.effects.read() == done, "a call began without a lease"
    await world.is_sound()
    await world.did_nothing_twice(before, effects)


@pytest.mark.parametrize("n", [1, 2, 4])
async def test_threads_that_stood_still_for_too_long_make_no_call(world: World, n: int) -> None:
    """There are more calls than threads, and the one thread is about to begin a call when the process stands still.

    A second thread could be inside a function just then, with its effect still to come: that call began in time.
    """
    settings = {"lease_ttl": 600, "threads": 1}
    stopped = world.run(stop_at=(CommitPoint.CALL_IN_THREAD, n), only=("threads",), settings=settings)
    stopped.is_stopped()
    await world.is_sound()
    before, effects = await world.completed(), len(world.effects.read())
    await world.finish(only=("threads",))
    (head,), done = await world.heads(), world.effects.read()

    stopped.goes_on()
    assert stopped.is_done() == [OUTPUTS["threads"]]
    assert await world.heads() == [head], "a late result changed something"
    assert world.effects.read() == done, "a call began without a lease"
    await world.is_sound()
    await world.did_nothing_twice(before, effects)


async def test_the_result_of_a_call_that_was_out_meanwhile_is_ignored(world: World) -> None:
    stopped = world.run(only=("patient",), settings={"lease_ttl": 600}, stop_at=(CommitPoint.LEASES_RENEWED, 1))
    stopped.is_stopped()
    await world.finish(only=("patient",))
    (head,) = await world.heads()
    stopped.goes_on()
    assert stopped.is_done() == [OUTPUTS["patient"]]
    assert await world.heads() == [head]
    await world.is_sound()
    assert [attempt for _, node, attempt in world.effects.read() if node == "a"] == [1, 2]


async def test_an_instance_without_its_lease_writes_nothing_even_if_no_other_has_written(world: World) -> None:
    stopped = world.run(stop_at=(CommitPoint.APPEND_DECIDED, 2), only=("chain",), settings={"lease_ttl": 600})
    stopped.is_stopped()
    await world.leases_run_out()
    store = world.store()
    await store.open("other")
    now = await store.now()
    claims = await store.claims.claim(Claim(instance="other", now=now, lease_until=now))
    await store.close()
    assert len(claims.claimed) == 1

    stopped.goes_on()
    assert stopped.is_done() == [OUTPUTS["chain"]]
    await world.is_sound()
    events = [event for _, event in await world.events()]
    first = next(n for n, event in enumerate(events) if isinstance(event, ev.NodeStarted))
    assert isinstance(events[first + 1], ev.LegStarted), "it went on without a lease"
    assert [(node, attempt) for _, node, attempt in world.effects.read()][:2] == [("a", 1), ("a", 2)]


STOPPED_AT = [("patient", CommitPoint.LEASES_RENEWED, 1), ("parallel", CommitPoint.CALL_RETURNED, 1)]


@pytest.mark.parametrize(("only", "point", "n"), STOPPED_AT)
async def test_an_instance_that_stood_still_too_long_goes_on_if_no_other_took_over(
    world: World, only: str, point: CommitPoint, n: int
) -> None:
    stopped = world.run(stop_at=(point, n), only=(only,), settings={"lease_ttl": 600})
    stopped.is_stopped()
    await world.leases_run_out()
    stopped.goes_on()
    assert stopped.is_done() == [OUTPUTS[only]]
    legs = [event.cause for _, event in await world.events() if isinstance(event, ev.LegStarted)]
    assert "recovered" not in legs, "it took over from itself"
    called = [(node, attempt) for _, node, attempt in world.effects.read()]
    assert len(set(called)) == len(called)
    assert {attempt for _, attempt in called} == {1}, "a call was made again although nobody took over"
    await world.is_sound()
