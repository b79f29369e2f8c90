"""An append names what its writer believes, and passes only if all of it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreError
from layover.ports.records import ClosedExecution, Entry, NewExecution, Outcome, Rest
from layover.ports.view_records import ExecutionFilter
from tests.stores.conformance import (
    ME,
    NEW,
    OTHER,
    claim,
    commit,
    create,
    creation,
    enqueue,
    following,
    go_on,
    head,
    opened,
    step,
    truth,
    uid,
)

if TYPE_CHECKING:
    from layover.ports.store import Store


async def test_a_creation_makes_a_head_that_its_writer_drives(store: Store) -> None:
    made = await create(store, new=replace(NEW, priority=3))
    assert made.owner == ME
    assert (made.epoch, made.last_epoch) == (1, 1)
    assert (made.last_seq, made.commands_seq, made.commands_done, made.takeovers) == (1, 0, 0, 0)
    assert (made.workflow, made.status, made.priority, made.wake_at) == ("order", "running", 3, 5_000)


async def test_a_creation_that_rests_has_no_owner(store: Store) -> None:
    made = await create(store, rest=Rest(wake_at=800))
    assert (made.owner, made.wake_at) == (None, 800)


async def test_a_creation_keeps_all_that_is_known(store: Store) -> None:
    new = NewExecution(
        workflow="order",
        hash="h1",
        created_at=77,
        priority=-2,
        user="ann",
        parent_id=uid(9),
        correlation_id="c",
        tags=("a", 'quo"te'),
    )
    await create(store, new=new)
    (loaded,) = await store.queries.load([uid(1)])
    assert loaded is not None
    assert loaded.info == new


async def test_a_second_creation_gets_exists_and_changes_nothing(store: Store) -> None:
    await create(store)
    before = await truth(store)
    again = replace(creation(), events=b"[]", owner=OTHER, status="failed", points=(opened(),))
    assert await commit(store, again) == Outcome(verdict="exists")
    assert await truth(store) == before


async def test_a_creation_of_an_unknown_version_is_refused_with_everything_beside_it(store: Store) -> None:
    await create(store, 1)
    before = await truth(store)
    with pytest.raises(StoreError, match="h9") as refused:
        await store.appends.commit([step(1), creation(2, new=replace(NEW, hash="h9")), creation(3)])
    assert refused.value.code == "unknown_version"
    assert await truth(store) == before


async def test_a_version_belongs_to_its_workflow(store: Store) -> None:
    await create(store, 1)
    with pytest.raises(StoreError, match="refund"):
        await commit(store, creation(2, new=replace(NEW, workflow="refund")))


async def test_an_append_that_fits_moves_the_head_and_grows_the_log(store: Store) -> None:
    await create(store)
    moved = replace(step(), status="waiting", count=3)
    assert await commit(store, moved) == Outcome(verdict="passed")
    now = await head(store)
    assert (now.last_seq, now.status, now.owner, now.wake_at) == (4, "waiting", ME, 5_000)
    assert await store.queries.read_history(uid(1), 0, 10) == [
        Entry(seq=0, at=100, count=2, events=b'["created","started"]'),
        Entry(seq=2, at=200, count=3, events=b'["moved"]'),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"execution_id": uid(2)}, id="execution"),
        pytest.param({"owner": OTHER}, id="owner"),
        pytest.param({"epoch": 2}, id="a newer epoch"),
        pytest.param({"epoch": 0}, id="an older epoch"),
        pytest.param({"expected_seq": 0}, id="an older last_seq"),
        pytest.param({"expected_seq": 2}, id="a newer last_seq"),
    ],
)
async def test_an_append_with_a_wrong_belief_is_fenced_and_changes_nothing(
    store: Store, wrong: dict[str, object]
) -> None:
    await create(store)
    before = await truth(store)
    append = replace(step(), **wrong, snapshot=b"s", points=(opened(),), closed=ClosedExecution(), rest=Rest())
    assert await commit(store, append) == Outcome(verdict="fenced")
    assert await truth(store) == before


@pytest.mark.parametrize("seen", [0, 1])
async def test_an_append_that_has_not_seen_all_commands_gets_exactly_those(store: Store, seen: int) -> None:
    await create(store)
    for source in ("a", "b", "c"):
        await enqueue(store, source=source)
    before = await truth(store)
    outcome = await commit(store, replace(step(), commands_seen=seen))
    assert outcome.verdict == "uninformed"
    assert outcome.commands_seq == 3
    assert [command.source for command in outcome.commands] == ["a", "b", "c"][seen:]
    assert list(outcome.commands) == await store.commands.list_after(uid(1), seen)
    assert await truth(store) == before


async def test_an_append_that_has_seen_commands_that_never_came_gets_their_true_number(store: Store) -> None:
    await create(store)
    await enqueue(store)
    outcome = await commit(store, replace(step(), commands_seen=7))
    assert outcome == Outcome(verdict="uninformed", commands_seq=1)


async def test_to_be_fenced_weighs_more_than_to_be_uninformed(store: Store) -> None:
    await create(store)
    await enqueue(store)
    assert await commit(store, replace(step(), owner=OTHER)) == Outcome(verdict="fenced", commands_seq=1)


async def test_an_append_that_has_seen_all_commands_marks_them_done(store: Store) -> None:
    await create(store)
    await enqueue(store)
    assert await commit(store, replace(step(), commands_seen=1)) == Outcome(verdict="passed", commands_seq=1)
    assert (await head(store)).commands_done == 1


async def test_one_that_is_fenced_leaves_the_others_of_its_commit(store: Store) -> None:
    for n in (1, 2, 3):
        await create(store, n)
    await enqueue(store, 3)
    outcomes = await store.appends.commit([step(1), replace(step(2), epoch=9), step(3), creation(4)])
    assert [outcome.verdict for outcome in outcomes] == ["passed", "fenced", "uninformed", "passed"]
    assert [(await head(store, n)).last_seq for n in (1, 2, 3, 4)] == [2, 1, 1, 1]


async def test_verdicts_come_in_the_order_of_the_appends(store: Store) -> None:
    for n in (1, 2):
        await create(store, n)
    outcomes = await store.appends.commit([creation(4), creation(1), step(2), step(5)])
    assert [outcome.verdict for outcome in outcomes] == ["passed", "exists", "passed", "fenced"]


async def test_a_commit_of_nothing_is_nothing(store: Store) -> None:
    assert await store.appends.commit([]) == []


@pytest.mark.parametrize("second", [step(2), creation(2)])
async def test_the_same_execution_twice_in_a_commit_is_refused_before_anything_is_written(
    store: Store, second: object
) -> None:
    await create(store, 1)
    before = await truth(store)
    with pytest.raises(ValueError, match="one append for each execution"):
        await store.appends.commit([step(1), step(2), second])  # type: ignore[list-item]
    assert await truth(store) == before


async def test_an_append_that_rests_frees_the_owner_and_sets_the_wake_time(store: Store) -> None:
    await create(store)
    resting = await go_on(store, rest=Rest(wake_at=4_000), status="waiting")
    assert (resting.owner, resting.wake_at, resting.status, resting.last_epoch) == (None, 4_000, "waiting", 1)
    assert (await commit(store, replace(step(), expected_seq=2))).verdict == "fenced"


async def test_what_rests_for_ever_has_no_wake_time(store: Store) -> None:
    await create(store)
    assert (await go_on(store, rest=Rest())).wake_at is None


async def test_an_append_without_events_leaves_nothing_in_the_log(store: Store) -> None:
    """Commands that change nothing still have to be marked as read, and an execution given back."""
    await create(store)
    await enqueue(store)
    await go_on(store, count=0, events=b"[]")
    resting = await go_on(store, count=0, events=b"[]", rest=Rest(wake_at=900))
    assert (resting.last_seq, resting.commands_done, resting.wake_at) == (1, 1, 900)
    assert len(await store.queries.read_history(uid(1), 0, 10)) == 1


async def test_the_log_goes_on_after_an_append_without_events(store: Store) -> None:
    await create(store)
    await go_on(store, count=0, events=b"[]")
    await go_on(store)
    assert [entry.seq for entry in await store.queries.read_history(uid(1), 0, 10)] == [0, 2]


async def test_progress_resets_takeovers(store: Store) -> None:
    await create(store)
    assert (await claim(store, 6_000)).claimed[0].head.takeovers == 1
    assert (await go_on(store)).takeovers == 0


async def test_an_append_says_which_epoch_wrote_last(store: Store) -> None:
    await create(store)
    await claim(store, 6_000)
    assert (await head(store)).last_epoch == 1
    assert (await go_on(store)).last_epoch == 2


async def test_a_snapshot_shortens_what_is_loaded_but_not_the_log(store: Store) -> None:
    await create(store)
    await go_on(store, snapshot=b"after 2")
    await go_on(store, events=b'["tail"]', at=400)
    (loaded,) = await store.queries.load([uid(1)])
    assert loaded is not None
    assert loaded.snapshot == b"after 2"
    assert loaded.entries == (Entry(seq=3, at=400, count=1, events=b'["tail"]'),)
    assert loaded.head == await head(store)
    assert len(await store.queries.read_history(uid(1), 0, 10)) == 3


async def test_a_newer_snapshot_replaces_the_older(store: Store) -> None:
    await create(store)
    await go_on(store, snapshot=b"one")
    await go_on(store, snapshot=b"two")
    (loaded,) = await store.queries.load([uid(1)])
    assert loaded is not None
    assert (loaded.snapshot, loaded.entries) == (b"two", ())


async def test_load_answers_in_order_and_says_what_is_not_there(store: Store) -> None:
    for n in (1, 2):
        await create(store, n)
    loaded = await store.queries.load([uid(2), uid(7), uid(1), uid(2)])
    assert [one.head.execution_id if one else None for one in loaded] == [uid(2), None, uid(1), uid(2)]


async def test_what_closes_is_listed_with_how_it_ended(store: Store) -> None:
    await create(store)
    ended = ClosedExecution(outcome="rejected", error_code="boom")
    await go_on(store, status="failed", closed=ended, rest=Rest(), at=444)
    (row,) = await store.queries.list_executions(ExecutionFilter())
    assert (row.finished_at, row.closed, row.head.status, row.head.wake_at) == (444, ended, "failed", None)


async def test_what_is_reopened_has_not_ended(store: Store) -> None:
    await create(store)
    await go_on(store, status="failed", closed=ClosedExecution(error_code="boom"))
    await go_on(store, status="running", closed=ClosedExecution())
    row = await store.queries.find_execution(uid(1))
    assert row is not None
    assert (row.finished_at, row.closed) == (None, None)


async def test_a_pause_point_is_opened_once(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    await go_on(store, 1, points=(opened("p"),))
    before = await truth(store)
    with pytest.raises(StoreError, match="pause point p") as refused:
        await store.appends.commit(
            [following(await head(store, 1)), replace(step(2), points=(opened("q"), opened("p")))]
        )
    assert refused.value.code == "point_exists"
    assert await truth(store) == before


async def test_what_is_gone_and_what_is_refused_leave_the_rest_of_a_group_alone(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    gone, stale = replace(step(7), execution_id=uid(7)), replace(step(2), epoch=9)
    outcomes = await store.appends.commit([gone, step(1), stale])
    assert [outcome.verdict for outcome in outcomes] == ["fenced", "passed", "fenced"]
    assert ((await head(store, 1)).last_seq, (await head(store, 2)).last_seq) == (2, 1)
