"""The figures that a store gives for metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.read_times import ReadTimes
from layover.ports.records import ClosedExecution, NewExecution, Rest
from layover.ports.trigger_records import InputRow, NewEvent, NewTrigger, Reception, TriggerMove
from tests.stores.conformance import commit, create, creation, enqueue, go_on, message, uid

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionStatus
    from layover.ports.store import Store

NOW, YESTERDAY = 100_000, 50_000


async def resting(
    store: Store, n: int, status: ExecutionStatus, at: int = 100, *, workflow: str = "order", wake_at: int | None = None
) -> None:
    new = NewExecution(workflow=workflow, hash=f"h-{workflow}", created_at=100)
    await store.definitions.save(workflow, new.hash, b"{}", 50)
    closed = ClosedExecution(outcome="executed") if status == "completed" else None
    append = replace(creation(n, new=new, rest=Rest(wake_at=wake_at)), at=at, status=status, closed=closed)
    assert (await commit(store, append)).verdict == "passed"


async def test_what_has_not_ended_is_counted_by_status(store: Store) -> None:
    for n, status in enumerate(("paused", "paused", "waiting", "completed"), 1):
        await resting(store, n, status)  # type: ignore[arg-type]  # they are statuses
    await create(store, 9)

    found = await store.queries.read_gauges(NOW, YESTERDAY, 10)

    assert found.executions == {"pending": 0, "running": 1, "pausing": 0, "waiting": 1, "paused": 2}


async def test_pauses_are_counted_by_workflow_and_by_length(store: Store) -> None:
    await resting(store, 1, "paused", 40_000, workflow="b")
    await resting(store, 2, "paused", 49_000, workflow="b")
    await resting(store, 3, "paused", 60_000, workflow="a")
    await resting(store, 4, "waiting", 10, workflow="d")

    found = await store.queries.read_gauges(NOW, YESTERDAY, 10)

    assert found.paused == {"a": 1, "b": 2}
    assert (found.paused_long, found.oldest_paused) == (2, 40_000)


async def test_as_many_workflows_are_counted_as_are_asked_for(store: Store) -> None:
    for n in range(1, 6):
        await resting(store, n, "paused", workflow=f"w{n}")

    assert (await store.queries.read_gauges(NOW, YESTERDAY, 3)).paused == {"w1": 1, "w2": 1, "w3": 1}


async def test_what_is_due_is_counted_with_its_commands(store: Store) -> None:
    await resting(store, 1, "waiting", wake_at=70_000)
    await resting(store, 2, "waiting", wake_at=90_000)
    await resting(store, 3, "waiting", wake_at=NOW + 1)
    await resting(store, 4, "paused")
    await enqueue(store, 4, now=80_000)

    found = await store.queries.read_gauges(NOW, YESTERDAY, 10)

    assert (found.due, found.oldest_due, found.commands) == (3, 70_000, 1)


async def test_undelivered_messages_are_counted(store: Store) -> None:
    await create(store)
    await go_on(store, messages=(replace(message(1), due_at=700), replace(message(2, destination=uid(9)), due_at=900)))

    found = await store.queries.read_gauges(NOW, YESTERDAY, 10)

    assert (found.messages, found.oldest_message) == (2, 700)


async def test_an_empty_database_has_nothing_to_count(store: Store) -> None:
    found = await store.queries.read_gauges(NOW, YESTERDAY, 10)

    assert sum(found.executions.values()) == found.due == found.messages == found.commands == found.paused_long == 0
    assert (found.oldest_paused, found.oldest_due, found.oldest_message, found.paused) == (None, None, None, {})


async def test_the_duration_of_each_read_is_reported(store: Store) -> None:
    if not isinstance(store, ReadTimes):
        pytest.skip("a store in memory has nothing to wait for")
    told: list[tuple[str, float]] = []
    store.time_reads(lambda name, seconds: told.append((name, seconds)))

    await store.queries.find_execution(uid(1))
    await store.queries.read_heads([uid(1)])

    assert [name for name, _ in told] == ["find_execution", "read_heads"]
    assert all(seconds >= 0 for _, seconds in told)


async def test_triggers_are_counted_by_state_and_as_many_as_are_asked_for_by_pending_inputs(store: Store) -> None:
    new = [
        NewTrigger(id=uid(900 + n), name=f"t{n}", type="signal", config=b"{}", state="active" if n else "stopped")
        for n in range(4)
    ]
    await store.definitions.save("order", "h1", b"{}", 50, None, new)
    for n in range(1, 4):
        for number in range(n):
            one = InputRow(trigger_id=uid(900 + n), input_id=f"i{number}", received_at=60, due_at=60, forget_at=99)
            event = NewEvent(kind="TriggerInputReceived", body=b"{}", input=one)
            await store.triggers.receive(Reception(input=one, event=event, most_pending=10))
    paused = TriggerMove(trigger_id=uid(903), expected_seq=4, at=70, state="paused", held=True)
    assert await store.triggers.move(paused)

    found = await store.queries.read_gauges(NOW, YESTERDAY, 2)

    assert found.triggers == {"initialized": 0, "active": 2, "paused": 1, "stopped": 1, "error": 0}
    assert found.pending_inputs == {"order/t1": 1, "order/t2": 2}
    assert (await store.queries.read_gauges(NOW, YESTERDAY, 9)).pending_inputs["order/t3"] == 3
