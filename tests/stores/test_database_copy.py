"""Everything in a database moves into another one of any kind, and nothing is lost or added on the way."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import apsw
import msgspec
import pytest
from msgspec.structs import replace

from layover.core.search_terms import terms_of
from layover.ports.access import IdempotentReply, WorkflowStatus
from layover.ports.errors import StoreError, StoreUnavailable
from layover.ports.moving import CopiedBatch
from layover.ports.records import ClosedExecution, NewExecution, Rest
from layover.ports.search_records import ExecutionTerms
from layover.ports.view_records import ExecutionFilter
from layover.runtime.maintenance.database_copy import (
    CannotBeKept,
    CopyProgress,
    NotACopy,
    NotEmpty,
    as_moved,
    check_empty,
    compare,
    copy,
    count,
    find_progress,
)
from layover.stores.memory import MemoryStore
from layover.stores.memory.database_copy import MemoryDatabaseCopy
from layover.stores.postgres import PostgresStore
from tests.servers.postgres import ask, databases, schema_of
from tests.stores.conformance import (
    DATABASES,
    ME,
    OTHER,
    Clock,
    claim,
    commit,
    create,
    creation,
    enqueue,
    entry,
    following,
    go_on,
    head,
    ids,
    key,
    signal,
    truth,
    uid,
)
from tests.stores.copied import INDEXED_ANEW, LARGE, fill, rows_of_file, rows_of_schema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from layover.ports.store import Store
    from layover.runtime.maintenance.database_copy import CopyStep
    from layover.stores.memory.session import MemorySession

PAIRS = [(ours, theirs) for ours in DATABASES for theirs in DATABASES]


def quietly(_progress: CopyStep) -> None:
    """Tell nobody."""


class Stores:
    """Stores of the kinds that a test asks for, each on a database of its own, all closed at its end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: list[Store] = []

    async def open(self, kind: str) -> Store:
        folder = self._folder / str(len(self._opened))
        folder.mkdir()
        return await self.opened(DATABASES[kind](folder, Clock())())

    async def opened(self, store: Store) -> Store:
        await store.open(ME)
        self._opened.append(store)
        return store

    async def close(self) -> None:
        for store in self._opened:
            await store.close()


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    found = Stores(tmp_path)
    yield found
    await found.close()


async def copied(source: Store, target: Store) -> int:
    """Copy into an empty target, and see that both are the same."""
    await check_empty(target)
    written = await copy(source, target, CopyProgress(), quietly)
    assert (await compare(source, target, quietly)).differences == ()
    return written


# What arrives


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
async def test_everything_arrives(stores: Stores, ours: str, theirs: str) -> None:
    source, target = await stores.open(ours), await stores.open(theirs)
    await fill(source)
    before = await truth(source)
    assert await copied(source, target) == 9
    assert await truth(source) == before
    for n in (1, *range(3, 10)):  # the input of the second may be written in another way
        assert await target.database_copy.read_executions([uid(n)]) == [
            as_moved(whole) for whole in await source.database_copy.read_executions([uid(n)])
        ]
    after = await truth(target)
    for what in before.keys() - {"executions", "loaded"}:  # there are heads in these two, and some were driven
        assert after[what] == before[what], what
    assert await target.database_copy.read_signals("", 10) == await source.database_copy.read_signals("", 10)
    assert await target.database_copy.read_rates("", 10) == await source.database_copy.read_rates("", 10)
    assert await target.queries.find_token(b"\x00\xffhash") == await source.queries.find_token(b"\x00\xffhash")
    for where in (b'{"to":{"id":7}}', b'{"size":1.5}'):
        assert [
            row.head.execution_id for row in await target.queries.list_executions(ExecutionFilter(where=where))
        ] == [uid(2)]
    assert await target.signals.list_waits("paid", "k1") == await source.signals.list_waits("paid", "k1") != []


