"""Executions found by what few of them share: the same ones in every store, page by page, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from layover.ports.records import ClosedExecution, NewExecution, Rest
from layover.ports.view_records import ExecutionFilter, ExecutionRow
from layover.stores import execution_search, execution_waits
from layover.stores.postgres import paging as postgres_paging
from layover.stores.sqlite import paging as sqlite_paging
from tests.stores.conformance import creation, opened, uid

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.engine.events import PointKind
    from layover.core.engine.state import ExecutionStatus
    from layover.ports.store import Store

_MINUTE = 60_000
_STATUSES: tuple[ExecutionStatus, ...] = ("completed", "failed", "waiting")
_AWAITED: tuple[PointKind | None, ...] = ("form", "timer", None, "signal", "approval")  # of those that wait, in turn


async def many(store: Store) -> list[ExecutionRow]:
    """Write executions that differ in everything that is searched for; return them newest first."""
    for workflow in ("order", "refund"):
        await store.definitions.save(workflow, f"h-{workflow}", b"{}", 50)
    for n in range(1, 31):
        workflow = "order" if n % 3 else "refund"
        created_at = 1_000 * (n % 10)
        new = NewExecution(
            workflow=workflow,
            hash=f"h-{workflow}",
            created_at=created_at,
            user=f"u{n % 4}" if n % 4 else None,
            correlation_id=f"order-{n % 7}" if n % 5 else None,
            tags=("order-1", f"t{n % 3}") if n % 6 == 0 else (),
            parent_id=uid(90) if n % 4 == 0 else None,
        )
        status, kind = _STATUSES[n % 3], None
        if status == "waiting":
            kind = _AWAITED[n // 3 % 5]
            status = "paused" if kind == "signal" else status
        closed = None
        if status not in ("waiting", "paused") and status != "waiting":
            closed = ClosedExecution(outcome="", error_code=f"e{n % 2}" if status == "failed" else "")
        append = replace(
            creation(n, new=new),
            status=status,
            points=(opened(f"p{n}", kind=kind),) if kind is not None else (),
            rest=Rest(wake_at=9_000) if status == "waiting" and kind in (None, "timer") else None,
            closed=closed,
            at=created_at + (n % 5) * _MINUTE,
            resume_count=n % 4 or None,
            input=b'{"n": %d}' % (n % 3),
        )
        await store.appends.commit([append])
    rows = [row for n in range(1, 31) if (row := await store.queries.find_execution(uid(n))) is not None]
    assert len(rows) == 30
    return sorted(rows, key=execution_search.age, reverse=True)


async def walk(store: Store, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """Turn all pages."""
    rows: list[ExecutionRow] = []
    while found := await store.queries.list_executions(wanted):
        assert len(found) <= wanted.limit
        rows += found
        wanted = replace(wanted, after=execution_search.age(found[-1]))
    return rows


def _took(row: ExecutionRow) -> int | None:
    return None if row.finished_at is None else row.finished_at - row.info.created_at


FILTERS: dict[str, tuple[ExecutionFilter, Callable[[ExecutionRow], object]]] = {
    "correlation": (ExecutionFilter(correlation_id="order-3"), lambda r: r.info.correlation_id == "order-3"),
    "another's correlation": (ExecutionFilter(correlation_id="order-"), lambda _: False),
    "error": (ExecutionFilter(error_code="e1"), lambda r: r.closed is not None and r.closed.error_code == "e1"),
    "since": (ExecutionFilter(since=4_000), lambda r: r.info.created_at >= 4_000),
    "until": (ExecutionFilter(until=4_000), lambda r: r.info.created_at < 4_000),
    "between": (ExecutionFilter(since=2_000, until=4_000), lambda r: 2_000 <= r.info.created_at < 4_000),
    "slow": (ExecutionFilter(min_duration=2 * _MINUTE), lambda r: (_took(r) or 0) >= 2 * _MINUTE),
    "longer than nothing": (ExecutionFilter(min_duration=0), lambda r: _took(r) is not None),
    "quick": (ExecutionFilter(max_duration=_MINUTE), lambda r: r.closed is not None and (_took(r) or 0) <= _MINUTE),
    "resumed": (ExecutionFilter(min_resumes=2), lambda r: r.resume_count >= 2),
    "resumed or not": (ExecutionFilter(min_resumes=0), lambda _: True),
    "failed after a resume": (
        ExecutionFilter(status=("failed",), min_resumes=1),
        lambda r: r.head.status == "failed" and r.resume_count > 0,
    ),
    "several": (
        ExecutionFilter(workflow="order", min_resumes=1, until=7_000, status=("completed", "failed")),
        lambda r: (
            r.head.workflow == "order"
            and r.resume_count >= 1
            and r.info.created_at < 7_000
            and r.head.status in ("completed", "failed")
        ),
    ),
    "tag": (ExecutionFilter(tag="t0", min_resumes=2), lambda r: "t0" in r.info.tags and r.resume_count >= 2),
    "parent": (
        ExecutionFilter(parent_id=uid(90), since=3_000),
        lambda r: r.info.parent_id and r.info.created_at >= 3_000,
    ),
    "whole key": (
        ExecutionFilter(q="order-1"),
        lambda r: "order-1" in r.info.tags or r.info.correlation_id == "order-1",
    ),
    "beginning of keys": (ExecutionFilter(q="orde"), lambda r: r.info.correlation_id is not None),
    "whole id": (ExecutionFilter(q=uid(7)), lambda r: r.head.execution_id == uid(7)),
    "beginning of ids": (ExecutionFilter(q=uid(7)[:13].upper()), lambda r: r.head.execution_id == uid(7)),
    "beginning of an id that is too short": (ExecutionFilter(q=uid(7)[:7]), lambda _: False),
    "key of a workflow": (
        ExecutionFilter(q="order-2", workflow="refund"),
        lambda r: r.info.correlation_id == "order-2" and r.head.workflow == "refund",
    ),
    "nothing": (ExecutionFilter(q="order-1%"), lambda _: False),
    "resumed at all": (ExecutionFilter(resumed=True), lambda r: r.resume_count > 0),
    "never resumed": (ExecutionFilter(resumed=False, limit=4), lambda r: r.resume_count == 0),
    "user": (ExecutionFilter(user="u2"), lambda r: r.info.user == "u2"),
    "nobody's": (ExecutionFilter(user="u"), lambda _: False),
    "user's failed ones": (
        ExecutionFilter(user="u1", status=("failed",)),
        lambda r: r.info.user == "u1" and r.head.status == "failed",
    ),
    "definition": (ExecutionFilter(hashes=("h-refund", "h-none")), lambda r: r.info.hash == "h-refund"),
    "no definition": (ExecutionFilter(hashes=()), lambda _: False),
    "on a person": (ExecutionFilter(on=("person",)), lambda r: _awaits(r) in ("form", "approval")),
    "on a form": (ExecutionFilter(on=("form",)), lambda r: _awaits(r) == "form"),
    "on a signal or a timer": (ExecutionFilter(on=("signal", "timer")), lambda r: _awaits(r) in ("signal", "timer")),
    "on a retry": (ExecutionFilter(on=("retry",)), lambda r: r.head.status == "waiting" and _awaits(r) is None),
    "on an operator": (ExecutionFilter(on=("operator",)), lambda r: r.head.status == "paused"),
    "on an operator or a form": (
        ExecutionFilter(on=("operator", "form")),
        lambda r: r.head.status == "paused" or _awaits(r) == "form",
    ),
    "on nothing any more": (ExecutionFilter(on=("timer",), status=("completed", "failed")), lambda _: False),
    "on a form, by a key": (
        ExecutionFilter(on=("form",), q="order-"),
        lambda r: _awaits(r) == "form" and r.info.correlation_id is not None,
    ),
    "on a form, in a workflow": (
        ExecutionFilter(on=("form",), workflow="order", user="u1"),
        lambda r: _awaits(r) == "form" and r.head.workflow == "order" and r.info.user == "u1",
    ),
    "on a person, by its input": (
        ExecutionFilter(on=("person",), where=b'{"n": 2}', until=8_000),
        lambda r: _awaits(r) in ("form", "approval") and _n(r) % 3 == 2 and r.info.created_at < 8_000,
    ),
    "input": (ExecutionFilter(where=b'{"n": 1}', min_resumes=1), lambda r: _n(r) % 3 == 1 and r.resume_count > 0),
    "input of an error": (
        ExecutionFilter(where=b'{"n": 1}', error_code="e1"),
        lambda r: _n(r) % 3 == 1 and r.closed is not None and r.closed.error_code == "e1",
    ),
    "input of a key": (
        ExecutionFilter(where=b'{"n": 2}', q="order-1"),
        lambda r: _n(r) % 3 == 2 and ("order-1" in r.info.tags or r.info.correlation_id == "order-1"),
    ),
}


def _awaits(row: ExecutionRow) -> PointKind | None:
    return _AWAITED[_n(row) // 3 % 5] if row.head.status in ("waiting", "paused") else None


def _n(row: ExecutionRow) -> int:
    return int(row.head.execution_id[-12:], 16)


@pytest.mark.parametrize("limit", [2, 100])
@pytest.mark.parametrize("most", [1, 1_000])  # candidates: points of executions, and keys or ids that begin alike
async def test_a_search_finds_what_fits_all_of_it(
    store: Store, limit: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for paging in (sqlite_paging, postgres_paging):
        monkeypatch.setattr(paging, "MOST_WAITING", most)
        monkeypatch.setattr(paging, "MOST_ALIKE", most)
    rows = await many(store)
    assert {_awaits(row) for row in rows} == {*_AWAITED}
    for name, (wanted, is_wanted) in FILTERS.items():
        found = await walk(store, replace(wanted, limit=limit))
        assert found == [row for row in rows if is_wanted(row)], name
    assert not await store.queries.list_executions(ExecutionFilter(min_resumes=1, limit=0))


async def test_what_executions_wait_on_is_counted(store: Store) -> None:
    rows = await many(store)
    counted = await store.queries.count_awaited(1_000)
    assert not counted.more
    for word in (*execution_waits.KINDS, "retry", "operator"):
        found = await store.queries.list_executions(ExecutionFilter(on=(word,)))
        assert counted.executions.get(word, 0) == len(found), word
    assert counted.executions["person"] == len([row for row in rows if _awaits(row) in ("form", "approval")])
    assert {"retry", "operator", "timer"} <= counted.executions.keys()
    assert "callback" not in counted.executions
    few = await store.queries.count_awaited(2)
    assert few.more
    assert few.executions["form"] == min(2, counted.executions["form"])


async def test_an_execution_counts_once_for_each_thing_that_it_waits_on(store: Store) -> None:
    await store.definitions.save("order", "h-order", b"{}", 50)
    new = NewExecution(workflow="order", hash="h-order", created_at=1)
    points = (
        opened("a", kind="form"),
        opened("b", kind="approval"),
        opened("c", kind="form"),
        opened("d", kind="timer"),
    )
    await store.appends.commit([replace(creation(1, new=new), status="paused", points=points)])
    counted = await store.queries.count_awaited(10)
    assert counted.executions == {"approval": 1, "form": 1, "person": 1, "timer": 1}


async def test_a_search_reads_on_until_a_page_is_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = await many(store)
    monkeypatch.setattr(execution_search, "FIRST_PART", 1)
    monkeypatch.setattr(execution_search, "LARGEST_PART", 2)
    found = await store.queries.list_executions(ExecutionFilter(since=2_000, max_duration=0, limit=3))
    assert found == [row for row in rows if _took(row) == 0 and row.info.created_at >= 2_000][:3]


async def test_a_count_of_resumes_changes_with_the_append_that_says_so(store: Store) -> None:
    await store.definitions.save("order", "h-order", b"{}", 50)
    new = NewExecution(workflow="order", hash="h-order", created_at=1)
    first = creation(1, new=new)
    await store.appends.commit([first])

    async def count() -> int:
        row = await store.queries.find_execution(uid(1))
        assert row is not None
        return row.resume_count

    assert await count() == 0
    move = replace(first, new=None, expected_seq=first.expected_seq + first.count)
    await store.appends.commit([replace(move, resume_count=1)])
    assert await count() == 1
    following = move.expected_seq + move.count
    await store.appends.commit([replace(move, expected_seq=following)])
    assert await count() == 1
    closing = replace(move, expected_seq=following + move.count, status="failed", resume_count=2)
    await store.appends.commit([replace(closing, closed=ClosedExecution(error_code="e"))])
    assert await count() == 2
    (row,) = await store.queries.list_executions(ExecutionFilter(status=("failed",), min_resumes=2))
    assert row.closed == ClosedExecution(error_code="e")
