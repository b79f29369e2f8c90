"""What two instances do at the same moment to keys, replies, workflow_statuses and the audit, on one PostgreSQL."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.access import AuditFilter, IdempotentReply, WorkflowStatus
from layover.ports.records import Enqueue, Reserved
from layover.stores.postgres.statements import in_schema
from tests.conftest import FACTOR
from tests.servers.postgres import connect
from tests.stores.conformance import approval, commit, creation, entry, key, opened, signal, step, uid
from tests.stores.racing import race, rivals, waiting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from typing import TypeAlias

    from layover.ports.records import AuditRow
    from layover.stores.postgres import PostgresStore

    Work: TypeAlias = Callable[[PostgresStore, list[int], list[AuditRow]], Awaitable[None]]

TRIALS = 100 * FACTOR
NOTE = IdempotentReply(scope="ann", key="k", fingerprint=b"same", until=100)
ANSWER = replace(NOTE, status=200, body=b"{}", until=100)

Two = tuple["PostgresStore", "PostgresStore"]


@pytest.fixture
async def two() -> AsyncIterator[Two]:
    async with rivals() as found:
        yield found


_HOLDING_A_REPLY = """
INSERT INTO layover.replies (until, status, scope, key, fingerprint, body) VALUES (0, 0, 'ann', 'k', '', '')
ON CONFLICT (scope, key) DO UPDATE SET until = 0
"""
_WRITING_AN_ENTRY = """
INSERT INTO layover.audit (id, at, "user", act, target, credential, request_id, details)
VALUES ('{}', {}, 'ann', 'a', '', '', '', '')
"""


@asynccontextmanager
async def doing(store: PostgresStore, statement: str) -> AsyncIterator[None]:
    """Do something that is taken back in the end."""
    connection = await connect(store.address.dsn)
    try:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(in_schema(statement, store.address.schema))
        yield
        await transaction.rollback()
    finally:
        await connection.close()


async def acts(store: PostgresStore) -> list[int]:
    return sorted(int(one.id[:8], 16) for one in await store.audit.list_entries(AuditFilter(limit=10_000)))


# Replies


async def test_of_two_with_the_same_request_one_works_at_it(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        note = replace(NOTE, key=f"k{n}")
        told = await race(mine.idempotency.begin(note, 0), others.idempotency.begin(note, 0), n)
        assert sorted(told, key=lambda one: one is not None) == [None, note]


@pytest.mark.parametrize("left", [NOTE, ANSWER])
async def test_of_two_that_find_what_is_over_one_takes_its_place(two: Two, left: IdempotentReply) -> None:
    """Whoever is second finds a note of now: not the answer that is no longer kept, which it may have seen before."""
    mine, others = two
    for n in range(TRIALS):
        await mine.idempotency.finish(replace(left, key=f"k{n}", status=left.status or 0))
        note = replace(NOTE, key=f"k{n}", until=300)
        told = await race(mine.idempotency.begin(note, 200), others.idempotency.begin(note, 200), n)
        assert sorted(told, key=lambda one: one is not None) == [None, note]


@pytest.mark.parametrize("left", [None, ANSWER])
async def test_a_writer_that_had_to_wait_sees_what_was_written_meanwhile(
    two: Two, left: IdempotentReply | None
) -> None:
    """Both have looked before either can write."""
    mine, others = two
    if left is not None:
        await mine.idempotency.finish(left)
    note = replace(NOTE, until=300)
    async with doing(mine, _HOLDING_A_REPLY):
        calls = [asyncio.ensure_future(store.idempotency.begin(note, 200)) for store in two]
        await waiting(mine, 2)
    assert sorted(await asyncio.gather(*calls), key=lambda one: one is not None) == [None, note]
    assert await others.idempotency.begin(note, 200) == note


async def test_a_request_that_is_dropped_while_another_asks_leaves_one_or_none_working(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        note = replace(NOTE, key=f"k{n}")
        await mine.idempotency.begin(note, 0)
        _, told = await race(mine.idempotency.abandon(note.scope, note.key), others.idempotency.begin(note, 0), n)
        assert await mine.idempotency.begin(note, 0) == (note if told is None else None)


# Keys


async def test_a_key_is_replaced_by_one_and_ended_by_one(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        names = [f"{letter}{n}" for letter in "abc"]
        old, one, other = (replace(key(), id=name, hash=name.encode()) for name in names)
        await mine.api_keys.add(old, entry(4 * n))
        replaced = await race(
            mine.api_keys.replace(old.id, one, 90, entry(4 * n + 1)),
            others.api_keys.replace(old.id, other, 90, entry(4 * n + 2)),
            n,
        )
        assert sorted(replaced) == [False, True]
        won = 1 if replaced[0] else 2
        ended = await race(
            mine.api_keys.end(old.id, 50, entry(4 * n + 3)),
            others.api_keys.end(old.id, 50, entry(4 * n + 3, at=601)),
            n,
        )
        assert sorted(ended) == [False, True]
        assert [found for found in await acts(mine) if found >= 4 * n] == [4 * n, 4 * n + won, 4 * n + 3]


# The audit


async def test_what_is_sent_or_said_by_two_is_one_act(two: Two) -> None:
    mine, others = two
    await mine.appends.commit([replace(creation(n), points=(opened(f"p{n}"),)) for n in range(TRIALS)])
    for n in range(TRIALS):
        first, second = entry(10 * n), entry(10 * n + 1)
        await race(mine.signals.add(signal(f"s{n}"), first), others.signals.add(signal(f"s{n}"), second), n)
        sent = Enqueue(execution_id=uid(n), kind="Pause", body=b"{}", source="k")
        third, fourth = (replace(sent, audit=entry(10 * n + more)) for more in (2, 3))
        await race(mine.commands.enqueue([third], 1), others.commands.enqueue([fourth], 1), n)
        said = approval(f"p{n}")
        given = await race(
            mine.answers.reserve(said, "a", 1, audit=entry(10 * n + 4)),
            others.answers.reserve(said, "a", 1, audit=entry(10 * n + 5)),
            n,
        )
        assert all(isinstance(one, Reserved) for one in given)
        saved = await race(
            mine.definitions.save("order", f"v{n}", b"{}", 1, entry(10 * n + 6)),
            others.definitions.save("order", f"v{n}", b"{}", 1, entry(10 * n + 7)),
            n,
        )
        assert saved[0] == saved[1]
    found = await acts(mine)
    assert [n // 2 for n in found] == [5 * n + more for n in range(TRIALS) for more in range(4)]


async def test_the_audit_entry_is_written_by_the_append_that_passes(two: Two) -> None:
    mine, others = two
    await mine.appends.commit([creation(n) for n in range(TRIALS)])
    for n in range(TRIALS):
        appends = [replace(step(n), audit=entry(2 * n + more)) for more in (0, 1)]
        outcomes = await race(commit(mine, appends[0]), commit(others, appends[1]), n)
        assert sorted(outcome.verdict for outcome in outcomes) == ["fenced", "passed"]
        passed = 2 * n + (outcomes[1].verdict == "passed")
        assert [found for found in await acts(mine) if found >= 2 * n] == [passed]


async def test_a_workflow_that_is_saved_while_it_is_deleted_is_one_or_the_other(two: Two) -> None:
    mine, others = two
    for n in range(TRIALS):
        deleted = WorkflowStatus(workflow="order", state="deleted", changed_at=n)
        await mine.workflow_status.set_status(deleted)
        await race(mine.definitions.save("order", f"v{n}", b"{}", n), others.workflow_status.set_status(deleted), n)
        (found,) = await mine.workflow_status.list_statuses(["order"])
        assert found in (deleted, WorkflowStatus(workflow="order", state="active", changed_at=n))
        assert (await mine.definitions.list_versions("order"))[-1].hash == f"v{n}"


async def _append(store: PostgresStore, ns: list[int], entries: list[AuditRow]) -> None:
    await store.appends.commit([replace(step(n), audit=one) for n, one in zip(ns, entries, strict=True)])


async def _enqueue(store: PostgresStore, ns: list[int], entries: list[AuditRow]) -> None:
    sent = [Enqueue(execution_id=uid(n), kind="K", body=b"", audit=one) for n, one in zip(ns, entries, strict=True)]
    await store.commands.enqueue(sent, 1)


async def _answer(store: PostgresStore, ns: list[int], entries: list[AuditRow]) -> None:
    said = zip(ns, entries, strict=True)
    await asyncio.gather(*(store.answers.reserve(approval(f"p{n}"), "a", 1, audit=one) for n, one in said))


@pytest.mark.parametrize("work", [_append, _enqueue, _answer])
async def test_acts_of_several_parts_that_meet_do_not_wait_for_each_other(two: Two, work: Work) -> None:
    """Two groups write parts of the same three acts, in different orders; both come to the second one, and wait."""
    mine, others = two
    await mine.appends.commit([replace(creation(n), points=(opened(f"p{n}"),)) for n in range(1, 7)])
    entries = [entry(n) for n in (1, 2, 3)]
    async with doing(mine, _WRITING_AN_ENTRY.format(entry(2).id, entry(2).at)):
        works = [
            asyncio.ensure_future(work(mine, [1, 2, 3], entries)),
            asyncio.ensure_future(work(others, [4, 5, 6], entries[::-1])),
        ]
        await waiting(mine, 2)
    await asyncio.gather(*works)
    assert await acts(mine) == [1, 2, 3]