@pytest.mark.parametrize("between", ["memory", "sqlite", "postgres"])
async def test_every_column_is_the_same_after_two_moves(stores: Stores, tmp_path: Path, between: str) -> None:
    """The rows themselves are compared, so a column that nobody reads would be missed too."""
    source = await stores.open("sqlite")
    await fill(source)
    first, middle = await stores.open("sqlite"), await stores.open(between)
    await copied(source, first)  # nobody drives in the copies, so two copies are the same and not copy and source
    await copied(first, middle)
    last = await stores.open("sqlite")
    await copied(middle, last)
    ours, theirs = (rows_of_file(tmp_path / folder / "layover.db") for folder in ("1", "3"))
    for table in ours.keys() - {"locks", "migrations", "replies", "progress", *INDEXED_ANEW}:
        assert _comparable(ours[table]) == _comparable(theirs[table]), table
        assert ours[table], f"nothing is in {table}"
        for column in ours[table][0].keys() - {"owner"}:
            assert any(row[column] not in (None, "") for row in ours[table]), f"nothing is in {table}.{column}"


async def test_every_column_is_the_same_on_two_servers(stores: Stores) -> None:
    source = await stores.open("memory")
    await fill(source)
    addresses = [databases.address() for _ in range(2)]
    first, last = [await stores.opened(PostgresStore(address)) for address in addresses]
    await copied(source, first)
    await copied(first, last)
    ours, theirs = [await rows_of_schema(address) for address in addresses]
    for table in ours.keys() - {"locks", "migrations", "instances", "replies", "progress", *INDEXED_ANEW}:
        assert _comparable(ours[table]) == _comparable(theirs[table]), table
        assert ours[table], f"nothing is in {table}"


def _comparable(rows: list[dict[str, object]]) -> list[str]:
    """Return rows without what is each database's own: the numbers of versions, and how it writes an input."""
    found = []
    for row in rows:
        kept = {name: value for name, value in row.items() if name != "version_id"}
        if "document" in kept:
            del kept["id"]
        if isinstance(document := kept.get("input"), bytes):
            kept["input"] = msgspec.json.encode(msgspec.json.decode(document), order="sorted")
        found.append(repr(kept))
    return sorted(found)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
async def test_search_terms_stay_behind_and_a_copy_is_marked_to_be_indexed(
    stores: Stores, ours: str, theirs: str
) -> None:
    source, target = await stores.open(ours), await stores.open(theirs)
    await fill(source)
    marked = await source.search_terms.list_unindexed(None, 10)
    heads = [head for head in await source.queries.read_heads([id_ for _, id_ in marked]) if head is not None]
    terms = terms_of([(("input",), {"size": 3})])
    indexed = [ExecutionTerms(execution_id=one.execution_id, last_seq=one.last_seq, terms=terms) for one in heads]
    assert await source.search_terms.save(indexed) == len(indexed) > 0
    await copied(source, target)
    everything = [uid(n) for n in range(1, 10)]
    assert {id_ for _, id_ in await target.search_terms.list_unindexed(None, 10)} == set(everything)
    assert await target.search_terms.read(everything) == [None] * 9


async def test_replies_stay_behind(stores: Stores) -> None:
    source, target = await stores.open("sqlite"), await stores.open("sqlite")
    await fill(source)
    await copied(source, target)
    request = IdempotentReply(scope="ann", key="r1", fingerprint=b"f", until=10**13)
    assert await source.idempotency.begin(request, 800) is not None
    assert await target.idempotency.begin(request, 800) is None


async def test_an_empty_database_is_copied_too(stores: Stores) -> None:
    assert await copied(await stores.open("memory"), await stores.open("sqlite")) == 0


async def test_logs_lie_in_the_partitions_of_their_weeks(stores: Stores) -> None:
    week = 604_800_000
    source = await stores.open("memory")
    for n in (1, 2, 3):
        await create(source, n, new=NewExecution(workflow="order", hash="h1", created_at=n * 10 * week))
    address = databases.fresh()
    await copied(source, await stores.opened(PostgresStore(address, clock=lambda: 100 * week)))
    schema = schema_of(address)
    assert await ask(address, f"SELECT count(*) FROM {schema}.events_rest") == 0  # noqa: S608 - a name of ours
    assert await ask(address, f"SELECT count(*) FROM {schema}.events_20") == 1  # noqa: S608 - the same


# Nobody drives in a copy


