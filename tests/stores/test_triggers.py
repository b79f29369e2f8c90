"""Triggers are rows, their inputs are keyed, and an execution is created only with its input."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.access import AuditFilter
from layover.ports.records import InputKey, Message
from layover.ports.trigger_records import (
    REMOVED,
    InputChange,
    InputFilter,
    InputRow,
    NewEvent,
    NewTrigger,
    PollLease,
    Reception,
    RenewedPoll,
    TriggerMove,
    TriggerRow,
)
from tests.stores.conformance import creation, entry, head, uid

if TYPE_CHECKING:
    from layover.ports.store import Store
    from layover.ports.trigger_records import InputState
    from tests.stores.conformance import Database

T = uid(900)
NEW = NewTrigger(id=T, name="nightly", type="schedule", config=b'{"a":1}', timing="t1", next_at=1_000, cursor=b"c0")


async def saved(store: Store, *triggers: NewTrigger, hash_: str = "h1", now: int = 50) -> None:
    await store.definitions.save("order", hash_, b"{}", now, None, triggers)


async def found(store: Store, trigger_id: str = T) -> TriggerRow:
    row = await store.triggers.find(trigger_id)
    assert row is not None
    return row


def occurrence(input_id: str = "i1", **more: object) -> InputRow:
    return InputRow(
        **{  # type: ignore[arg-type]  # each by its name
            "trigger_id": T,
            "input_id": input_id,
            "at": 1_000,
            "received_at": 1_000,
            "due_at": 2_000,
            "forget_at": 9_000,
            **more,
        }
    )


def moving(seq: int, *inputs: InputRow, **more: object) -> TriggerMove:
    return TriggerMove(
        **{  # type: ignore[arg-type]  # each by its name
            "trigger_id": T,
            "expected_seq": seq,
            "at": 1_000,
            "state": "active",
            "next_at": 3_000,
            "cursor": b"c1",
            "events": tuple(NewEvent(kind="TriggerInputReceived", body=b'{"n":1}', input=one) for one in inputs),
            **more,
        }
    )


async def states(store: Store) -> dict[str, str]:
    inputs = await store.triggers.list_inputs(InputFilter(trigger_id=T))
    return {one.input_id: one.state for one in inputs}


async def pending(store: Store, *inputs: InputRow) -> None:
    await saved(store, NEW)
    assert await store.triggers.move(moving(1, *(inputs or (occurrence(),))))


# Registration


async def test_saving_a_version_registers_its_triggers(store: Store) -> None:
    await saved(store, NEW)
    expected = TriggerRow(
        id=T,
        workflow="order",
        name="nightly",
        type="schedule",
        config=b'{"a":1}',
        timing="t1",
        seq=1,
        next_at=1_000,
        cursor=b"c0",
    )
    assert await found(store) == expected
    assert await store.triggers.list_triggers() == [expected]
    assert await store.triggers.list_triggers("order") == [expected]
    assert await store.triggers.list_triggers("other") == []
    (event,) = await store.triggers.list_events(T)
    assert (event.seq, event.at, event.kind, event.body) == (1, 50, "TriggerRegistered", b'{"a":1}')


async def test_the_same_again_changes_nothing(store: Store) -> None:
    await saved(store, NEW)
    before = await found(store)
    await saved(store, replace(NEW, next_at=7_000, cursor=b"later"), now=60)
    assert await found(store) == before
    assert len(await store.triggers.list_events(T)) == 1


async def test_a_changed_configuration_keeps_the_cursor(store: Store) -> None:
    await saved(store, NEW)
    await saved(store, replace(NEW, config=b'{"a":2}', next_at=7_000, cursor=b"later"), hash_="h2")
    row = await found(store)
    assert (row.config, row.cursor, row.next_at, row.seq) == (b'{"a":2}', b"c0", 1_000, 2)


async def test_changed_times_count_from_now(store: Store) -> None:
    await saved(store, NEW)
    await saved(store, replace(NEW, config=b"{}", timing="t2", next_at=7_000, cursor=b"later"), hash_="h2")
    row = await found(store)
    assert (row.cursor, row.next_at) == (b"later", 7_000)


async def test_a_trigger_that_is_gone_is_stopped_and_comes_back_under_its_id(store: Store) -> None:
    await saved(store, NEW)
    await saved(store, hash_="h2")
    row = await found(store)
    assert (row.state, row.reason, row.next_at) == ("stopped", REMOVED, None)
    await saved(store, replace(NEW, next_at=7_000, cursor=b"later"), hash_="h3")
    row = await found(store)
    assert (row.state, row.reason, row.next_at, row.cursor) == ("active", "", 7_000, b"later")


async def test_a_pause_outlives_a_new_version(store: Store) -> None:
    await saved(store, NEW)
    assert await store.triggers.move(moving(1, state="paused", reason="holiday", next_at=None))
    await saved(store, replace(NEW, config=b'{"a":2}'), hash_="h2")
    row = await found(store)
    assert (row.state, row.reason, row.next_at) == ("paused", "holiday", None)


async def test_triggers_are_found_by_the_signal_that_fires_them(store: Store) -> None:
    await saved(store, NEW, replace(NEW, id=uid(901), name="created", topic="order.created", next_at=None))
    assert [row.name for row in await store.triggers.list_by_topic("order.created")] == ["created"]
    assert await store.triggers.list_by_topic("other") == []
    assert await store.triggers.list_by_topic("") == []
    await saved(store, NEW, hash_="h2")
    assert await store.triggers.list_by_topic("order.created") == []


async def test_a_list_goes_on_after_a_name(store: Store) -> None:
    await saved(store, *(replace(NEW, id=uid(n), name=f"t{n}") for n in (3, 1, 2)))
    assert [row.name for row in await store.triggers.list_triggers(limit=2)] == ["t1", "t2"]
    assert [row.name for row in await store.triggers.list_triggers(after=("order", "t2"))] == ["t3"]
    assert [row.name for row in await store.triggers.list_triggers("order", ("order", "t1"))] == ["t2", "t3"]


# Claims


async def test_inputs_cursor_and_next_moment_are_written_together(store: Store) -> None:
    await pending(store)
    row = await found(store)
    assert (row.seq, row.cursor, row.next_at) == (2, b"c1", 3_000)
    assert await store.triggers.find_input(T, "i1") == occurrence(seq=2)
    assert [event.kind for event in await store.triggers.list_events(T, 1)] == ["TriggerInputReceived"]


async def test_a_claim_compares_what_its_writer_has_read(store: Store) -> None:
    await pending(store)
    assert not await store.triggers.move(moving(1, occurrence("i2"), cursor=b"stale"))
    assert await states(store) == {"i1": "pending"}
    assert (await found(store)).cursor == b"c1"


async def test_an_input_is_keyed(store: Store) -> None:
    await pending(store)
    assert await store.triggers.move(moving(2, occurrence(at=5, received_at=5_000)))
    assert await store.triggers.find_input(T, "i1") == occurrence(seq=2)


async def test_a_claim_writes_its_audit_entry_or_nothing(store: Store) -> None:
    await saved(store, NEW)
    assert not await store.triggers.move(moving(0, audit=entry()))
    assert await store.audit.list_entries(AuditFilter()) == []
    assert await store.triggers.move(moving(1, audit=entry()))
    assert len(await store.audit.list_entries(AuditFilter())) == 1


async def test_one_of_many_instances_claims(database: Database) -> None:
    stores = [database() for _ in range(3)]
    for n, one in enumerate(stores):
        await one.open(f"i{n}")
    try:
        await saved(stores[0], NEW)
        won = await asyncio.gather(*(one.triggers.move(moving(1, occurrence())) for one in stores for _ in range(4)))
        assert sum(won) == 1
    finally:
        for one in stores:
            await one.close()


# Leases of polls


def leasing(row: TriggerRow, owner: str = "i1", until: int = 5_000) -> TriggerMove:
    return moving(
        row.seq, owner=owner, next_at=until, cursor=row.cursor, lease=PollLease(epoch=row.epoch, cursor=row.cursor)
    )


async def test_a_lease_has_an_epoch_of_its_own_and_no_event(store: Store) -> None:
    await saved(store, NEW)
    before = await found(store)
    assert await store.triggers.move(leasing(before))
    row = await found(store)
    assert (row.owner, row.epoch, row.seq, row.next_at) == ("i1", 1, before.seq, 5_000)
    assert (await store.triggers.read_due(4_999, 10)).triggers == ()
    assert not await store.triggers.move(leasing(before, "i2"))
    assert await store.triggers.move(leasing(row, "i2"))
    assert (await found(store)).epoch == 2


async def test_a_lease_is_renewed_by_its_holder_under_its_epoch(store: Store) -> None:
    await saved(store, NEW)
    await store.triggers.move(leasing(await found(store)))
    held = RenewedPoll(trigger_id=T, owner="i1", epoch=1, until=9_000)
    others = (
        replace(held, owner="i2"),
        replace(held, epoch=0),
        replace(held, epoch=2),
        replace(held, trigger_id=uid(1)),
    )
    for other in others:
        assert not await store.triggers.renew_poll(other)
    assert (await found(store)).next_at == 5_000
    await store.triggers.receive(arriving("i7"))  # what arrives meanwhile does not end a lease
    assert await store.triggers.renew_poll(held)
    row = await found(store)
    assert (row.owner, row.epoch, row.next_at) == ("i1", 1, 9_000)
    assert (await store.triggers.read_due(8_999, 10)).triggers == ()
    assert await store.triggers.move(leasing(row, "i2"))
    assert not await store.triggers.renew_poll(held)


async def test_what_is_written_under_a_lease_names_epoch_and_cursor(store: Store) -> None:
    await saved(store, NEW)
    await store.triggers.move(leasing(await found(store)))
    row = await found(store)
    for stale in (PollLease(epoch=row.epoch - 1, cursor=row.cursor), PollLease(epoch=row.epoch, cursor=b"other")):
        assert not await store.triggers.move(moving(row.seq, occurrence(), lease=stale))
    assert await states(store) == {}
    lease = PollLease(epoch=row.epoch, cursor=row.cursor)
    assert await store.triggers.move(moving(row.seq, occurrence(), lease=lease))
    after = await found(store)
    assert (after.owner, after.epoch, after.cursor) == (None, 1, b"c1")


async def test_a_pause_ends_a_lease(store: Store) -> None:
    await saved(store, NEW)
    await store.triggers.move(leasing(await found(store)))
    leased = await found(store)
    body = NewEvent(kind="TriggerStateChanged", body=b"{}")
    assert await store.triggers.move(moving(leased.seq, state="paused", next_at=None, events=(body,)))
    assert (await found(store)).owner is None
    late = moving(leased.seq, occurrence(), lease=PollLease(epoch=leased.epoch, cursor=leased.cursor))
    assert not await store.triggers.move(late)


async def test_one_of_many_instances_leases(database: Database) -> None:
    stores = [database() for _ in range(3)]
    for n, one in enumerate(stores):
        await one.open(f"i{n}")
    try:
        await saved(stores[0], NEW)
        row = await found(stores[0])
        won = await asyncio.gather(*(one.triggers.move(leasing(row)) for one in stores for _ in range(4)))
        assert sum(won) == 1
    finally:
        for one in stores:
            await one.close()


async def test_a_cursor_is_kept_through_changes_and_removal(store: Store) -> None:
    poll = replace(NEW, type="poll", keeps_cursor=True, cursor=b"")
    await saved(store, poll)
    assert await store.triggers.move(moving(1, owner="i1", cursor=b"c7", next_at=5_000))
    await saved(store, replace(poll, config=b'{"a":2}', next_at=60), hash_="h2", now=60)
    row = await found(store)
    assert (row.cursor, row.next_at, row.owner) == (b"c7", 60, None)
    await saved(store, hash_="h3")
    await saved(store, replace(poll, next_at=80), hash_="h4", now=80)
    row = await found(store)
    assert (row.state, row.cursor, row.next_at) == ("active", b"c7", 80)


async def test_known_and_pending_inputs_are_found(store: Store) -> None:
    await pending(store, occurrence("a"), occurrence("b"), occurrence("c"))
    await store.triggers.change_input(InputChange(trigger_id=T, input_id="a", of=("pending",), state="skipped"))
    assert await store.triggers.find_known(T, ["c", "x", "a"]) == {"a", "c"}
    assert await store.triggers.find_known(T, []) == frozenset()
    assert await store.triggers.count_pending(T, 10) == 2
    assert await store.triggers.count_pending(T, 1) == 1
    assert await store.triggers.count_pending(uid(901), 10) == 0


# What is due


async def test_triggers_and_inputs_come_due(store: Store) -> None:
    await saved(store, NEW)
    due = await store.triggers.read_due(999, 10)
    assert (due.triggers, due.inputs, due.next_due) == ((), (), 1_000)
    due = await store.triggers.read_due(1_000, 10)
    assert ([row.id for row in due.triggers], due.next_due) == ([T], None)
    assert await store.triggers.move(moving(1, occurrence()))
    due = await store.triggers.read_due(1_000, 10)
    assert (due.triggers, due.inputs, due.next_due) == ((), (), 2_000)
    due = await store.triggers.read_due(2_500, 10)
    assert ([one.input_id for one in due.inputs], due.next_due) == (["i1"], 3_000)


async def test_inputs_of_a_paused_trigger_wait(store: Store) -> None:
    await pending(store)
    assert await store.triggers.move(moving(2, state="paused", next_at=None, held=True))
    assert (await store.triggers.read_due(99_000, 10)).inputs == ()
    assert await states(store) == {"i1": "pending"}
    assert await store.triggers.move(moving(2, at=4_000, next_at=None, held=False))
    (one,) = (await store.triggers.read_due(4_000, 10)).inputs
    assert one.due_at == 4_000


# Inputs that arrive by themselves


def arriving(input_id: str, most: int = 2) -> Reception:
    one = occurrence(input_id, at=None)
    return Reception(input=one, event=NewEvent(kind="TriggerInputReceived", body=b"{}"), most_pending=most)


async def test_what_arrives_is_kept_once(store: Store) -> None:
    await saved(store, NEW)
    first = await store.triggers.receive(arriving("a"))
    again = await store.triggers.receive(arriving("a"))
    assert first.input is not None
    assert (first.repeated, first.input.seq) == (False, 2)
    assert (again.repeated, again.input) == (True, first.input)
    assert (await found(store)).seq == 2


async def test_too_many_pending_inputs_are_refused_but_not_those_that_are_known(store: Store) -> None:
    await saved(store, NEW)
    for input_id in ("a", "b"):
        assert (await store.triggers.receive(arriving(input_id))).input is not None
    assert (await store.triggers.receive(arriving("c"))).input is None
    assert (await store.triggers.receive(arriving("a"))).repeated


async def test_what_arrives_at_a_paused_trigger_is_held(store: Store) -> None:
    await saved(store, NEW)
    await store.triggers.move(moving(1, state="paused", next_at=None))
    received = await store.triggers.receive(arriving("a"))
    assert received.input is not None
    assert received.input.due_at is None


async def test_the_same_input_at_the_same_moment_is_kept_once(database: Database) -> None:
    stores = [database() for _ in range(3)]
    for n, one in enumerate(stores):
        await one.open(f"i{n}")
    try:
        await saved(stores[0], NEW)
        got = await asyncio.gather(*(one.triggers.receive(arriving("a")) for one in stores for _ in range(3)))
        assert sum(not one.repeated for one in got) == 1
        assert (await found(stores[0])).seq == 2
    finally:
        for one in stores:
            await one.close()


# Starting


def starting(n: int = 1) -> object:
    return replace(creation(n), trigger_input=InputKey(trigger_id=T, input_id="i1"))


async def test_an_execution_and_its_input_start_together(store: Store) -> None:
    await pending(store)
    (outcome,) = await store.appends.commit([starting()])  # type: ignore[list-item]
    assert outcome.verdict == "passed"
    one = await store.triggers.find_input(T, "i1")
    assert one is not None
    assert (one.state, one.execution_id) == ("started", uid(1))
    assert (await store.triggers.read_overlapping(T)).open == (uid(1),)


@pytest.mark.parametrize("state", ["started", "rejected", "discarded", "delivered", "skipped"])
async def test_an_input_that_is_not_pending_starts_nothing(store: Store, state: InputState) -> None:
    await pending(store)
    await store.triggers.change_input(InputChange(trigger_id=T, input_id="i1", of=("pending",), state=state))
    outcomes = await store.appends.commit([starting(), creation(2)])  # type: ignore[list-item]
    assert [outcome.verdict for outcome in outcomes] == ["exists", "passed"]
    assert await store.queries.find_execution(uid(1)) is None
    assert (await head(store, 2)).last_seq == 1


async def test_an_unknown_input_starts_nothing(store: Store) -> None:
    await saved(store, NEW)
    (outcome,) = await store.appends.commit([starting()])  # type: ignore[list-item]
    assert outcome.verdict == "exists"


async def test_an_input_stays_pending_whose_execution_is_there_already(store: Store) -> None:
    await pending(store)
    await store.appends.commit([creation(1)])
    (outcome,) = await store.appends.commit([starting()])  # type: ignore[list-item]
    assert outcome.verdict == "exists"
    one = await store.triggers.find_input(T, "i1")
    assert one is not None
    assert (one.state, one.execution_id) == ("pending", "")


async def test_many_starters_start_one_execution(database: Database) -> None:
    stores = [database() for _ in range(3)]
    for n, one in enumerate(stores):
        await one.open(f"i{n}")
    try:
        await pending(stores[0])
        found = await asyncio.gather(
            *(one.appends.commit([starting(n)]) for n, one in enumerate(stores * 3, 1))  # type: ignore[list-item]
        )
        assert [outcome.verdict for (outcome,) in found].count("passed") == 1
    finally:
        for one in stores:
            await one.close()


async def test_overlapping_counts_what_is_pending(store: Store) -> None:
    await pending(store, occurrence(), occurrence("i2"))
    assert (await store.triggers.read_overlapping(T)).pending == 2


# Changing and forgetting


async def test_an_input_changes_only_from_the_expected_state(store: Store) -> None:
    await pending(store)
    change = InputChange(
        trigger_id=T, input_id="i1", of=("pending",), state="rejected", reason="no", attempts=3, forget_at=20_000
    )
    assert await store.triggers.change_input(change)
    assert not await store.triggers.change_input(change)
    expected = occurrence(seq=2, state="rejected", reason="no", attempts=3, due_at=None, forget_at=20_000)
    assert await store.triggers.find_input(T, "i1") == expected


async def test_inputs_are_listed_newest_first_and_by_state(store: Store) -> None:
    await pending(store, *(occurrence(f"i{n}", received_at=n) for n in range(4)))
    await store.triggers.change_input(InputChange(trigger_id=T, input_id="i1", of=("pending",), state="rejected"))
    listed = await store.triggers.list_inputs(InputFilter(trigger_id=T, limit=2))
    assert [one.input_id for one in listed] == ["i3", "i2"]
    rest = await store.triggers.list_inputs(InputFilter(trigger_id=T, after=(2, "i2")))
    assert [one.input_id for one in rest] == ["i1", "i0"]
    rejected = await store.triggers.list_inputs(InputFilter(trigger_id=T, state="rejected"))
    assert [one.input_id for one in rejected] == ["i1"]


async def test_inputs_are_forgotten_with_their_data_but_never_while_pending(store: Store) -> None:
    await pending(store, occurrence(), occurrence("i2"))
    await store.triggers.change_input(InputChange(trigger_id=T, input_id="i1", of=("pending",), state="skipped"))
    assert await store.triggers.delete_old(9_000, 0, 10) == 0
    assert await store.triggers.delete_old(9_001, 0, 10) == 1
    assert await states(store) == {"i2": "pending"}
    assert [event.seq for event in await store.triggers.list_events(T)] == [1, 3]


async def test_old_events_are_deleted_but_not_the_data_of_inputs(store: Store) -> None:
    await pending(store)
    assert await store.triggers.delete_old(0, 99_000, 10) == 1
    assert [event.seq for event in await store.triggers.list_events(T)] == [2]


async def test_messages_of_a_move_are_in_the_outbox_only_if_it_passes(store: Store) -> None:
    await saved(store, NEW)
    message = Message(sender=T, n=2, destination="notify", kind="notify", body=b"{}", due_at=1_000)
    assert not await store.triggers.move(moving(9, messages=(message,)))
    assert await store.outbox.list_undelivered(T) == []
    assert await store.triggers.move(moving(1, messages=(message,)))
    assert await store.outbox.list_undelivered(T) == [message]
