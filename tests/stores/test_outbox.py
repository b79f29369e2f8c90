"""What executions want of each other is written with their logs and kept until it has arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreError
from layover.ports.records import ClosedExecution, Outbox, Rest, Token, Wait
from tests.stores.conformance import (
    claim,
    commit,
    create,
    creation,
    following,
    go_on,
    head,
    message,
    opened,
    signal,
    step,
    truth,
    uid,
)

if TYPE_CHECKING:
    from layover.ports.records import Append, Message
    from layover.ports.store import Store


async def sending(store: Store, *messages: Message) -> None:
    await create(store)
    await go_on(store, messages=messages)


async def code_of(store: Store, *appends: Append) -> str:
    before = await truth(store)
    with pytest.raises(StoreError) as refused:
        await store.appends.commit(appends)
    assert await truth(store) == before
    return refused.value.code


# Writing


async def test_messages_are_written_with_the_append(store: Store) -> None:
    first, second = message(1), replace(message(2, destination=uid(9)), kind="Stop", body=b'{"a":1}', due_at=7)
    await sending(store, second, first)
    assert await store.outbox.list_undelivered(uid(1)) == [first, second]
    assert await store.outbox.read_due(500, 10) == Outbox(due=(second, first))


async def test_messages_are_written_with_the_creation(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    await commit(store, replace(creation(), messages=(message(),)))
    assert await store.outbox.list_undelivered(uid(1)) == [message()]


async def test_an_append_that_does_not_pass_sends_nothing(store: Store) -> None:
    await create(store)
    append = replace(step(), epoch=7, messages=(message(),), tokens=(Token(hash=b"h", point="p"),))
    assert (await commit(store, append)).verdict == "fenced"
    assert await store.outbox.read_due(10**6, 10) == Outbox()
    assert await store.queries.find_token(b"h") is None


async def test_an_append_that_is_decided_again_sends_what_was_decided(store: Store) -> None:
    was = await create(store)
    append = following(was, commands_seen=-1, messages=(message(1),))
    outcome = await store.appends.commit_informed(append, lambda _: following(was, messages=(message(2),)))
    assert outcome.verdict == "passed"
    assert await store.outbox.list_undelivered(uid(1)) == [message(2)]


async def test_number_and_destination_together_tell_messages_apart(store: Store) -> None:
    messages = [message(1, destination="a"), message(1, destination="b"), message(2, destination="a")]
    await sending(store, *messages)
    assert await store.outbox.list_undelivered(uid(1)) == messages


async def test_a_message_that_is_there_is_an_error(store: Store) -> None:
    await sending(store, message())
    was = await head(store)
    assert await code_of(store, following(was, messages=(replace(message(), kind="Stop"),))) == "message_exists"


async def test_a_message_twice_in_an_append_is_an_error_and_nothing_of_the_commit_is_written(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    assert await code_of(store, step(2), replace(step(), messages=(message(), message()))) == "message_exists"


async def test_a_message_can_be_written_again_after_it_has_arrived(store: Store) -> None:
    await sending(store, message())
    await store.outbox.delete_delivered([message()])
    await go_on(store, messages=(message(),))
    assert await store.outbox.list_undelivered(uid(1)) == [message()]


async def test_an_execution_sends_in_its_own_name_only(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    assert await code_of(store, replace(step(1), messages=(message(sender=2),))) == "foreign_message"


# Reading


async def test_due_messages_come_by_their_time_with_the_next_due_time(store: Store) -> None:
    at = {1: 300, 2: 100, 3: 701, 4: 800, 5: 700}
    await sending(store, *(message(n, destination=f"d{n}", due_at=due_at) for n, due_at in at.items()))
    found = await store.outbox.read_due(700, 10)
    assert [one.n for one in found.due] == [2, 1, 5]
    assert found.next_due == 701
    assert await store.outbox.read_due(50, 10) == Outbox(next_due=100)


async def test_what_is_due_together_comes_by_sender_then_number_then_destination(store: Store) -> None:
    for n in (2, 1):
        await create(store, n)
        names = [(2, "a"), (1, "b"), (1, "a")]
        await go_on(store, n, messages=tuple(message(m, sender=n, destination=to) for m, to in names))
    found = (await store.outbox.read_due(500, 10)).due
    expected = [(uid(n), m, to) for n in (1, 2) for m, to in [(1, "a"), (1, "b"), (2, "a")]]
    assert [(one.sender, one.n, one.destination) for one in found] == expected


@pytest.mark.parametrize(("most", "count"), [(-1, 0), (0, 0), (2, 2), (9, 5)])
async def test_no_more_messages_are_read_than_were_asked_for(store: Store, most: int, count: int) -> None:
    await sending(store, *(message(n, destination=f"d{n}", due_at=n) for n in range(1, 6)))
    found = await store.outbox.read_due(50, most)
    assert [one.n for one in found.due] == list(range(1, count + 1))
    assert found.next_due is None


async def test_messages_left_over_are_not_the_next_due_time(store: Store) -> None:
    await sending(store, message(1, due_at=10), message(2, due_at=20), message(3, due_at=90))
    assert (await store.outbox.read_due(50, 1)).next_due == 90


async def test_a_message_waits_for_those_before_it_to_the_same_destination(store: Store) -> None:
    early, late, other = message(2, due_at=10), message(1, due_at=90), message(3, destination="elsewhere", due_at=20)
    await sending(store, early, late, other)
    assert await store.outbox.read_due(50, 10) == Outbox(due=(other,), next_due=90)
    assert (await store.outbox.read_due(90, 10)).due == (other, late, early)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
async def test_a_message_that_was_held_up_follows_at_once(store: Store, most: int) -> None:
    at = [(1, "a", 30), (2, "a", 10), (4, "a", 20), (3, "b", 30), (5, "b", 31)]
    await sending(store, *(message(n, destination=to, due_at=due_at) for n, to, due_at in at))
    assert [one.n for one in (await store.outbox.read_due(50, most)).due] == [1, 2, 3, 4, 5][:most]


@pytest.mark.parametrize("most", [1, 2, 3, 7, 50])
async def test_many_blocked_messages_do_not_hide_others(store: Store, most: int) -> None:
    late = [message(1, destination=to, due_at=900) for to in "abc"]
    crowd = [message(n, destination="abc"[n % 3], due_at=1 + n) for n in range(2, 40)]
    due = [message(n, destination=f"d{n}", due_at=100 + n) for n in range(41, 46)]
    await sending(store, *late, *crowd, *due)
    assert await store.outbox.read_due(500, most) == Outbox(due=tuple(due[:most]), next_due=900)
    found = (await store.outbox.read_due(900, most)).due
    assert found == (*due, *sorted((*late, *crowd), key=lambda one: (one.n, one.destination)))[:most]


async def test_messages_of_other_senders_block_no_message(store: Store) -> None:
    await sending(store, message(1, due_at=90))
    await create(store, 2)
    await go_on(store, 2, messages=(message(2, sender=2, due_at=10),))
    assert [one.sender for one in (await store.outbox.read_due(50, 10)).due] == [uid(2)]


async def test_the_messages_of_one_execution_are_read_in_the_order_of_their_numbers(store: Store) -> None:
    await sending(store, message(10, destination="a"), message(9, destination="b"), message(9, destination="a"))
    await create(store, 2)
    await go_on(store, 2, messages=(message(1, sender=2),))
    found = await store.outbox.list_undelivered(uid(1))
    assert [(one.n, one.destination) for one in found] == [(9, "a"), (9, "b"), (10, "a")]
    assert await store.outbox.list_undelivered(uid(7)) == []


async def test_the_outbox_tells_since_when_a_signal_waits_to_be_dispatched(store: Store) -> None:
    assert (await store.outbox.read_due(500, 10)).undispatched_since is None
    for id_, at in (("a", 80), ("b", 60), ("c", 70)):
        await store.signals.add(signal(id_, at=at))
    assert await store.outbox.read_due(50, 10) == Outbox(undispatched_since=60)
    await store.signals.mark_dispatched(["b"])
    assert (await store.outbox.read_due(500, 0)).undispatched_since == 70
    await store.signals.mark_dispatched(["a", "c"])
    assert await store.outbox.read_due(500, 10) == Outbox()


# Delivering


async def test_what_has_arrived_is_forgotten(store: Store) -> None:
    await sending(store, message(1), message(2), message(3))
    await store.outbox.delete_delivered([message(1), message(3)])
    assert await store.outbox.list_undelivered(uid(1)) == [message(2)]
    assert await store.outbox.read_due(500, 10) == Outbox(due=(message(2),))


async def test_what_is_not_there_cannot_arrive(store: Store) -> None:
    await sending(store, message(1))
    before = await truth(store)
    await store.outbox.delete_delivered([message(2), message(1, destination="elsewhere"), message(1, sender=7)])
    await store.outbox.delete_delivered([])
    assert await truth(store) == before


async def test_a_message_is_postponed_and_stays_as_it_is(store: Store) -> None:
    await sending(store, message(1), message(2, destination="elsewhere"))
    await store.outbox.postpone(replace(message(1), kind="another", body=b"", due_at=1), 900)
    assert await store.outbox.list_undelivered(uid(1)) == [message(1, due_at=900), message(2, destination="elsewhere")]
    assert await store.outbox.read_due(500, 10) == Outbox(due=(message(2, destination="elsewhere"),), next_due=900)


async def test_a_message_that_is_postponed_holds_up_those_after_it(store: Store) -> None:
    await sending(store, message(1), message(2))
    await store.outbox.postpone(message(1), 900)
    assert await store.outbox.read_due(899, 10) == Outbox(next_due=900)
    await store.outbox.delete_delivered([message(1)])
    assert await store.outbox.read_due(899, 10) == Outbox(due=(message(2),))


async def test_what_is_not_there_cannot_be_postponed(store: Store) -> None:
    await sending(store, message(1))
    before = await truth(store)
    await store.outbox.postpone(message(2), 900)
    assert await truth(store) == before


async def test_messages_outlive_their_execution(store: Store) -> None:
    await create(store)
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest(), messages=(message(),))
    assert (await store.outbox.read_due(500, 10)).due == (message(),)


# Tokens


async def test_a_token_leads_to_its_point(store: Store) -> None:
    await create(store)
    await go_on(store, points=(opened("p"),), tokens=(Token(hash=b"one", point="p"), Token(hash=b"two", point="q")))
    assert await store.queries.find_token(b"one") == Wait(execution_id=uid(1), point="p")
    assert await store.queries.find_token(b"two") == Wait(execution_id=uid(1), point="q")
    assert await store.queries.find_token(b"three") is None


async def test_a_token_is_given_out_once(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    token = Token(hash=b"one", point="p")
    assert await code_of(store, replace(step(1), tokens=(token, token))) == "token_exists"
    assert await code_of(store, *(replace(step(n), tokens=(token,)) for n in (1, 2))) == "token_exists"
    await go_on(store, tokens=(token,))
    assert await code_of(store, replace(step(2), tokens=(replace(token, point="q"),))) == "token_exists"
    assert await store.queries.find_token(b"one") == Wait(execution_id=uid(1), point="p")


async def test_messages_are_none_of_a_claim(store: Store) -> None:
    """What is in an outbox is delivered by whoever finds it; the execution itself is not woken for it."""
    await create(store)
    await go_on(store, messages=(message(due_at=1),), rest=Rest())
    assert (await claim(store, 10**6)).claimed == ()