@pytest.mark.parametrize("theirs", DATABASES)
async def test_what_was_driven_is_due_at_once_and_its_driver_is_fenced(stores: Stores, theirs: str) -> None:
    source, target = await stores.open("memory"), await stores.open(theirs)
    await create(source)
    was = await head(source)
    await copied(source, target)
    assert await head(target) == replace(was, owner=None, wake_at=100)
    assert (await commit(target, following(was))).verdict == "fenced"
    (claimed,) = (await claim(target, 100, instance=OTHER)).claimed
    assert (claimed.head.epoch, claimed.head.last_seq) == (was.epoch + 1, was.last_seq)
    assert (await commit(target, following(was))).verdict == "fenced"


async def test_what_was_driven_is_due_since_its_first_unheard_command(stores: Stores) -> None:
    """Clocks may differ: a command can have come, by its own time, before what was written before it."""
    source, target = await stores.open("memory"), await stores.open("sqlite")
    await create(source)
    for n, now in enumerate((80, 90, 70)):
        await enqueue(source, source_n=n, now=now)
    await copied(source, target)
    assert (await head(target)).wake_at == 70


async def test_a_closed_execution_is_never_due_though_it_had_an_owner(stores: Stores) -> None:
    source, target = await stores.open("memory"), await stores.open("sqlite")
    await create(source)
    await go_on(source, status="completed", closed=ClosedExecution(), rest=Rest())
    await claim(source, 500, n=1)
    assert (await head(source)).owner == ME
    await copied(source, target)
    copy_of_it = await head(target)
    assert (copy_of_it.owner, copy_of_it.wake_at) == (None, None)


async def test_what_rests_is_due_when_it_was(stores: Stores) -> None:
    source, target = await stores.open("memory"), await stores.open("sqlite")
    await fill(source)
    await copied(source, target)
    due = set(ids(await claim(source, 1_000)))
    assert due == {uid(2), uid(5)}
    assert set(ids(await claim(target, 1_000))) == due | {uid(1), uid(8), uid(9)}


# Writing


@pytest.mark.parametrize("theirs", DATABASES)
async def test_nothing_is_written_if_one_of_it_is_there(stores: Stores, theirs: str) -> None:
    source, target = await stores.open("memory"), await stores.open(theirs)
    await fill(source)
    await create(target, 5)
    before = await truth(target)
    executions = await source.database_copy.read_executions([uid(n) for n in (1, 2, 5)])
    with pytest.raises(StoreError):
        await target.database_copy.write_batch(CopiedBatch(executions=tuple(executions)))
    with pytest.raises(StoreError):
        await target.database_copy.write_batch(
            CopiedBatch(versions=tuple(await source.definitions.list_versions("order")))
        )
    await target.signals.add(signal("s2"))
    with pytest.raises(StoreError):
        await target.database_copy.write_batch(
            CopiedBatch(signals=tuple(await source.database_copy.read_signals("", 10)))
        )
    rates = tuple(await source.database_copy.read_rates("", 10))
    await target.database_copy.write_batch(CopiedBatch(rates=rates))
    with pytest.raises(StoreError):
        await target.database_copy.write_batch(CopiedBatch(rates=rates))
    assert await truth(target) == {**before, "undispatched": [signal("s2")]}


@pytest.mark.parametrize("theirs", DATABASES)
async def test_nothing_of_what_is_shared_is_written_if_one_of_it_is_there(stores: Stores, theirs: str) -> None:
    target = await stores.open(theirs)
    workflow_statuses = [WorkflowStatus(workflow=name, state="inactive", changed_at=1) for name in "abc"]
    await target.database_copy.write_batch(
        CopiedBatch(keys=(key(2),), workflow_statuses=(workflow_statuses[1],), audit=(entry(2),))
    )
    before = await truth(target)
    for batch in (
        CopiedBatch(keys=(key(1), key(2))),
        CopiedBatch(keys=(key(1), replace(key(3), hash=key(2).hash))),
        CopiedBatch(workflow_statuses=tuple(workflow_statuses)),
        CopiedBatch(audit=(entry(1), entry(2))),
    ):
        with pytest.raises(StoreError):
            await target.database_copy.write_batch(batch)
    assert await truth(target) == before


@pytest.mark.parametrize("theirs", DATABASES)
async def test_an_execution_without_its_version_is_refused(stores: Stores, theirs: str) -> None:
    source, target = await stores.open("memory"), await stores.open(theirs)
    await fill(source)
    with pytest.raises(StoreError) as refused:
        await target.database_copy.write_batch(
            CopiedBatch(executions=tuple(await source.database_copy.read_executions([uid(1)])))
        )
    assert refused.value.code == "unknown_version"
    assert await target.queries.find_execution(uid(1)) is None


