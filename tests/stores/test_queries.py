"""What readers ask for: every filter, and pages without a gap or a double."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pytest
from msgspec.structs import replace

from layover.core.engine.events import PointKind
from layover.ports.records import ChangedPoint, ClosedExecution, ClosedPoint, NewExecution, OpenedPoint, Rest
from layover.ports.view_records import ExecutionFilter, PointFilter
from tests.stores.conformance import create, creation, go_on, point, step, uid

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionStatus
    from layover.ports.records import PointRow
    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow

STATUSES: tuple[ExecutionStatus, ...] = ("running", "waiting", "failed")
KINDS: tuple[PointKind, ...] = get_args(PointKind)


async def many(store: Store) -> list[ExecutionRow]:
    """Write executions of all kinds, several of one moment; return them newest first."""
    for workflow in ("order", "refund"):
        await store.definitions.save(workflow, f"h-{workflow}", b"{}", 50)
    for n in range(1, 25):
        workflow = "order" if n % 3 else "refund"
        new = NewExecution(
            workflow=workflow,
            hash=f"h-{workflow}",
            created_at=100 + n % 5,
            parent_id=uid(90 + n % 2) if n % 4 == 0 else None,
            tags=(f"t{n % 3}", "all") if n % 6 else (),
        )
        append = replace(creation(n, new=new), status=STATUSES[n % 3] if n % 7 else "paused")
        await store.appends.commit([append])
    rows = [row for n in range(1, 25) if (row := await store.queries.find_execution(uid(n))) is not None]
    assert len(rows) == 24
    return sorted(rows, key=lambda row: (row.info.created_at, row.head.execution_id), reverse=True)


async def walk(store: Store, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """Turn all pages."""
    rows: list[ExecutionRow] = []
    while found := await store.queries.list_executions(wanted):
        assert len(found) <= wanted.limit
        rows += found
        wanted = replace(wanted, after=(found[-1].info.created_at, found[-1].head.execution_id))
    return rows


@pytest.mark.parametrize("limit", [1, 2, 7, 24, 100])
async def test_all_pages_together_are_all_executions_newest_first(store: Store, limit: int) -> None:
    rows = await many(store)
    assert await walk(store, ExecutionFilter(limit=limit)) == rows


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize(
    "wanted",
    [
        ExecutionFilter(workflow="refund"),
        ExecutionFilter(workflow="nothing"),
        ExecutionFilter(status=("failed",)),
        ExecutionFilter(status=("failed", "waiting", "pending")),
        ExecutionFilter(tag="t1"),
        ExecutionFilter(tag="all"),
        ExecutionFilter(tag="al"),
        ExecutionFilter(parent_id=uid(90)),
        ExecutionFilter(parent_id=uid(3)),
        ExecutionFilter(workflow="order", status=("running",), tag="t1"),
        ExecutionFilter(workflow="order", status=("waiting", "failed"), tag="all", parent_id=uid(90)),
        ExecutionFilter(tag="t2", parent_id=uid(91)),
        ExecutionFilter(tag="t1", parent_id=uid(90)),
        ExecutionFilter(workflow="refund", parent_id=uid(90)),
        ExecutionFilter(status=("paused",)),
        ExecutionFilter(status=("paused", "paused")),
        ExecutionFilter(status=("paused", "failed")),
        ExecutionFilter(workflow="refund", status=("paused",)),
        ExecutionFilter(status=("paused",), tag="t1"),
        ExecutionFilter(status=("paused",), parent_id=uid(90)),
    ],
    ids=repr,
)
async def test_a_filter_leaves_what_fits_all_of_it(store: Store, wanted: ExecutionFilter, limit: int) -> None:
    rows = [
        row
        for row in await many(store)
        if (wanted.workflow is None or row.head.workflow == wanted.workflow)
        and (not wanted.status or row.head.status in wanted.status)
        and (wanted.tag is None or wanted.tag in row.info.tags)
        and (wanted.parent_id is None or row.info.parent_id == wanted.parent_id)
    ]
    assert await walk(store, replace(wanted, limit=limit)) == rows


async def test_a_cursor_need_not_be_a_row(store: Store) -> None:
    rows = await many(store)
    assert await store.queries.list_executions(ExecutionFilter(after=(103, uid(0)))) == [
        row for row in rows if row.info.created_at < 103
    ]
    assert await store.queries.list_executions(ExecutionFilter(after=(0, uid(0)))) == []


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_below_one_returns_nothing(store: Store, limit: int) -> None:
    await many(store)
    await go_on(store, 1, points=(OpenedPoint(point=point("p")),))
    assert await store.queries.list_executions(ExecutionFilter(limit=limit)) == []
    assert await store.queries.list_points(PointFilter(limit=limit)) == []
    assert await store.queries.read_history(uid(1), 0, limit) == []


async def test_an_execution_is_found_by_its_id(store: Store) -> None:
    await create(store)
    row = await store.queries.find_execution(uid(1))
    assert row is not None
    assert (row.head.execution_id, row.info.created_at, row.finished_at, row.closed) == (uid(1), 100, None, None)
    assert await store.queries.find_execution(uid(2)) is None


async def test_an_execution_stands_where_its_log_and_its_open_points_say(store: Store) -> None:
    await create(store, 1)
    await create(store, 2)
    points = (
        OpenedPoint(point=point("a", opened_at=300)),
        OpenedPoint(point=point("b", kind="signal", opened_at=200)),
        OpenedPoint(point=point("c", opened_at=400)),
    )
    await go_on(store, 1, points=points, at=500)
    waiting, idle, unknown = await store.queries.read_standings([uid(1), uid(2), uid(3)])
    assert unknown is None
    assert waiting is not None
    assert waiting.point is not None
    assert idle is not None
    assert (waiting.updated_at, waiting.points, waiting.point.point.id) == (500, 3, "a")
    assert (idle.points, idle.point) == (0, None)


async def test_executions_are_counted_by_status(store: Store) -> None:
    assert await store.queries.count_by_status() == {}
    await many(store)
    await go_on(store, 1, status="completed", closed=ClosedExecution(), rest=Rest())
    assert await store.queries.count_by_status() == {
        "running": 7,
        "waiting": 6,
        "failed": 7,
        "paused": 3,
        "completed": 1,
    }


@pytest.mark.parametrize(
    ("since", "limit", "seqs"),
    [
        (0, 10, [0, 2, 5, 6]),
        (-5, 10, [0, 2, 5, 6]),
        (1, 10, [0, 2, 5, 6]),
        (2, 10, [2, 5, 6]),
        (4, 10, [2, 5, 6]),
        (4, 2, [2, 5]),
        (5, 10, [5, 6]),
        (9, 10, [6]),
        (10, 10, []),
        (99, 10, []),
        (0, 1, [0]),
    ],
)
async def test_a_log_is_read_from_the_entry_that_holds_an_event(
    store: Store, since: int, limit: int, seqs: list[int]
) -> None:
    await create(store, 1)
    await create(store, 2)
    for count in (3, 1, 4):
        await go_on(store, 1, count=count)
    await go_on(store, 2)
    assert [entry.seq for entry in await store.queries.read_history(uid(1), since, limit)] == seqs


async def test_there_is_no_log_of_what_is_not_there(store: Store) -> None:
    assert await store.queries.read_history(uid(7), 0, 10) == []


# Points


async def many_points(store: Store) -> list[PointRow]:
    """Write points of all kinds and fates, several of one moment; return them oldest first."""
    await store.definitions.save("order", "h1", b"{}", 50)
    await store.definitions.save("refund", "h2", b"{}", 50)
    for n in (1, 2, 3):
        workflow, hash_ = ("order", "h1") if n < 3 else ("refund", "h2")
        new = NewExecution(workflow=workflow, hash=hash_, created_at=100)
        points = [point(f"p{i:02}", kind=KINDS[i // 3 % len(KINDS)], opened_at=150 + i % 4) for i in range(n, 24, 3)]
        changes = [
            ChangedPoint(point=replace(one, status="answered"))
            if int(one.id[1:]) % 2
            else ClosedPoint(id=one.id, how=how)
            for one, how in zip(points[2:], ("applied", "expired", "cancelled", "applied"), strict=False)
        ]
        await store.appends.commit([creation(n, new=new)])
        opening = tuple(OpenedPoint(point=one, schema={"title": one.id}) for one in points)
        await store.appends.commit([replace(step(n), points=(*opening, *changes))])
    rows = [row for i in range(1, 24) if (row := await store.queries.find_point(f"p{i:02}")) is not None]
    assert len(rows) == 23
    return sorted(rows, key=lambda row: (row.point.opened_at, row.point.id))


async def walk_points(store: Store, wanted: PointFilter) -> list[PointRow]:
    """Turn all pages."""
    rows: list[PointRow] = []
    while found := await store.queries.list_points(wanted):
        assert len(found) <= wanted.limit
        rows += found
        wanted = replace(wanted, after=(found[-1].point.opened_at, found[-1].point.id))
    return rows


@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize(
    "wanted",
    [
        PointFilter(),
        PointFilter(execution_id=uid(1)),
        PointFilter(execution_id=uid(7)),
        PointFilter(workflow="refund"),
        PointFilter(kind="form"),
        PointFilter(status=("open",)),
        PointFilter(status=("answered",)),
        PointFilter(status=("open", "answered")),
        PointFilter(status=("open", "expired")),
        PointFilter(status=("applied",)),
        PointFilter(status=("nonsense",)),
        PointFilter(kind="signal", status=("open",)),
        PointFilter(workflow="order", status=("open",)),
        PointFilter(workflow="order", status=("open", "answered")),
        PointFilter(workflow="refund", status=("answered",)),
        PointFilter(workflow="nonsense", status=("open",)),
        PointFilter(workflow="order", kind="approval", status=("open",)),
        PointFilter(execution_id=uid(2), workflow="order", kind="timer", status=("open", "applied")),
    ],
    ids=repr,
)
async def test_pages_of_points_leave_what_fits_all_of_a_filter(store: Store, wanted: PointFilter, limit: int) -> None:
    rows = [
        row
        for row in await many_points(store)
        if (wanted.execution_id is None or row.execution_id == wanted.execution_id)
        and (wanted.workflow is None or row.workflow == wanted.workflow)
        and (wanted.kind is None or row.point.kind == wanted.kind)
        and (not wanted.status or row.status in wanted.status)
    ]
    assert await walk_points(store, replace(wanted, limit=limit)) == rows


async def test_a_point_that_was_closed_as_answered_is_listed_as_answered(store: Store) -> None:
    await create(store)
    await go_on(store, points=(OpenedPoint(point=point("p")), ClosedPoint(id="p", how="answered")))
    assert [row.point.id for row in await store.queries.list_points(PointFilter(status=("answered",)))] == ["p"]
