"""What two instances do to the same executions at the same moment, on one PostgreSQL: the rules hold every time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.approval_rules import ApprovalRules
from layover.ports.limit_records import AdmissionRequest, ConcurrencyLimit, RateLimit
from layover.ports.records import Claim, ClosedExecution, ClosedPoint, Enqueue, Enqueued, LeaseRow, Reserved, Rest
from tests.conftest import FACTOR
from tests.stores.conformance import (
    ME,
    OTHER,
    approval,
    claim,
    commit,
    creation,
    enqueue,
    following,
    head,
    ids,
    opened,
    step,
    uid,
)
from tests.stores.racing import held_up, race, rivals, waiting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from layover.ports.limit_records import Admission
    from layover.ports.records import Append, Outcome
    from layover.ports.store import Store
    from layover.stores.postgres import PostgresStore

TRIALS = 200 * FACTOR
FEW = 30 * FACTOR  # of what takes many calls

Two = tuple["PostgresStore", "PostgresStore"]


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    async with rivals() as found:
        yield found


async def _begin(store: Store, *appends: Append) -> None:
    outcomes = await store.appends.commit(appends)
    assert {outcome.verdict for outcome in outcomes} == {"passed"}


async def test_an_answer_and_the_expiry_of_its_point_cannot_both_be_written(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        await _begin(mine, replace(creation(n), points=(opened(f"p{n}"),)))
        expiry = replace(step(n), points=(ClosedPoint(id=f"p{n}", how="expired"),))
        given, written = await race(others.answers.reserve(approval(f"p{n}"), "a", 700), commit(mine, expiry), n)
        row = await mine.queries.find_point(f"p{n}")
        assert row is not None
        if isinstance(given, Reserved):
            assert (written.verdict, row.status, row.closed_at) == ("uninformed", "answered", None)
            assert [command.n for command in written.commands] == [given.n] == [1]
        else:
            assert given.code == "point_expired"
            assert (written.verdict, row.status, await mine.commands.list_after(uid(n), 0)) == ("passed", "expired", [])


async def test_answers_of_many_to_one_point_all_count(two: Two) -> None:
    mine, others = two
    people = [f"user{n}" for n in range(6)]
    for n in range(FEW):
        rules = ApprovalRules(users=tuple(people), need=len(people))
        await _begin(mine, replace(creation(n), points=(opened(f"p{n}", rules=rules),)))
        works = [
            race(
                mine.answers.reserve(approval(f"p{n}", by=one), one, 700),
                others.answers.reserve(approval(f"p{n}", by=another), another, 700),
                n,
            )
            for one, another in zip(people[::2], people[1::2], strict=True)
        ]
        given = [answer for pair in works for answer in await pair]
        row = await mine.queries.find_point(f"p{n}")
        assert row is not None
        assert sorted(answer.n for answer in given if isinstance(answer, Reserved)) == [1, 2, 3, 4, 5, 6]
        assert sorted(decision.by for decision in row.point.decisions) == people
        assert row.status == "answered"


async def test_the_same_answer_by_two_ways_is_taken_once(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        await _begin(mine, replace(creation(n, rest=Rest()), points=(opened(f"p{n}"),)))
        given = approval(f"p{n}")
        both = await race(
            mine.answers.reserve(given, "a", 700, _wish(ME)), others.answers.reserve(given, "a", 700, _wish(OTHER)), n
        )
        taken = [answer for answer in both if isinstance(answer, Reserved)]
        assert sorted(answer.repeated for answer in taken) == [False, True]
        assert [answer.n for answer in taken] == [1, 1]
        assert [answer.claimed is None for answer in taken] == [answer.repeated for answer in taken]


async def test_no_node_is_started_after_a_pause_was_accepted(two: Two) -> None:
    """The guard of the database sees an append that does not know the command."""
    mine, others = two
    for n in range(TRIALS):
        await _begin(mine, creation(n))
        accepted, started = await race(enqueue(others, n), commit(mine, step(n)), n)
        assert accepted == Enqueued(n=1, owner=ME)
        now = await head(mine, n)
        if started.verdict == "uninformed":
            assert [command.n for command in started.commands] == [1]
            assert (now.last_seq, now.commands_seq) == (1, 1)
        else:
            assert (started.verdict, now.last_seq, now.commands_seq) == ("passed", 2, 1)


async def test_an_execution_is_created_once(two: Two) -> None:
    mine, others = two
    for trial in range(TRIALS):
        ns = [10 * trial + n for n in range(4)]
        ours = [creation(n) for n in ns]
        theirs = [replace(creation(n), owner=OTHER) for n in reversed(ns)]
        passed, too = await race(_committed(mine, ours), _committed(others, theirs), trial)
        for n, a, b in zip(ns, passed, reversed(too), strict=True):
            assert sorted((a.verdict, b.verdict)) == ["exists", "passed"]
            assert (await head(mine, n)).owner == (ME if a.verdict == "passed" else OTHER)
            assert [entry.count for entry in await mine.queries.read_history(uid(n), 0, 10)] == [2]


async def test_a_command_that_comes_by_two_ways_is_taken_once(two: Two) -> None:
    mine, others = two
    ns = (1, 2, 3)
    await _begin(mine, *(creation(n) for n in ns))
    for trial in range(TRIALS):
        commands = [Enqueue(execution_id=uid(n), kind="K", body=b"{}", source="s", source_n=trial) for n in ns]
        lone = Enqueue(execution_id=uid(1), kind="K", body=b"{}")
        first, second = await race(
            mine.commands.enqueue([*commands, lone], 700),
            others.commands.enqueue([lone, *reversed(commands)], 700),
            trial,
        )
        for a, b in zip(first[:3], reversed(second[1:]), strict=True):
            assert isinstance(a, Enqueued)
            assert isinstance(b, Enqueued)
            assert a.n == b.n
            assert a.repeated != b.repeated
    for n in ns:
        taken = await mine.commands.list_after(uid(n), 0)
        assert [command.n for command in taken] == list(range(1, len(taken) + 1))
        assert len(taken) == TRIALS * (3 if n == 1 else 1)
        assert (await head(mine, n)).commands_seq == len(taken)


async def test_a_renewal_and_an_append_do_not_hinder_each_other(two: Two) -> None:
    mine, _ = two
    ns = range(6)
    await _begin(mine, *(creation(n) for n in ns))
    leases = [LeaseRow(execution_id=uid(n), epoch=1) for n in ns]
    for trial in range(TRIALS):
        appends = [replace(step(n), expected_seq=1 + trial) for n in reversed(ns)]
        until = 10_000 * (trial + 1)
        lost, outcomes = await race(mine.claims.renew(ME, leases, until), _committed(mine, appends), trial)
        assert lost == []
        assert {outcome.verdict for outcome in outcomes} == {"passed"}
        # A lease is longer by as much as the clock of the server is ahead of ours.
        assert min([(await head(mine, n)).wake_at or 0 for n in ns]) >= until


async def test_nothing_is_claimed_twice_and_nothing_is_forgotten(two: Two) -> None:
    mine, others = two
    ns = range(24)
    await _begin(mine, *(creation(n, rest=Rest(wake_at=n)) for n in ns))
    for trial in range(FEW):
        claimed: list[str] = []
        while len(claimed) < len(ns):
            ours, theirs = await race(
                claim(mine, 100, most=7, lease_until=9_000),
                claim(others, 100, most=7, lease_until=9_000, instance=OTHER),
                trial,
            )
            claimed += [*ids(ours), *ids(theirs)]
        assert sorted(claimed) == [uid(n) for n in ns]
        for store, name in ((mine, ME), (others, OTHER)):
            heads = [await head(store, n) for n in ns]
            leases = [LeaseRow(execution_id=one.execution_id, epoch=one.epoch) for one in heads if one.owner == name]
            await store.claims.release(name, leases, 50)


async def test_an_answer_and_a_claim_do_not_both_drive(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        await _begin(mine, replace(creation(n, rest=Rest(wake_at=0)), points=(opened(f"p{n}"),)))
        which = n if n % 3 else None
        given, claims = await race(
            mine.answers.reserve(approval(f"p{n}"), "a", 700, _wish(ME)),
            claim(others, 700, instance=OTHER, n=which, lease_until=9_000),
            n // 2,
        )
        assert isinstance(given, Reserved)
        now = await head(mine, n)
        assert (now.epoch, now.commands_seq) == (2, 1)
        if given.claimed is not None:
            assert claims.claimed == ()
            assert given.claimed.head == now
            assert (now.owner, [command.n for command in given.claimed.commands]) == (ME, [1])
        else:
            assert (given.owner, now.owner, ids(claims)) == (OTHER, OTHER, [uid(n)])


async def test_an_execution_is_purged_or_opened_again(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        await _begin(mine, replace(creation(n, rest=Rest()), status="completed", closed=ClosedExecution()))
        purged, outcome = await race(mine.retention.purge([uid(n)]), _reopened(others, n), n)
        row = await mine.queries.find_execution(uid(n))
        if purged:
            assert (row, outcome) == (None, "gone")
            assert await mine.queries.read_history(uid(n), 0, 10) == []
        else:
            assert row is not None
            assert (row.head.status, row.finished_at, outcome) == ("running", None, "passed")
            assert len(await mine.queries.read_history(uid(n), 0, 10)) == 2
    assert await mine.inspection.list_faults() == []


async def _reopened(store: Store, n: int) -> str:
    claims = await claim(store, 700, instance=OTHER, n=n)
    if not claims.claimed:
        return "gone"
    outcome = await commit(store, following(claims.claimed[0].head, status="running", closed=ClosedExecution()))
    return "gone" if outcome.verdict == "fenced" else outcome.verdict


async def test_groups_over_the_same_executions_pass_whatever_their_order(two: Two) -> None:
    mine, others = two
    ns = range(10)
    await _begin(mine, *(replace(creation(n), owner=OTHER if n % 2 else ME) for n in ns))
    for trial in range(TRIALS):
        group = [replace(step(n), expected_seq=1 + trial) for n in ns]
        theirs = [replace(append, owner=OTHER) for append in reversed(group)]
        first, second = await race(_committed(mine, group), _committed(others, theirs), trial)
        assert [outcome.verdict for outcome in first] == ["passed", "fenced"] * 5
        assert [outcome.verdict for outcome in second] == ["passed", "fenced"] * 5


# Limits


async def test_slots_are_never_exceeded_and_each_waiter_gets_one(two: Two) -> None:
    mine, others = two
    for trial in range(FEW // 6):
        ns = [100 * trial + n for n in range(24)]
        await _begin(mine, *(creation(n, rest=Rest()) for n in ns))
        wishes = [AdmissionRequest(execution_id=uid(n), slots=ConcurrencyLimit(name=f"s{trial}", limit=3)) for n in ns]
        holding: set[str] = set()
        for a, b in zip(wishes[::2], reversed(wishes[1::2]), strict=True):
            told = await race(mine.limits.admit(a, 500), others.limits.admit(b, 500), trial)
            holding |= {one.execution_id for one, how in zip((a, b), told, strict=True) if how.state == "admitted"}
        served = 0
        while holding:
            assert len(holding) <= 3
            one, another = [*holding, uid(ns[0])][:2]  # to give back what one does not have is nothing
            following_one, following_other = await race(
                mine.limits.release_slot(one, 600), others.limits.release_slot(another, 600), served
            )
            served += len({one, another} & holding)
            holding = holding - {one, another} | set(following_one) | set(following_other)
        assert served == len(ns)
        for n in ns:
            assert [command.kind for command in await mine.commands.list_after(uid(n), 0)] == ["Admit"]
            assert await mine.limits.find_admission(uid(n)) is None


async def test_an_execution_that_ends_while_it_asks_for_a_slot_does_not_keep_its_place(two: Two) -> None:
    """Nobody sees the place yet when it is given back: it has to be waited for."""
    mine, others = two
    await _begin(mine, creation(1), creation(2))
    first, second = (AdmissionRequest(execution_id=uid(n), slots=ConcurrencyLimit(name="s", limit=1)) for n in (1, 2))
    await mine.limits.admit(first, 500)
    async with held_up(mine, "places"):
        asking = asyncio.ensure_future(others.limits.admit(second, 501))
        await waiting(mine, 1)
        await _begin(mine, replace(step(2), status="completed", closed=ClosedExecution(), rest=Rest()))
        freeing = asyncio.ensure_future(mine.limits.release_slot(uid(2), 600))
        await waiting(mine, 2, unless=freeing)
    await asyncio.gather(asking, freeing)
    assert await mine.limits.find_admission(uid(2)) is None


async def test_no_moment_of_a_rate_is_given_away_twice(two: Two) -> None:
    """Two lines, two rates that are used from both: whoever gives back a slot advances one that needs the other's."""
    mine, others = two
    for trial in range(FEW // 6):
        ns = [100 * trial + n for n in range(16)]
        await _begin(mine, *(creation(n, rest=Rest()) for n in ns))
        wishes = [
            AdmissionRequest(
                execution_id=uid(n),
                slots=ConcurrencyLimit(name=f"s{trial}{n % 2}", limit=2),
                rate=RateLimit(name=f"r{trial}{n // 2 % 2}", limit=1, per_ms=1_000),
            )
            for n in ns
        ]
        pairs = list(zip(wishes[::2], wishes[1::2], strict=True))
        for a, b in pairs:
            await race(mine.limits.admit(a, 1_000), others.limits.admit(b, 1_000), trial)
        moments: dict[str, list[int]] = {}
        for turn, (a, b) in enumerate(pairs):
            for wish in (a, b):
                assert wish.rate is not None
                moments.setdefault(wish.rate.name, []).append(
                    _moment(await mine.limits.find_admission(wish.execution_id))
                )
            await race(
                mine.limits.release_slot(a.execution_id, 1_000), others.limits.release_slot(b.execution_id, 1_000), turn
            )
        evenly = [1_000 * (n + 1) for n in range(8)]
        assert [sorted(found) for found in moments.values()] == [evenly, evenly]


def _moment(told: Admission | None) -> int:
    assert told is not None
    assert told.state in ("admitted", "later")
    return told.at if told.at is not None else 1_000


def _wish(instance: str) -> Claim:
    return Claim(instance=instance, now=700, lease_until=9_000)


async def _committed(store: Store, appends: list[Append]) -> list[Outcome]:
    return await store.appends.commit(appends)