async def test_one_that_cannot_be_kept_is_named(stores: Stores) -> None:
    source, target = await stores.open("memory"), await stores.open("postgres")
    for n in (1, 2, 3):
        correlation_id = "a\0b" if n == 2 else None
        await create(
            source, n, new=NewExecution(workflow="order", hash="h1", created_at=1, correlation_id=correlation_id)
        )
    with pytest.raises(CannotBeKept, match=uid(2)):
        await copied(source, target)
    assert await target.queries.find_execution(uid(3)) is None


@pytest.mark.parametrize("kind", DATABASES)
async def test_executions_are_read_in_order_and_with_their_sizes(stores: Stores, kind: str) -> None:
    store = await stores.open(kind)
    everything = [uid(n) for n in range(1, 10)]
    await fill(store)
    first = await store.database_copy.read_sizes("", 4)
    assert [one.execution_id for one in first] == everything[:4]
    assert first[0].size > len(LARGE)
    assert [
        one.execution_id for one in await store.database_copy.read_sizes(first[-1].execution_id, 100)
    ] == everything[4:]
    assert await store.database_copy.read_sizes("ffffffff-ffff-ffff-ffff-ffffffffffff", 100) == []
    assert [whole.id for whole in await store.database_copy.read_executions([uid(3), uid(77), uid(1), uid(3)])] == [
        uid(1),
        uid(3),
    ]
    assert [kept.signal.id for kept in await store.database_copy.read_signals("s1", 1)] == ["s2"]


@pytest.mark.parametrize("kind", DATABASES)
async def test_the_first_and_the_last_of_all_ids_are_found(stores: Stores, kind: str) -> None:
    store = await stores.open(kind)
    await store.definitions.save("order", "h1", b"{}", 50)
    ends = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
    for id_ in ends:
        await commit(store, replace(creation(), execution_id=id_))
    assert [one.execution_id for one in await store.database_copy.read_sizes("", 100)] == ends


class Watched(MemoryStore):
    """A store that remembers how much was written at once."""

    def __init__(self, fails_at: int = 0) -> None:
        super().__init__()
        self.written: list[CopiedBatch] = []
        self.fails_at = fails_at
        self.database_copy = _WatchedCopy(self, self._session)


class _WatchedCopy(MemoryDatabaseCopy):
    def __init__(self, store: Watched, session: MemorySession) -> None:
        super().__init__(session)
        self._store = store

    async def write_batch(self, batch: CopiedBatch) -> None:
        store = self._store
        if len(store.written) + 1 == store.fails_at:
            raise StoreUnavailable("It is gone.")
        await super().write_batch(batch)
        store.written.append(batch)


async def test_no_more_is_written_at_once_than_has_room_in_memory(stores: Stores) -> None:
    source, target = await stores.open("memory"), Watched()
    await source.definitions.save("order", "h1", b"{}", 50)
    for n in range(450):
        events = LARGE if n < 12 else b"[]"
        await commit(source, replace(creation(n), events=events))
    await stores.opened(target)
    await copied(source, target)
    executions = [batch.executions for batch in target.written if batch.executions]
    assert sum(map(len, executions)) == 450
    for batch in executions:
        assert len(batch) <= 200
        assert sum(len(entry.events) for whole in batch for entry in whole.entries) < 4_000_000


async def test_everything_is_counted(stores: Stores) -> None:
    source = await stores.open("memory")
    await fill(source)
    counted = await count(source, quietly)
    assert (counted.executions, counted.open, counted.versions, counted.signals) == (9, 8, 4, 3)
    assert (counted.points, counted.messages) == (4, 3)
    assert (counted.triggers, counted.trigger_inputs, counted.trigger_events) == (3, 2, 5)
    assert counted.trigger_tokens == 2
    assert counted.sessions == 2
    assert (counted.destinations, counted.deliveries, counted.people, counted.other_messages) == (2, 3, 1, 1)
    assert (counted.batches, counted.batch_items) == (2, 3)
    assert (counted.seals, counted.seal_keys, counted.audit_documents) == (1, 1, 1)
    assert (await compare(source, source, quietly)).tally == counted


# Going on with a copy that was interrupted


