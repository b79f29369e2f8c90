"""Where the executions of a workflow rest that have not ended: counted along indexes, and no further than asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from layover.ports.records import ClosedPoint, NewExecution, OpenedPoint
from layover.ports.view_records import RestingPoints
from tests.stores.conformance import commit, creation, go_on, point

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionStatus
    from layover.ports.store import Store

MANY = 1_000


async def begun(store: Store, n: int, workflow: str, status: ExecutionStatus = "running") -> None:
    new = NewExecution(workflow=workflow, hash=f"h-{workflow}", created_at=100)
    await store.definitions.save(workflow, new.hash, b"{}", 50)
    assert (await commit(store, replace(creation(n, new=new), status=status))).verdict == "passed"


async def asked(store: Store, n: int, *nodes: str, at: int = 150) -> None:
    points = tuple(
        OpenedPoint(point=replace(point(f'p"{n}-{i}', opened_at=at), node=node, details={"long": "ü" * 5_000}))
        for i, node in enumerate(nodes)
    )
    await go_on(store, n, points=points)


async def test_executions_are_counted_by_status_and_points_by_node(store: Store) -> None:
    for n, workflow in enumerate(("order", "order", "refund", "order"), 1):
        await begun(store, n, workflow)
    await begun(store, 5, "order", "waiting")
    await begun(store, 6, "order", "completed")
    await asked(store, 1, "review", "allow:each.0", at=300)
    await asked(store, 2, "review", at=200)
    await asked(store, 3, "review")
    await asked(store, 4, "review")
    await go_on(store, 4, points=(ClosedPoint(id='p"4-0', how="expired"),))

    found = await store.queries.count_resting("order", MANY)

    assert found.executions == {"pending": 0, "running": 3, "pausing": 0, "waiting": 1, "paused": 0}
    assert found.points == (
        RestingPoints(node="allow:each.0", kind="approval", count=1, oldest=300),
        RestingPoints(node="review", kind="approval", count=2, oldest=200),
    )
    assert not found.more


async def test_no_more_is_looked_at_than_asked_for_and_that_is_said(store: Store) -> None:
    for n in range(1, 4):
        await begun(store, n, "order")
        await asked(store, n, "review")

    found = await store.queries.count_resting("order", 2)

    assert (found.executions["running"], found.points[0].count, found.more) == (2, 2, True)


async def test_a_node_whose_address_is_too_long_is_left_out_and_that_is_said(store: Store) -> None:
    await begun(store, 1, "order")
    deep = "ask" + ":loop.0" * 100 + ":outer.0" * 60
    await asked(store, 1, deep, "review")

    found = await store.queries.count_resting("order", MANY)

    known = {one.node for one in found.points}
    assert known in ({"review"}, {"review", deep})  # memory has no bodies
    assert found.more == (deep not in known)
