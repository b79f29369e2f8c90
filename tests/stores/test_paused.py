"""Since when an execution is paused, and the list of those that are: the one paused longest comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.errors import StoreError
from layover.ports.records import ClosedExecution, NewExecution, Rest
from layover.ports.view_records import PausedFilter
from tests.stores.conformance import claim, commit, create, creation, enqueue, go_on, head, uid

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionStatus
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow


async def paused(store: Store, **wanted: object) -> list[int]:
    rows = await store.queries.list_paused(replace(PausedFilter(), **wanted))
    return [int(row.head.execution_id[:8], 16) for row in rows]


async def begin(store: Store, n: int, at: int, *, workflow: str = "order", status: ExecutionStatus = "paused") -> None:
    new = NewExecution(workflow=workflow, hash=f"h-{workflow}", created_at=100 + n % 3)
    await store.definitions.save(workflow, new.hash, b"{}", 50)
    append = replace(creation(n, new=new, rest=Rest()), at=at, status=status)
    assert (await commit(store, append)).verdict == "passed"


async def test_an_execution_is_paused_since_its_status_became_so(store: Store) -> None:
    assert (await create(store)).paused_at is None
    assert (await go_on(store, at=300, status="pausing")).paused_at is None
    assert (await go_on(store, at=400, status="paused")).paused_at == 400
    assert (await go_on(store, at=500, status="paused")).paused_at == 400
    assert (await go_on(store, at=600, status="paused", rest=Rest(missing=("mail",)))).paused_at == 400
    await claim(store, 700, n=1)
    assert (await go_on(store, at=700, status="paused", rest=Rest())).paused_at == 400
    assert (await head(store)).paused_at == 400


@pytest.mark.parametrize("missing", [(), ("mail",)])
async def test_an_execution_paused_again_has_the_later_time(store: Store, missing: tuple[str, ...]) -> None:
    await create(store)
    assert (await go_on(store, at=400, status="paused", rest=Rest())).paused_at == 400
    await claim(store, 500, n=1)
    rest = Rest(paused_at=450, missing=missing)
    assert (await go_on(store, at=500, status="paused", rest=rest)).paused_at == 450
    await claim(store, 600, n=1)
    assert (await go_on(store, at=600, status="running", rest=rest)).paused_at is None


@pytest.mark.parametrize("rest", [None, Rest(), Rest(wake_at=900), Rest(missing=("mail",))], ids=repr)
async def test_it_is_paused_no_longer_once_it_goes_on_and_anew_when_it_is_again(
    store: Store, rest: Rest | None
) -> None:
    await begin(store, 1, 400)
    assert (await head(store)).paused_at == 400
    await claim(store, 500, n=1)
    assert (await head(store)).paused_at == 400
    assert (await go_on(store, at=500, status="running", rest=rest)).paused_at is None
    await claim(store, 600, n=1)
    assert (await go_on(store, at=600, status="paused", rest=rest)).paused_at == 600
    await claim(store, 700, n=1)
    ended = await go_on(store, at=700, status="cancelled", closed=ClosedExecution(), rest=Rest())
    assert ended.paused_at is None


async def test_a_claim_returns_since_when_an_execution_is_paused(store: Store) -> None:
    await begin(store, 1, 400)
    await enqueue(store, 1, now=450)
    (claimed,) = (await claim(store, 500)).claimed
    assert claimed.head.paused_at == 400
    (loaded,) = await store.queries.load([uid(1)])
    assert loaded is not None
    assert loaded.head == claimed.head


async def test_an_append_that_does_not_pass_pauses_nothing(store: Store) -> None:
    was = await create(store)
    outcome = await commit(store, replace(creation(1), new=None, expected_seq=7, status="paused"))
    assert outcome.verdict == "fenced"
    assert await head(store) == was


async def test_the_one_paused_longest_comes_first(store: Store) -> None:
    for n, at in ((1, 700), (2, 500), (3, 600), (4, 500), (5, 900)):
        await begin(store, n, at, workflow="refund" if n % 2 else "order")
    await begin(store, 6, 400, status="waiting")
    assert await paused(store) == [2, 4, 3, 1, 5]
    assert await paused(store, workflow="refund") == [3, 1, 5]
    assert await paused(store, workflow="order") == [2, 4]
    assert await paused(store, workflow="nothing") == []
    await claim(store, 950, n=3)
    await go_on(store, 3, at=950, status="running")
    await go_on(store, 3, at=960, status="paused", rest=Rest())
    assert await paused(store) == [2, 4, 1, 5, 3]
    await claim(store, 970, n=4)
    await go_on(store, 4, at=970, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await paused(store) == [2, 1, 5, 3]


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
@pytest.mark.parametrize("workflow", [None, "order", "refund"])
async def test_pages_have_no_gap_and_no_double(store: Store, workflow: str | None, limit: int) -> None:
    for n in range(1, 16):
        await begin(store, n, 500 - n % 4, workflow="refund" if n % 3 else "order")
    wanted = PausedFilter(workflow=workflow, limit=limit)
    rows: list[ExecutionRow] = []
    while found := await store.queries.list_paused(wanted):
        assert len(found) <= limit
        rows += found
        last = found[-1].head
        assert last.paused_at is not None
        wanted = replace(wanted, after=(last.paused_at, last.execution_id))
    heads = [row.head for row in rows]
    assert all(workflow in (None, one.workflow) for one in heads)
    assert [one.execution_id for one in heads] == [
        uid(n)
        for n in sorted(range(1, 16), key=lambda n: (500 - n % 4, n))
        if workflow in (None, "refund" if n % 3 else "order")
    ]
    assert rows == [await store.queries.find_execution(one.execution_id) for one in heads]


async def test_a_cursor_need_not_be_a_row_but_has_an_id(store: Store) -> None:
    await begin(store, 1, 500)
    await begin(store, 2, 600)
    assert await paused(store, after=(500, uid(0))) == [1, 2]
    assert await paused(store, after=(500, uid(1))) == [2]
    assert await paused(store, after=(550, uid(9)), workflow="order") == [2]
    assert await paused(store, after=(700, uid(0))) == []
    assert await paused(store, limit=0) == []
    assert await paused(store, limit=-1) == []
    with pytest.raises(StoreError) as refused:
        await store.queries.list_paused(PausedFilter(after=(500, "no id")))
    assert refused.value.code == "malformed_id"


async def test_a_row_says_which_version_it_is_of(store: Store) -> None:
    await store.definitions.save("order", "h1", b"{}", 50)
    await store.definitions.save("refund", "h2", b"{}", 55)
    await store.definitions.save("order", "h2", b"[]", 60)
    for n, (workflow, hash_) in enumerate((("order", "h1"), ("order", "h2"), ("refund", "h2")), 1):
        new = NewExecution(workflow=workflow, hash=hash_, created_at=100 + n)
        assert (await commit(store, replace(creation(n, new=new), status="paused"))).verdict == "passed"
    assert [row.version for row in await store.queries.list_paused(PausedFilter())] == [1, 2, 1]
    found = [await store.queries.find_execution(uid(n)) for n in (1, 2, 3)]
    assert [row.version for row in found if row is not None] == [1, 2, 1]
