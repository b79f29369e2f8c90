"""The search index on PostgreSQL beside instances of an earlier release, which know nothing of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.core.search_terms import terms_of
from layover.ports.records import Rest
from layover.ports.search_records import ExecutionTerms
from layover.stores.postgres import PostgresStore
from tests.servers.postgres import connect, run, schema_of
from tests.stores.conformance import ME, create, go_on, uid

if TYPE_CHECKING:
    from tests.servers.postgres import Databases

TERMS = terms_of([(("input",), {"a": 1, "b": "x"})])


async def indexed(store: PostgresStore, n: int) -> None:
    """Create an execution that rests and is in the index."""
    await create(store, n)
    await go_on(store, n, rest=Rest())
    (head,) = await store.queries.read_heads([uid(n)])
    assert head is not None
    one = ExecutionTerms(execution_id=uid(n), last_seq=head.last_seq, terms=TERMS)
    assert await store.search_terms.save([one]) == 1


async def test_what_an_earlier_release_writes_is_marked(postgres: Databases) -> None:
    address = postgres.address()
    store = PostgresStore(address)
    await store.open(ME)
    try:
        for n in (1, 2, 3):
            await indexed(store, n)
        assert await store.search_terms.list_unindexed(None, 9) == []
        heads = f"{schema_of(address)}.heads"
        for n, change in (
            (1, "last_seq = last_seq + 1, status = 'completed'"),
            (2, "last_seq = last_seq + 1, owner = NULL"),
            (3, "last_seq = last_seq + 1, status = 'running', owner = 'somebody'"),  # found without the index
        ):
            await run(address, f"UPDATE {heads} SET {change} WHERE execution_id = '{uid(n)}'")  # noqa: S608 - ours
        assert {id_ for _, id_ in await store.search_terms.list_unindexed(None, 9)} == {uid(1), uid(2)}
    finally:
        await store.close()


async def test_terms_go_with_a_head_that_an_earlier_release_deletes(postgres: Databases) -> None:
    address = postgres.address()
    store = PostgresStore(address)
    await store.open(ME)
    schema = schema_of(address)
    try:
        for n in (1, 2):
            await indexed(store, n)
        await run(address, f"DELETE FROM {schema}.heads WHERE execution_id = '{uid(1)}'")  # noqa: S608 - ours
        db = await connect(address)
        try:
            for table, count in (("search_terms", len(TERMS)), ("indexed_executions", 1)):
                rows = await db.fetch(f"SELECT execution_id FROM {schema}.{table}")  # noqa: S608 - ours
                assert [str(row[0]) for row in rows] == [uid(2)] * count
        finally:
            await db.close()
    finally:
        await store.close()
