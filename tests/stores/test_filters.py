"""Executions are found by conditions on what they began with, in every store alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.core.conditions import parse_condition
from layover.ports.errors import StoreError
from layover.ports.records import NewExecution
from layover.ports.view_records import ExecutionFilter
from tests.stores.conformance import commit, creation, uid

if TYPE_CHECKING:
    from layover.ports.store import Store

# By the number of the execution; the higher, the newer.
INPUTS = {
    1: b'{"customer": {"tier": "gold", "id": 7}, "total": 12}',
    2: b'{"customer": {"tier": "silver", "id": 7}, "total": 12.50}',
    3: b'{"customer": {"tier": "gold"}, "items": [{"sku": "A-1", "n": 2}, {"sku": "B-2", "n": 1}], "tags": ["x", 1]}',
    4: b'{"total": true, "0": "zero"}',
    5: b'{"total": "12"}',
    6: None,
    7: '{"customer": {"tier": "größe"}, "note": null, "total": 12345678901234567890.1}'.encode(),
    8: b'{"total": -0.0, "note": "half a gold bar"}',
    9: b"[12]",
}


async def began(store: Store, inputs: dict[int, bytes | None] = INPUTS) -> None:
    """Write executions that began with something, each a little later than the one before."""
    await store.definitions.save("order", "h1", b"{}", 50)
    for n, given in inputs.items():
        parent, tags = uid(90 + n % 2), (("odd",) if n % 2 else ())
        new = NewExecution(workflow="order", hash="h1", created_at=100 + n, parent_id=parent, tags=tags)
        append = replace(creation(n, new=new), input=given, status="paused" if n > 4 else "running")
        assert (await commit(store, append)).verdict == "passed"


async def found(store: Store, *texts: str, **others: object) -> list[int]:
    conditions = tuple(map(parse_condition, texts))
    rows = await store.queries.list_executions(replace(ExecutionFilter(conditions=conditions), **others))
    return [row.info.created_at - 100 for row in rows]


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("input.total=12", [1]),
        ("input.total!=12", [8, 7, 5, 4, 3, 2]),
        ("input.total>=12", [7, 2, 1]),
        ("input.total>12", [7, 2]),
        ("input.total>12.5", [7]),
        ("input.total<=12.5", [8, 2, 1]),
        ("input.total<0.1", [8]),
        ("input.total=0", [8]),
        ("input.total=12345678901234567890.1", [7]),
        ("input.total=12345678901234567890", []),
        ('input.total>="12"', [5]),
        ("input.total=true", [4]),
        ("input.customer.tier>gold", [7, 2]),
        ("input.customer.tier<größe", [3, 1]),
        ("input.customer.tier~ol", [3, 1]),
        ("input.customer.tier~ß", [7]),
        ("input.note~gold", [8]),
        ("input.note=null", [7]),
        ("input.note!=null", [8, 5, 4, 3, 2, 1]),
        ("input.customer={}", [7, 3, 2, 1]),
        ("input.items.1.sku=B-2", [3]),
        ("input.items.2.sku!=B-2", [8, 7, 5, 4, 3, 2, 1]),
        ("input.items.-1.sku=B-2", []),
        ("input.items.01.sku=B-2", []),
        ('input.items~{"sku": "A-1"}', [3]),
        ("input.tags~1", [3]),
        ("input.tags~true", []),
        ("input.0=zero", [4]),
        ("input~gold", []),
        ('input={"total": 12}', [1]),
    ],
)
async def test_an_execution_is_found_by_a_condition(store: Store, condition: str, numbers: list[int]) -> None:
    await began(store)
    assert await found(store, condition) == numbers


async def test_all_that_is_asked_counts(store: Store) -> None:
    await began(store)
    assert await found(store, "input.total>=12", "input.total<=12.5") == [2, 1]
    assert await found(store, "input.total>=12", "input.customer.tier=silver") == [2]
    assert await found(store, "input.total!=12", where=b'{"customer": {"tier": "gold"}}') == [3]
    assert await found(store, "input.total!=12", status=("paused",)) == [8, 7, 5]
    assert await found(store, "input.total!=12", tag="odd") == [7, 5, 3]
    assert await found(store, "input.total!=12", parent_id=uid(90)) == [8, 4, 2]
    assert await found(store, "input.total!=12", workflow="refund") == []
    assert await found(store, "input.total!=12", limit=2) == [8, 7]
    assert await found(store, "input.total!=12", after=(107, uid(7)), limit=2) == [5, 4]
    assert await found(store, "input.total!=12", limit=0) == []
    assert await found(store, "input.total!=12", limit=-1) == []


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
async def test_a_list_goes_on_until_it_is_full(store: Store, limit: int) -> None:
    """Where it is read in parts, what fits lies in some of them only."""
    await began(store, {n: b'{"n": %d}' % n if n % 5 else None for n in range(1, 41)})
    fitting = [n for n in range(40, 0, -1) if n % 5 and (n < 8 or n > 33)]
    seen: list[int] = []
    after: tuple[int, str] | None = None
    while rows := await found(store, "input.n!=20", after=after, limit=limit):
        seen += rows
        after = (100 + rows[-1], uid(rows[-1]))
    assert seen == [n for n in range(40, 0, -1) if n % 5]
    assert await found(store, "input.n<8", limit=limit) == [n for n in fitting if n < 8][:limit]
    assert await found(store, "input.n>33", limit=limit) == [n for n in fitting if n > 33][:limit]
    assert await found(store, "input.n>99", limit=limit) == []


@pytest.mark.parametrize("condition", ["output.a=1", "vars.a=1", "trigger=1", "nodes.a=1"])
@pytest.mark.parametrize("limit", [0, 10])
async def test_a_store_looks_for_nothing_but_inputs(store: Store, condition: str, limit: int) -> None:
    with pytest.raises(StoreError, match="nothing but inputs") as refused:
        await found(store, condition, limit=limit)
    assert refused.value.code == "invalid_filter"
