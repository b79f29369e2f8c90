"""Lists of executions by every mix of filters: found on several ways, they are as if all had been gone through."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from layover.core.conditions import parse_condition
from layover.ports.errors import StoreError
from layover.ports.moving import CopiedBatch
from layover.ports.records import CLOSED, ClosedExecution, NewExecution, Rest
from layover.ports.view_records import ExecutionFilter
from layover.stores.memory import MemoryDatabase, MemoryStore
from tests.conftest import FACTOR
from tests.stores.conformance import ME, Clock, commit, create, creation, go_on, uid
from tests.stores.listed import COUNT, MIXES, STATUSES, WORKFLOWS, begin_all, draw_filter, fitting, lists, walk

if TYPE_CHECKING:
    from layover.core.engine.state import ExecutionStatus
    from layover.ports.store import Store

SEED = int(os.environ.get("LAYOVER_SEED", "4"))
DRAWN = 60 * FACTOR
ABOUT_VARIABLES = parse_condition("vars.a=1")
TAGGED = NewExecution(workflow="order", hash="h1", created_at=100, tags=("a", "b", "a"))


async def test_every_mix_of_statuses_is_one_list(store: Store) -> None:
    rows = await begin_all(store)
    for mix in MIXES:
        wanted = ExecutionFilter(status=mix, limit=COUNT)
        assert await store.queries.list_executions(wanted) == fitting(rows, wanted), mix


@pytest.mark.parametrize("workflow", [None, "order"])
@pytest.mark.parametrize(
    "mix",
    [
        ("paused", "failed", "cancelled"),
        ("pending", "running", "pausing", "waiting"),
        ("running", "failed", "paused"),
        ("running", "completed"),
    ],
    ids=" ".join,
)
async def test_pages_go_on_where_merged_lists_were_left(
    store: Store, mix: tuple[ExecutionStatus, ...], workflow: str | None
) -> None:
    rows = await begin_all(store)
    for limit in (1, 2, 5):
        wanted = ExecutionFilter(status=mix, workflow=workflow, limit=limit)
        assert await walk(store, wanted) == fitting(rows, wanted)


async def test_any_filter_leaves_what_fits_all_of_it(store: Store) -> None:
    rows = await begin_all(store)
    dice = random.Random(SEED)  # noqa: S311 - it can be repeated
    for _ in range(DRAWN):
        wanted = draw_filter(dice)
        assert await walk(store, wanted) == fitting(rows, wanted), (SEED, wanted)


async def test_a_filter_that_is_wrong_in_two_ways_is_refused_for_its_ids(store: Store) -> None:
    for wanted in (
        ExecutionFilter(parent_id="no id", conditions=(ABOUT_VARIABLES,)),
        ExecutionFilter(after=(100, "no id"), conditions=(ABOUT_VARIABLES,)),
        ExecutionFilter(after=(100, "no id"), where=b"{}"),
    ):
        with pytest.raises(StoreError) as refused:
            await store.queries.list_executions(wanted)
        assert refused.value.code == "malformed_id"


async def listed_as(store: Store) -> set[str]:
    """Return the statuses under which executions are listed."""
    return {
        status
        for status in (*STATUSES, "nonsense")
        if await store.queries.list_executions(ExecutionFilter(status=(status,)))
    }


async def test_an_execution_is_listed_under_the_status_that_it_has(store: Store) -> None:
    was = await create(store, new=TAGGED)
    for status in (*STATUSES, *reversed(STATUSES)):
        is_end = status in CLOSED or was.status in CLOSED
        was = await go_on(store, status=status, closed=ClosedExecution() if is_end else None)
        assert await listed_as(store) == {status}
        (row,) = await store.queries.list_executions(
            ExecutionFilter(workflow="order", status=(status, "completed"), tag="a")
        )
        assert row.head == was


async def test_what_is_purged_is_in_no_list(store: Store) -> None:
    for n in (1, 2):
        await create(store, n, new=TAGGED)
        await go_on(store, n, status="failed", closed=ClosedExecution(), rest=Rest())
    assert await store.retention.purge([uid(1)]) == 1
    for wanted in (
        ExecutionFilter(tag="a"),
        ExecutionFilter(workflow="order"),
        ExecutionFilter(status=("failed",)),
    ):
        assert [row.head.execution_id for row in await store.queries.list_executions(wanted)] == [uid(2)]


async def test_what_was_copied_in_is_listed_as_where_it_came_from(store: Store) -> None:
    source = MemoryStore(MemoryDatabase(Clock()))
    await source.open(ME)
    executions = await source.database_copy.read_executions([row.head.execution_id for row in await begin_all(source)])
    versions = [version for workflow in WORKFLOWS for version in await source.definitions.list_versions(workflow)]
    await store.database_copy.write_batch(CopiedBatch(versions=tuple(versions), executions=tuple(executions)))
    assert await lists(store) == await lists(source)


async def test_an_append_that_is_refused_tags_nothing(store: Store) -> None:
    await create(store, 1, new=NewExecution(workflow="order", hash="h1", created_at=100))
    assert (await commit(store, creation(1, new=TAGGED))).verdict == "exists"
    assert await store.queries.list_executions(ExecutionFilter(tag="a")) == []
