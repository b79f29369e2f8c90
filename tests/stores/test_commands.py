"""Whoever is outside writes a command; the execution reads it when it is driven."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover.core.engine.answers import Refused
from layover.ports.records import ClosedExecution, Enqueue, Enqueued, QueuedCommand, Rest
from tests.stores.conformance import ME, OTHER, claim, create, enqueue, go_on, head, truth, uid

if TYPE_CHECKING:
    from layover.ports.store import Store


async def test_a_command_takes_the_next_place_and_is_read_as_it_was_given(store: Store) -> None:
    await create(store)
    command = Enqueue(execution_id=uid(1), kind="Pause", body=b'{"reason":"x"}', source="api", source_n=4)
    assert await store.commands.enqueue([command], 700) == [Enqueued(n=1, owner=ME)]
    assert await store.commands.list_after(uid(1), 0) == [
        QueuedCommand(n=1, at=700, kind="Pause", body=b'{"reason":"x"}', source="api", source_n=4)
    ]
    assert (await head(store)).commands_seq == 1


async def test_commands_are_read_from_after_a_place_on(store: Store) -> None:
    await create(store)
    for source in "abc":
        await enqueue(store, source=source)
    assert [command.n for command in await store.commands.list_after(uid(1), 1)] == [2, 3]
    assert await store.commands.list_after(uid(1), 3) == []
    assert await store.commands.list_after(uid(7), 0) == []


async def test_a_command_is_found_by_its_source(store: Store) -> None:
    await create(store)
    await create(store, 2)
    await enqueue(store, source="api:1")
    assert await store.commands.is_enqueued(uid(1), "api:1")
    assert not await store.commands.is_enqueued(uid(1), "api:2")
    assert not await store.commands.is_enqueued(uid(2), "api:1")
    assert not await store.commands.is_enqueued(uid(7), "api:1")


async def test_heads_are_read_in_the_order_in_which_they_are_asked_for(store: Store) -> None:
    for n in (1, 2):
        await create(store, n)
    found = await store.queries.read_heads([uid(2), uid(7), uid(1), uid(2)])
    assert [head and head.execution_id for head in found] == [uid(2), None, uid(1), uid(2)]
    row = await store.queries.find_execution(uid(1))
    assert row is not None
    assert found[2] == row.head
    assert await store.queries.read_heads([]) == []


async def test_executions_with_commands_that_were_not_seen_are_found(store: Store) -> None:
    for n in (1, 2, 3):
        await create(store, n)
        await enqueue(store, n)
    await enqueue(store, 3, source="second")
    assert await store.commands.find_unread([(uid(3), 1), (uid(2), 1), (uid(7), 0), (uid(1), 0)]) == [uid(3), uid(1)]
    assert await store.commands.find_unread([]) == []


async def test_a_command_wakes_an_execution_without_an_owner(store: Store) -> None:
    await create(store, rest=Rest(wake_at=None))
    assert await enqueue(store, now=700) == Enqueued(n=1)
    assert (await head(store)).wake_at == 700


async def test_a_command_wakes_even_what_was_due_earlier(store: Store) -> None:
    """One rule, without a comparison: what has unread commands is due since the last of them."""
    await create(store, rest=Rest(wake_at=300))
    await enqueue(store, now=700)
    assert (await head(store)).wake_at == 700


async def test_a_command_leaves_the_lease_of_what_is_driven(store: Store) -> None:
    await create(store)
    assert await enqueue(store, now=700) == Enqueued(n=1, owner=ME)
    assert (await head(store)).wake_at == 5_000


async def test_a_repeated_delivery_is_taken_once_and_keeps_its_place(store: Store) -> None:
    await create(store)
    await enqueue(store, source="a")
    await enqueue(store, source="b")
    before = await truth(store)
    assert await enqueue(store, source="a", now=999) == Enqueued(n=1, owner=ME, repeated=True)
    assert await truth(store) == before


async def test_source_and_number_together_tell_deliveries_apart(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    places = [
        await enqueue(store, 1, source="a", source_n=0),
        await enqueue(store, 1, source="a", source_n=1),
        await enqueue(store, 2, source="a", source_n=0),
    ]
    assert places == [Enqueued(n=1, owner=ME), Enqueued(n=2, owner=ME), Enqueued(n=1, owner=ME)]


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_a_closed_execution_takes_no_commands(store: Store, status: str) -> None:
    await create(store)
    await go_on(store, status=status, closed=ClosedExecution(), rest=Rest())
    before = await truth(store)
    assert await enqueue(store) == Refused("execution_closed", f"The execution is {status}.")
    assert await truth(store) == before


async def test_a_repeated_delivery_to_a_closed_execution_is_still_a_repetition(store: Store) -> None:
    await create(store)
    await enqueue(store)
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await enqueue(store) == Enqueued(n=1, repeated=True)


async def test_a_reopened_execution_takes_commands_again(store: Store) -> None:
    await create(store)
    await go_on(store, status="failed", closed=ClosedExecution(), rest=Rest())
    await claim(store, 800, n=1)
    await go_on(store, status="running", closed=ClosedExecution())
    assert await enqueue(store) == Enqueued(n=1, owner=ME)


async def test_an_unknown_execution_takes_no_commands(store: Store) -> None:
    assert await enqueue(store, 7) == Refused("unknown_execution", f"There is no execution {uid(7)}.")


async def test_many_commands_are_answered_in_order_and_one_refusal_leaves_the_others(store: Store) -> None:
    await create(store, 1)
    await create(store, 2, rest=Rest())
    wanted = [(1, "a"), (7, "a"), (2, "a"), (1, "b"), (1, "a")]
    commands = [Enqueue(execution_id=uid(n), kind="Pause", body=b"{}", source=source) for n, source in wanted]
    answers = await store.commands.enqueue(commands, 700)
    assert [answer.n if isinstance(answer, Enqueued) else answer.code for answer in answers] == [
        1,
        "unknown_execution",
        1,
        2,
        1,
    ]
    assert [(await head(store, n)).commands_seq for n in (1, 2)] == [2, 1]


async def test_a_claim_returns_the_commands_that_are_not_applied_yet(store: Store) -> None:
    await create(store)
    await enqueue(store, source="a")
    await go_on(store)
    for source in "bc":
        await enqueue(store, source=source)
    (claimed,) = (await claim(store, 6_000, instance=OTHER)).claimed
    assert [command.source for command in claimed.commands] == ["b", "c"]
    assert (claimed.head.commands_seq, claimed.head.commands_done) == (3, 1)