async def test_a_copy_is_gone_on_with_wherever_it_was_interrupted(stores: Stores) -> None:
    source = await stores.open("memory")
    await fill(source)
    everything = Watched()
    await stores.opened(everything)
    await copied(source, everything)
    for n in range(len(everything.written)):
        target = Watched(fails_at=n + 1)
        await stores.opened(target)
        with pytest.raises(StoreUnavailable):
            await copy(source, target, CopyProgress(), quietly)
        target.fails_at = 0
        await copy(source, target, await find_progress(source, target, quietly), quietly)
        assert (await compare(source, target, quietly)).differences == ()


async def test_only_the_rest_is_written(stores: Stores) -> None:
    source, target = await stores.open("memory"), await stores.open("sqlite")
    await fill(source)
    await target.database_copy.write_batch(CopiedBatch(versions=tuple(await source.definitions.list_versions("order"))))
    await target.database_copy.write_batch(
        CopiedBatch(
            executions=tuple(as_moved(whole) for whole in await source.database_copy.read_executions([uid(1), uid(2)]))
        )
    )
    after = await find_progress(source, target, quietly)
    assert after.execution == uid(2)
    assert await copy(source, target, after, quietly) == 7
    assert (await compare(source, target, quietly)).differences == ()
    after = await find_progress(source, target, quietly)
    assert after.execution == uid(9)
    assert after.shared == {
        "signals": "s3",
        "rates": "rate",
        "keys": "k2",
        "sessions": "s2",
        "workflow_statuses": "refund",
        "triggers": "refund/nightly",
        "trigger_inputs": f"{uid(900)} i2",
        "trigger_tokens": "t2",
        "trigger_events": f"{uid(902)} 1",
        "destinations": "mail",
        "deliveries": uid(803),
        "people": "ann",
        "views": '["ann","mine"]',
        "definition_texts": "order 1",
        "user_settings": "ann",
        "batches": f"5 {uid(901)}",  # the newest come first
        "batch_items": f"{uid(902)} 3",
        "other_messages": f"{uid(900)} 7 notify",
        "audit": f"100 {entry(9).id}",  # the newest come first
        "seals": "1",
        "seal_keys": "1",
        "audit_documents": hashlib.sha256(b'{"title":"\xc3\xbc"}').hexdigest(),
    }
    assert await copy(source, target, after, quietly) == 0


async def _another_version(store: Store) -> None:
    await store.definitions.save("other", "o1", b"{}", 10)


async def _a_version_that_differs(store: Store) -> None:
    await store.definitions.save("order", "h9", b"{}", 10)


async def _another_execution(store: Store) -> None:
    await create(store, 77)


async def _another_signal(store: Store) -> None:
    await store.signals.add(signal("foreign"))


async def _a_signal_that_differs(store: Store) -> None:
    await store.signals.add(signal("s1", key="another"))


async def _another_key(store: Store) -> None:
    await store.database_copy.write_batch(CopiedBatch(keys=(key(7),)))


async def _a_key_that_differs(store: Store) -> None:
    await store.database_copy.write_batch(CopiedBatch(keys=(key(1),)))


async def _another_workflow_status(store: Store) -> None:
    await store.workflow_status.set_status(WorkflowStatus(workflow="other", state="inactive", changed_at=10))


async def _another_audit_entry(store: Store) -> None:
    await store.database_copy.write_batch(CopiedBatch(audit=(entry(7),)))


FOREIGN = [
    _another_version,
    _a_version_that_differs,
    _another_execution,
    _another_signal,
    _a_signal_that_differs,
    _another_key,
    _a_key_that_differs,
    _another_workflow_status,
    _another_audit_entry,
]


@pytest.mark.parametrize("write", FOREIGN)
async def test_what_holds_something_else_is_no_copy(stores: Stores, write: Callable[[Store], object]) -> None:
    source, target = await stores.open("memory"), await stores.open("sqlite")
    await fill(source)
    await write(target)  # type: ignore[misc]  # all of them are asynchronous
    before = await truth(target)
    with pytest.raises(NotACopy):
        await find_progress(source, target, quietly)
    with pytest.raises(NotEmpty):
        await check_empty(target)
    assert await truth(target) == before


