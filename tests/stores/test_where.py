"""Executions are found by what they began with, in every store alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.input_index import MOST_BYTES
from layover.ports.errors import StoreError
from layover.ports.records import ClosedExecution, NewExecution, Rest
from layover.ports.view_records import ExecutionFilter
from tests.stores.conformance import commit, create, creation, go_on, step, uid

if TYPE_CHECKING:
    from layover.ports.store import Store

# By the number of the execution; the higher, the newer.
INPUTS = {
    1: b'{"customer": {"tier": "gold", "id": 7}, "total": 12}',
    2: b'{"customer": {"tier": "silver", "id": 7}, "total": 12.0}',
    3: b'{"customer": {"tier": "gold"}, "items": [{"sku": "A-1", "n": 2}, {"sku": "B-2", "n": 1}]}',
    4: b'{"total": true}',
    5: b'{"total": 0.1, "total": 12}',
    6: None,
    7: '{"customer": {"tier": "größe"}, "note": null}'.encode(),
}


async def began(store: Store, inputs: dict[int, bytes | None] = INPUTS) -> None:
    """Write executions that began with something, each a little later than the one before."""
    await store.definitions.save("order", "h1", b"{}", 50)
    for n, given in inputs.items():
        parent, tags = uid(90 + n % 2), (("odd",) if n % 2 else ())
        new = NewExecution(workflow="order", hash="h1", created_at=100 + n, parent_id=parent, tags=tags)
        append = replace(creation(n, new=new), input=given, status="paused" if n > 4 else "running")
        assert (await commit(store, append)).verdict == "passed"


async def found(store: Store, where: bytes, **others: object) -> list[int]:
    rows = await store.queries.list_executions(replace(ExecutionFilter(where=where), **others))
    return [row.info.created_at - 100 for row in rows]


@pytest.mark.parametrize(
    ("where", "numbers"),
    [
        (b'{"customer": {"tier": "gold"}}', [3, 1]),
        (b'{"customer": {"tier": "gold"}, "total": 12}', [1]),
        (b'{"total": 12}', [5, 2, 1]),
        (b'{"total": 1.2e1}', [5, 2, 1]),
        (b'{"total": true}', [4]),
        (b'{"total": 1}', []),
        (b'{"total": "12"}', []),
        (b'{"customer": {}}', [7, 3, 2, 1]),
        (b'{"items": [{"sku": "B-2"}]}', [3]),
        (b'{"items": [{"sku": "B-2", "n": 2}]}', []),
        (b'{"items": [{"n": 1}, {"n": 2}]}', [3]),
        (b'{"items": []}', [3]),
        (b'{"note": null}', [7]),
        (b'{"missing": null}', []),
        ('{"customer": {"tier": "größe"}}'.encode(), [7]),
        (b'{"customer": {"tier": "gr\\u00f6\\u00dfe"}}', [7]),
    ],
    ids=repr,
)
async def test_an_execution_is_found_by_what_it_began_with(store: Store, where: bytes, numbers: list[int]) -> None:
    await began(store)
    assert await found(store, where) == numbers


async def test_what_is_asked_besides_counts_too(store: Store) -> None:
    await began(store)
    where = b'{"total": 12}'
    assert await found(store, where, workflow="order") == [5, 2, 1]
    assert await found(store, where, workflow="refund") == []
    assert await found(store, where, status=("paused",)) == [5]
    assert await found(store, where, status=("running", "failed")) == [2, 1]
    assert await found(store, where, tag="odd") == [5, 1]
    assert await found(store, where, tag="even") == []
    assert await found(store, where, parent_id=uid(90)) == [2]
    assert await found(store, where, parent_id=uid(91)) == [5, 1]
    assert await found(store, where, parent_id=uid(91), tag="odd", status=("running",)) == [1]
    assert await found(store, where, limit=2) == [5, 2]
    assert await found(store, where, after=(105, uid(5))) == [2, 1]
    assert await found(store, where, after=(105, uid(5)), limit=1) == [2]
    assert await found(store, where, limit=0) == []


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"no JSON",
        b"{}",
        b"[1]",
        b"7",
        b'{"a": "\\u0000", "total": 12}',
        b'{"a": "\\ud800", "total": 12}',
        b'{"a": "\xff", "total": 12}',
        b'{"a": 1e999999, "total": 12}',
        b'{"a": 1e-999999, "total": 12}',
        b'{"a": ' + b"9" * 5_000 + b', "total": 12}',
        b'{"a": ' + b"[" * 40 + b"]" * 40 + b', "total": 12}',
        b'{"a": ' + b"[" * 4_000 + b"]" * 4_000 + b', "total": 12}',
        b'{"total": 12, "a": "' + b"x" * MOST_BYTES + b'"}',
    ],
    ids=lambda given: given[:20].decode(errors="replace"),
)
async def test_what_cannot_be_kept_keeps_no_execution_from_beginning(store: Store, given: bytes) -> None:
    await began(store, {1: given, 2: b'{"total": 12}'})
    assert await found(store, b'{"total": 12}') == [2]
    assert [row.info.created_at for row in await store.queries.list_executions(ExecutionFilter())] == [102, 101]


@pytest.mark.parametrize(
    ("where", "fault"),
    [
        (b"{}", "it is not an object with members"),
        (b"[]", "it is not an object with members"),
        (b"{", "it is not valid JSON"),
        (b'{"a": "\\u0000"}', "the character U"),
        (b'{"a": 1e9999}', "too large"),
        (b'{"a": "' + b"x" * MOST_BYTES + b'"}', "8,192"),
        (b'{"a": ' + b"[" * 32 + b"]" * 32 + b"}", "deeper than 32"),
    ],
    ids=lambda value: value[:20].decode() if isinstance(value, bytes) else "",
)
@pytest.mark.parametrize("parent_id", [None, uid(9)])
async def test_what_no_store_keeps_cannot_be_looked_for(
    store: Store, where: bytes, fault: str, parent_id: str | None
) -> None:
    with pytest.raises(StoreError, match=fault) as refused:
        await store.queries.list_executions(ExecutionFilter(where=where, parent_id=parent_id))
    assert refused.value.code == "invalid_filter"


async def test_what_it_began_with_stays_to_the_end_and_goes_with_it(store: Store) -> None:
    await began(store, {1: INPUTS[1]})
    await go_on(store, input=b'{"other": 1}')  # only a creation has one
    await go_on(store, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await found(store, b'{"total": 12}') == [1]
    assert await found(store, b'{"other": 1}') == []
    assert await store.retention.purge([uid(1)]) == 1
    assert await found(store, b'{"total": 12}') == []
    await create(store, new=NewExecution(workflow="order", hash="h1", created_at=101))
    assert await found(store, b'{"total": 12}') == []


async def test_a_second_creation_with_an_id_does_not_change_the_index(store: Store) -> None:
    await began(store, {1: INPUTS[1]})
    again = replace(creation(1), input=b'{"other": 1}')
    assert (await commit(store, again)).verdict == "exists"
    assert await found(store, b'{"other": 1}') == []
    assert await found(store, b'{"total": 12}') == [1]


async def test_a_group_begins_with_and_without_inputs(store: Store) -> None:
    await began(store, {1: None})
    group = [
        *(replace(creation(n), input=b'{"n": %d}' % n if n % 2 else None) for n in range(2, 6)),
        replace(step(1), input=b'{"n": 3}'),
    ]
    assert [outcome.verdict for outcome in await store.appends.commit(group)] == ["passed"] * 5
    rows = await store.queries.list_executions(ExecutionFilter(where=b'{"n": 3}'))
    assert [row.head.execution_id for row in rows] == [uid(3)]
