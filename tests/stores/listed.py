"""Executions of all kinds, several of one moment, and lists of them by every mix of filters."""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from layover.core.conditions import parse_condition
from layover.core.engine.state import ExecutionStatus
from layover.ports.records import CLOSED, ClosedExecution, NewExecution, Rest
from layover.ports.view_records import ExecutionFilter
from layover.stores.filters import document_fulfils
from layover.stores.json_contains import document_contains
from tests.stores.conformance import commit, creation, go_on, uid

if TYPE_CHECKING:
    import random

    from layover.ports.store import Store
    from layover.ports.view_records import ExecutionRow

COUNT = 60
STATUSES: tuple[ExecutionStatus, ...] = get_args(ExecutionStatus)
MIXES: list[tuple[ExecutionStatus, ...]] = list(
    chain.from_iterable(combinations(STATUSES, size) for size in range(len(STATUSES) + 1))
)
WORKFLOWS = ("order", "refund")
TAGS = ((), ("a",), ("a", "b"), ("b", "b", "ü"))
INPUTS = (None, b'{"n": 1}', b'{"n": 2}')
WHERE = b'{"n": 1}'
CONDITION = parse_condition("input.n>=2")


async def begin_all(store: Store) -> list[ExecutionRow]:
    """Write executions that have come to every status, each on one of several ways; return them newest first."""
    for workflow in WORKFLOWS:
        await store.definitions.save(workflow, f"h-{workflow}", b"{}", 50)
    for n in range(1, COUNT + 1):
        await _begin(store, n, STATUSES[n % len(STATUSES)])
    rows = [row for n in range(1, COUNT + 1) if (row := await store.queries.find_execution(uid(n))) is not None]
    assert {row.head.status for row in rows} == set(STATUSES)
    return sorted(rows, key=_age, reverse=True)


async def _begin(store: Store, n: int, status: ExecutionStatus) -> None:
    workflow = WORKFLOWS[n % 3 == 0]
    new = NewExecution(
        workflow=workflow,
        hash=f"h-{workflow}",
        created_at=100 + n % 7,
        parent_id=uid(90) if n % 5 == 0 else None,
        tags=TAGS[n % len(TAGS)],
    )
    begun = replace(creation(n, new=new), input=INPUTS[n % len(INPUTS)])
    closed = ClosedExecution(outcome="o") if status in CLOSED else None
    way = n % 4
    if way == 0:  # at once
        assert (await commit(store, replace(begun, status=status, closed=closed))).verdict == "passed"
        return
    assert (await commit(store, begun)).verdict == "passed"
    if way == 1:
        await go_on(store, n, status="paused")
    if way == 2:  # closed before, and reopened
        await go_on(store, n, status="failed", closed=ClosedExecution(outcome="o"))
        await go_on(store, n, status="running", closed=ClosedExecution())
    await go_on(store, n, status=status, closed=closed, rest=Rest() if status in CLOSED else None)


def draw_filter(dice: random.Random) -> ExecutionFilter:
    """Return any filter, with a cursor that need not be a row."""
    return ExecutionFilter(
        workflow=dice.choice((None, *WORKFLOWS, "nothing")),
        status=dice.choice(MIXES),
        tag=dice.choice((None, None, "a", "ü", "nothing")),
        parent_id=dice.choice((None, None, None, uid(90))),
        where=dice.choice((None, None, WHERE)),
        conditions=dice.choice(((), (), (CONDITION,))),
        after=dice.choice((None, (dice.randrange(99, 108), uid(dice.randrange(COUNT))))),
        limit=dice.choice((1, 3, 8, COUNT)),
    )


def fitting(rows: list[ExecutionRow], wanted: ExecutionFilter) -> list[ExecutionRow]:
    """Return those of some executions that fit all of a filter but its limit."""
    return [row for row in rows if _fits(row, wanted)]


def _fits(row: ExecutionRow, wanted: ExecutionFilter) -> bool:
    given = INPUTS[int(row.head.execution_id[:8], 16) % len(INPUTS)]
    return (
        wanted.workflow in (None, row.head.workflow)
        and (not wanted.status or row.head.status in wanted.status)
        and (wanted.tag is None or wanted.tag in row.info.tags)
        and wanted.parent_id in (None, row.info.parent_id)
        and (wanted.where is None or document_contains(given, wanted.where))
        and (not wanted.conditions or document_fulfils(given, wanted.conditions))
        and (wanted.after is None or _age(row) < wanted.after)
    )


async def walk(store: Store, wanted: ExecutionFilter) -> list[ExecutionRow]:
    """Turn all pages."""
    rows: list[ExecutionRow] = []
    while found := await store.queries.list_executions(wanted):
        assert len(found) <= wanted.limit
        rows += found
        wanted = replace(wanted, after=_age(found[-1]))
    return rows


async def lists(store: Store) -> list[list[str]]:
    """Return the ids in the lists of each workflow, tag, status and pair of them."""
    wanted = [
        *(ExecutionFilter(workflow=workflow) for workflow in WORKFLOWS),
        *(ExecutionFilter(tag=tag) for tag in ("a", "b", "ü")),
        *(ExecutionFilter(status=mix) for mix in MIXES if len(mix) <= 2),
        *(ExecutionFilter(status=(status,), workflow="order", tag="a") for status in STATUSES),
    ]
    return [[row.head.execution_id for row in await store.queries.list_executions(one)] for one in wanted]


def _age(row: ExecutionRow) -> tuple[int, str]:
    return row.info.created_at, row.head.execution_id