async def test_a_copy_that_has_been_used_is_no_copy_any_more(stores: Stores) -> None:
    source, target = await stores.open("memory"), await stores.open("sqlite")
    await fill(source)
    await copied(source, target)
    await find_progress(source, target, quietly)
    await claim(target, 1_000)
    with pytest.raises(NotACopy, match=uid(1)):
        await find_progress(source, target, quietly)


# Comparing

CHANGES = [
    "UPDATE heads SET epoch = epoch + 1 WHERE workflow = 'refund'",
    "UPDATE heads SET missing = NULL WHERE missing IS NOT NULL",
    "UPDATE executions SET input = NULL WHERE input IS NOT NULL",
    "UPDATE executions SET input = replace(input, '1.50', '1.51') WHERE input IS NOT NULL",
    "UPDATE executions SET tags = NULL WHERE tags IS NOT NULL",
    "UPDATE executions SET finished_at = finished_at + 1 WHERE finished_at IS NOT NULL",
    "UPDATE events SET body = replace(body, '1e-300', '1.0e-300')",
    "DELETE FROM events WHERE seq = 4",
    "UPDATE snapshots SET seq = seq + 1",
    "UPDATE pause_points SET closed_at = closed_at + 1 WHERE closed_at IS NOT NULL",
    "UPDATE pause_points SET schema = NULL",
    "UPDATE commands SET source_n = 7 WHERE source_n = 2",
    "DELETE FROM outbox WHERE n = 3",
    "UPDATE outbox SET due_at = due_at + 1 WHERE n = 3",
    "DELETE FROM tokens WHERE hash = CAST('other' AS BLOB)",
    "DELETE FROM links WHERE hash = CAST('other' AS BLOB)",
    "UPDATE links SET revoked_at = NULL WHERE revoked_at IS NOT NULL",
    "DELETE FROM waits WHERE key = ''",
    "UPDATE signals SET dispatched = 1",
    "DELETE FROM signals WHERE id = 's3'",
    "UPDATE places SET rank = rank + 1",
    "UPDATE rates SET used_until = used_until + 1",
    "DELETE FROM rates",
    "UPDATE versions SET document = '' WHERE number = 2",
    "DELETE FROM versions WHERE number = 3",
    "UPDATE keys SET scopes = NULL WHERE scopes IS NOT NULL",
    "UPDATE keys SET ended_at = NULL WHERE ended_at IS NOT NULL",
    "DELETE FROM keys WHERE id = 'k2'",
    "UPDATE standings SET reason = ''",
    "DELETE FROM standings WHERE workflow = 'refund'",
    "UPDATE audit SET details = CAST('{}' AS BLOB) WHERE at = 500",
    "DELETE FROM audit WHERE at = 400",
    "UPDATE audit SET salt = x'00' WHERE at = 100",
    "UPDATE audit SET seal = NULL WHERE at = 100",
    "UPDATE audit_seals SET signature = NULL",
    "DELETE FROM audit_seals",
    "UPDATE audit_keys SET public = x'00'",
    "UPDATE audit_documents SET body = x'00'",
]


@pytest.mark.parametrize("change", CHANGES)
async def test_whatever_differs_is_noticed(stores: Stores, tmp_path: Path, change: str) -> None:
    source, target = await stores.open("memory"), await stores.open("sqlite")
    await fill(source)
    await copied(source, target)
    db = apsw.Connection(str(tmp_path / "1" / "layover.db"))
    db.execute(change)
    assert db.changes() > 0
    db.close()
    compared = await compare(source, target, quietly)
    assert {difference.code for difference in compared.differences} == {"copy_differs"}


async def test_one_too_many_is_noticed(stores: Stores) -> None:
    source, target = await stores.open("memory"), await stores.open("sqlite")
    await fill(source)
    await copied(source, target)
    await create(target, 77)
    (difference,) = (await compare(source, target, quietly)).differences
    assert difference.message == "The target holds 10 executions, the source 9."


async def test_progress_is_reported_for_each_part(stores: Stores) -> None:
    source, target = await stores.open("memory"), await stores.open("memory")
    await fill(source)
    told: list[CopyStep] = []
    await copy(source, target, CopyProgress(), told.append)
    await compare(source, target, told.append)
    await find_progress(source, target, told.append)
    last = {one.part: (one.executions, one.total) for one in told}
    assert last == {"copying": (9, 9), "comparing": (9, 9), "looking": (9, 9)}
